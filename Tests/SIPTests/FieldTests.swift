import Primitives
import Testing

@testable import SIP

@Suite struct FieldTests {
    @Test(
        arguments: [
            ("\"A. G. Bell\" <sip:agb@bell-telephone.com> ;tag=a48s", "A. G. Bell", "sip:agb@bell-telephone.com", "a48s"),
            ("sip:+12125551212@server.phone2net.com;tag=887s", nil, "sip:+12125551212@server.phone2net.com", "887s"),
            ("Anonymous <sip:c8oqz84zk7z@privacy.org>;tag=hyh8", "Anonymous", "sip:c8oqz84zk7z@privacy.org", "hyh8"),
            ("<sip:a@b;tag=no>", nil, "sip:a@b;tag=no", nil), ("\"a\\\"b\\\\\"<sip:a@b>", "a\"b\\", "sip:a@b", nil),
            ("\"\" <sip:a@b>;TAG=x", nil, "sip:a@b", "x"), ("Jos\u{E9} O. Neill <sip:a@b>", "Jos\u{E9} O. Neill", "sip:a@b", nil),
            ("Alice\t<sip:a@b>;tag=1", "Alice", "sip:a@b", "1"), ("<tel:+123>;tag=1", nil, "tel:+123", "1"),
            ("<urn:service:sos>", nil, "urn:service:sos", nil),
        ] as [(String, String?, String, String?)])
    func `an address is taken apart and kept as it came`(text: String, name: String?, uri: String, tag: String?) throws {
        let address = try NameAddress(parsing: Text(text))
        #expect(address.displayName?.description == name)
        #expect(address.uri.text.description == uri)
        #expect(address.tag?.description == tag)
        #expect(address.text.description == text)
    }

    @Test(arguments: [
        "", "<", "<sip:a@b", "\"a <sip:a@b>", "a, b <sip:a@b>", "<sip:a@b> x", "sip:a@b?x=y", "< sip:a@b>", "\"a\" sip:a@b", "<sip:a@b>;",
        "<sip:a@b>;x=", "<sip:a@b>;x=\"y",
        "a@b", "<sip:a@b>,<sip:c@d>",
    ])
    func `text that is no address is refused`(text: String) {
        #expect(throws: SyntaxError.self) { try NameAddress(parsing: Text(text)) }
    }

    @Test(
        arguments: [
            (Array("a".utf8) + [1] + Array("b".utf8), "\"a\\\u{1}b\" <sip:a@b>"), ([0x61, 0x7F], "\"a\\\u{7F}\" <sip:a@b>"),
            ([0x61, 0, 0x09, 0x62], "\"a \tb\" <sip:a@b>"),
            ([0x4A, 0xE9], "\"J?\" <sip:a@b>"), (Array("Jos\u{E9}".utf8), "\"Jos\u{E9}\" <sip:a@b>"),
        ] as [([UInt8], String)])
    func `a display name is written as the grammar has it, whatever it holds`(name: [UInt8], text: String) throws {
        #expect(NameAddress(displayName: Text(name), uri: try URI(parsing: "sip:a@b")).text.description.utf8.elementsEqual(text.utf8))
    }

    @Test(arguments: [("Busy\u{1}\tHere\u{7F}", "Busy \tHere "), ("Besch\u{E4}ftigt", "Besch\u{E4}ftigt")])
    func `a reason phrase has no control characters`(phrase: String, written: String) throws {
        let invite = try Message(parsing: request())
        let bytes = Message.response(to: invite, status: 486, reason: Text(phrase)).serialized()
        #expect(bytes.starts(with: Array("SIP/2.0 486 \(written)\r\n".utf8)))
        let broken = Message.response(to: invite, status: 486, reason: Text([0x42, 0xFC])).serialized()
        #expect(broken.starts(with: Array("SIP/2.0 486 B?\r\n".utf8)))
    }

    @Test(arguments: [
        ("[2001:db8::1]:5060", "[2001:DB8:0:0:0:0:0:1]", true), ("192.0.2.1", "192.0.2.1:5060", true),
        ("192.0.2.1:5061", "192.0.2.1", false),
        ("192.0.2.1", "192.0.2.2", false), ("a.example", "A.EXAMPLE", true), ("a.example", "b.example", false),
    ])
    func `a sent-by is the same however it is spelled`(one: String, other: String, isSame: Bool) throws {
        let vias = try [one, other].map { try Via(parsing: Text("SIP/2.0/UDP \($0);branch=z9hG4bK1")) }
        #expect(vias[0].hasSentBy(of: vias[1]) == isSame && vias[1].hasSentBy(of: vias[0]) == isSame)
    }

    @Test(arguments: [([], true), (["Via: SIP/2.0/UDP b"], false)] as [([String], Bool)])
    func `one Via is told from several`(further: [String], isSingle: Bool) throws {
        #expect(try Message(parsing: request(adding: further)).hasSingleVia == isSingle)
        #expect(try !Message(parsing: request(replacing: ["Via": "Via: SIP/2.0/UDP a, SIP/2.0/UDP b"])).hasSingleVia)
    }

    @Test func `an address that is changed is written with brackets and quotes`() throws {
        var address = try NameAddress(parsing: "sip:a@b;tag=1;x")
        address.tag = "2"
        address.displayName = "a \"b\" \r\nEvil: c"
        #expect(address.text == "\"a \\\"b\\\"   Evil: c\" <sip:a@b>;tag=2;x")
        address.displayName = nil
        address.uri.user = "c"
        address.tag = nil
        #expect(address.text == "<sip:c@b>;x")
    }

    @Test func `parameters keep their order and what they mean`() throws {
        var parameters = try Parameters(parsing: " ; a = b;+sip.instance=\"<urn:uuid:1>\" ;lr;q=0.5;note=\"x \\\" y\"")
        #expect(
            parameters["A"] == "b" && parameters["+SIP.instance"] == "<urn:uuid:1>" && parameters["lr"] == ""
                && parameters["note"] == "x \" y")
        #expect(parameters["none"] == nil && parameters.contains("q" as StaticString))
        #expect(parameters.all.map(\.name) == ["a", "+sip.instance", "lr", "q", "note"])
        #expect(parameters.filter { $0 != "a" && $0 != "lr" }.text == ";+sip.instance=\"<urn:uuid:1>\";q=0.5;note=\"x \\\" y\"")
        parameters["q"] = "0.7"
        parameters["lr"] = nil
        parameters["new"] = "needs quotes"
        #expect(try Parameters(parsing: parameters.text).all.map(\.value) == ["b", "<urn:uuid:1>", "0.7", "x \" y", "needs quotes"])
    }

    @Test(
        arguments: [
            ("SIP/2.0/UDP 192.0.2.1:5070;branch=z9hG4bK1;rport", "UDP", "192.0.2.1", 5070, "z9hG4bK1"),
            ("SIP / 2.0 / TCP   spindle.example.com ;  branch  =   z9hG4bK9ikj8", "TCP", "spindle.example.com", nil, "z9hG4bK9ikj8"),
            ("sip/2.0/tls [2001:db8::9:1] : 6050;branch=x", "tls", "[2001:db8::9:1]", 6050, "x"),
            ("SIP/2.0/UDP host", "UDP", "host", nil, nil), ("SIP/2.0/ UDP host", "UDP", "host", nil, nil),
        ] as [(String, String, String, UInt16?, String?)])
    func `a Via is taken apart`(text: String, transport: String, host: String, port: UInt16?, branch: String?) throws {
        let via = try Via(parsing: Text(text))
        #expect(
            via.transport.description == transport && via.host.description == host && via.port == port && via.branch?.description == branch)
    }

    /// Branch and tag are noted as the text is read, and found there as they are in the parameters.
    @Test(arguments: [
        ";branch=1;tag=1", ";x=branch;BRANCH=a;branch=b;Tag=a;tag=b", ";branch;tag;tag=1", "; tag = \"a \\\" b\" ; branch = \"\"",
        ";branches=1;stag=2;ta=g", "",
    ])
    func `a tag and a branch are what the parameters say`(parameters: Text) throws {
        let via = try Via(parsing: "SIP/2.0/UDP host" + parameters),
            address = try NameAddress(parsing: "<sip:a@b;tag=no;branch=no>" + parameters)
        #expect(via.branch == via.parameters["branch"])
        #expect(address.tag == address.parameters["tag"])
    }

    @Test(arguments: [
        "", "SIP/2.0/UDP", "SIP/2.0 host", "SIP//UDP host", "/2.0/UDP host", "SIP/2.0/UDP host:", "SIP/2.0/UDP host;;", "SIP/2.0/UDP ;a=b",
        "SIP/2.0/UDPhost",
    ])
    func `text that is no Via is refused`(text: String) {
        #expect(throws: SyntaxError.self) { try Via(parsing: Text(text)) }
    }

    /// RFC 3581 §4 and RFC 3261 §18.2.1.
    @Test(arguments: [
        ("SIP/2.0/UDP 192.0.2.1;branch=b", "SIP/2.0/UDP 192.0.2.1;branch=b"),
        ("SIP/2.0/UDP 192.0.2.1;rport;branch=b", "SIP/2.0/UDP 192.0.2.1;rport=5099;branch=b;received=192.0.2.1"),
        ("SIP/2.0/UDP host.example;branch=b", "SIP/2.0/UDP host.example;branch=b;received=192.0.2.1"),
        (
            "SIP/2.0/UDP 10.0.0.1:5060;branch=b;rport=1;received=203.0.113.9",
            "SIP/2.0/UDP 10.0.0.1:5060;branch=b;rport=5099;received=192.0.2.1"
        ),
        ("SIP/2.0/UDP 192.0.2.1;received=203.0.113.9", "SIP/2.0/UDP 192.0.2.1"),
    ])
    func `where a request came from is noted in its Via`(sent: String, stamped: String) throws {
        var via = try Via(parsing: Text(sent))
        via.stamp(source: try #require(SocketAddress("192.0.2.1:5099")))
        #expect(via.text.description == stamped)
    }

    @Test func `a sequence number has a method and less than 32 bits`() throws {
        #expect(try CSeq(parsing: "0009  INVITE") == CSeq(number: 9, method: .invite))
        #expect(try CSeq(parsing: "2147483647 x-method").method == .other("x-method"))
        for text in ["2147483648 INVITE", "INVITE", "1", "1INVITE", "-1 ACK", "1 ACK x"] as [Text] {
            #expect(throws: SyntaxError.self) { try CSeq(parsing: text) }
        }
    }

    @Test func `methods are known by their exact names`() {
        for method in Method.named { #expect(Method(method.text) == method) }
        #expect(Method("invite") == .other("invite"))
        #expect(Method("INVITED") == .other("INVITED"))
    }

    @Test func `a reason says protocol, cause and text`() throws {
        let reason = try Reason(parsing: "SIP ;cause=200 ;text=\"Call completed elsewhere\"")
        #expect(reason == .completedElsewhere && reason.isSIP)
        #expect(reason.value == "SIP;cause=200;text=\"Call completed elsewhere\"")
        #expect(try Reason(parsing: "Q.850;cause=16") == Reason(protocol: "Q.850", cause: 16))
        #expect(throws: SyntaxError.self) { try Reason(parsing: ";cause=1") }
        for value in ["Q.850;cause=17;location=LN", "Q.850;cause=16;text=\"a\";location=U;x-own=\"b;c\";flag"] as [Text] {
            #expect(try Reason(parsing: value).value == value)
        }
        #expect(
            try Reason(parsing: "Q.850;location=U ; Cause=17;x=" + Text(String(repeating: "y", count: 300)))
                == Reason(protocol: "Q.850", cause: 17))
        #expect(try Reason(parsing: "Q.850;location=U ; Cause=17").value == "Q.850;cause=17;location=U")
    }

    @Test func `every known header name is found in any case and by its compact form`() {
        for known in HeaderName.Known.allCases where known != .other {
            let name = HeaderName(known).text
            #expect(HeaderName(name).known == known)
            #expect(HeaderName(name.lowercased).known == known)
            #expect(HeaderName(name + "x").known == .other)
        }
        #expect(
            ["v", "F", "t", "i", "m", "L", "c", "e", "k", "s", "r", "b", "x", "o", "u"].map { HeaderName(Text($0)).text } == [
                "Via", "From", "To", "Call-ID", "Contact", "Content-Length", "Content-Type", "Content-Encoding", "Supported", "Subject",
                "Refer-To", "Referred-By",
                "Session-Expires", "Event", "Allow-Events",
            ])
        #expect(HeaderName("X-Foo") == HeaderName("x-foo") && HeaderName("X-Foo") != HeaderName("X-Bar"))
    }
}
