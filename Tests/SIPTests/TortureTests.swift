import Primitives
import Testing

@testable import SIP

@Suite struct TortureTests {
    /// RFC 4475: what the text of each section asks for. `ok` are also messages whose fault is for a higher layer to see.
    static let rfc4475: [(file: String, outcome: String)] = [
        ("wsinv", "ok"), ("intmeth", "ok"), ("esc01", "ok"), ("escnull", "ok"), ("esc02", "ok"), ("lwsdisp", "ok"), ("longreq", "ok"),
        ("dblreq", "ok"), ("semiuri", "ok"), ("transports", "ok"), ("mpart01", "ok"), ("unreason", "ok"), ("noreason", "ok"),
        ("badinv01", "400"), ("clerr", "400"), ("ncl", "400"), ("scalar02", "400"), ("scalarlg", "drop"), ("quotbal", "400"),
        ("ltgtruri", "400"), ("lwsruri", "400"), ("lwsstart", "400"), ("trws", "400"), ("escruri", "ok"), ("baddate", "ok"),
        ("regbadct", "400"), ("badaspec", "400"), ("baddn", "400"), ("badvers", "505"), ("mismatch01", "400"), ("mismatch02", "400"),
        ("bigcode", "drop"), ("badbranch", "ok"), ("insuf", "400"), ("unkscm", "416"), ("novelsc", "416"), ("unksm2", "ok"),
        ("bext01", "ok"),
        ("invut", "ok"), ("regaut01", "ok"), ("multi01", "400"), ("mcl01", "400"), ("bcast", "ok"), ("zeromf", "ok"), ("cparam01", "ok"),
        ("cparam02", "ok"), ("regescrt", "ok"), ("sdp01", "ok"), ("inv2543", "ok"), ("test", "drop"),
    ]

    static let rfc5118: [(file: String, outcome: String)] = [
        ("ipv6-good", "ok"), ("ipv6-bad", "400"), ("port-ambiguous", "ok"), ("port-unambiguous", "ok"),
        ("via-received-param-with-delim", "ok"),
        ("via-received-param-no-delim", "ok"), ("ipv6-in-sdp", "ok"), ("mult-ip-in-header", "ok"), ("mult-ip-in-sdp", "ok"),
        ("ipv4-mapped-ipv6", "ok"), ("ipv6-bug-abnf-3-colons", "ok"), ("ipv6-correct-abnf-2-colons", "ok"),
    ]

    @Test(arguments: rfc4475)
    func `a message of RFC 4475 is taken or refused as its section says`(file: String, expected: String) throws {
        #expect(outcome(try corpus("rfc4475/\(file).dat")) == expected)
    }

    @Test(arguments: rfc5118)
    func `a message of RFC 5118 is taken or refused as its section says`(file: String, expected: String) throws {
        #expect(outcome(try corpus("rfc5118/\(file).dat")) == expected)
    }

    @Test func `no message of the corpus is left out of the tables`() throws {
        #expect(try corpusFiles("rfc4475") == Self.rfc4475.map { "rfc4475/\($0.file).dat" }.sorted())
        #expect(try corpusFiles("rfc5118") == Self.rfc5118.map { "rfc5118/\($0.file).dat" }.sorted())
    }

    @Test func `the tortuous INVITE says what its section says it does`() throws {
        let message = try Message(parsing: corpus("rfc4475/wsinv.dat"))
        #expect(message.requestURI?.parameters.contains("unknownparam" as StaticString) == true)
        #expect(message.to.uri.text == "sip:vivekg@chair-dnrc.example.com" && message.to.tag == "1918181833n")
        #expect(message.from.displayName == "J Rosenberg \\\"" && message.from.tag == "98asjd8")
        #expect(message.maxForwards == 68)
        #expect(message.cseq == CSeq(number: 9, method: .invite))
        #expect(message.vias.map(\.host) == ["192.0.2.2", "spindle.example.com", "192.168.255.111"])
        #expect(message.vias.map(\.branch) == ["390skdjuw", "z9hG4bK9ikj8", "z9hG4bK30239"])
        #expect(message.headers[.subject] == "")
        #expect(message.headers["NewFangledHeader"]?.bytes.filter { $0 != 0x20 } == Text("newfangledvaluecontinuednewfangledvalue").bytes)
        #expect(message.headers["unknownheaderwithunusualvalue"] == ";;,,;;,;")
        #expect(message.routes.first?.uri.host == "services.example.com")
        #expect(message.routes.first?.uri.parameters["unknown-no-value"] == "")
        #expect(message.routes.first?.uri.parameters["unknownwith"] == "value")
        #expect(message.contact?.displayName == "Quoted string \"\"" && message.contact?.uri.text == "sip:jdrosen@example.com")
        #expect(message.contact?.parameters["newparam"] == "newvalue")
        #expect(message.contact?.parameters["secondparam"] == "" || message.contact?.parameters["q"] == "0.33")
        #expect(message.content.count == 150)
    }

    @Test func `the widest characters come out as they went in`() throws {
        let message = try Message(parsing: corpus("rfc4475/intmeth.dat"))
        #expect(message.method == .other("!interesting-Method0123456789_*+`.%indeed'~"))
        #expect(message.requestURI?.user == "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*")
        #expect(message.requestURI?.password == "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)")
        #expect(message.to.displayName == Text(Array("BEL:".utf8) + [7] + Array(" NUL:".utf8) + [0] + Array(" DEL:".utf8) + [0x7F]))
        #expect(message.from.displayName == "token1~` token2'+_ token3*%!.-")
        #expect(message.from.tag == "_token~1'+`*%!-.")
    }

    @Test func `bytes behind the announced body are cut off`() throws {
        let message = try Message(parsing: corpus("rfc4475/dblreq.dat"))
        #expect(message.method == .register && message.content.isEmpty)
        #expect(String(decoding: message.serialized(), as: UTF8.self).contains("INVITE") == false)
    }

    @Test(
        arguments: [("esc01", "sips:user@example.com"), ("escnull", nil), ("esc02", nil), ("semiuri", "user;par=u@example.net")]
            as [(String, String?)])
    func `percent escapes in the user part are decoded for people only`(file: String, decoded: String?) throws {
        let message = try Message(parsing: corpus("rfc4475/\(file).dat"))
        let uri = try #require(message.requestURI)
        #expect(uri.decodedUser.map(\.description) == decoded)
        #expect(message.serialized().starts(with: Array("\(message.method) \(uri.text) SIP/2.0\r\n".utf8)))
    }

    @Test func `nulls in a user part are kept apart from the user's end`() throws {
        let message = try Message(parsing: corpus("rfc4475/escnull.dat"))
        #expect(message.contacts.map(\.uri.decodedUser) == [Text([0]), Text([0, 0])])
    }

    @Test(arguments: ["via-received-param-with-delim", "via-received-param-no-delim"])
    func `a received address is read with and without brackets`(file: String) throws {
        let message = try Message(parsing: corpus("rfc5118/\(file).dat"))
        #expect(message.via.received?.referredAddress == IPAddress("2001:db8::9:255"))
    }

    @Test func `the third colon of RFC 3261's grammar is let pass`() throws {
        let message = try Message(parsing: corpus("rfc5118/ipv6-bug-abnf-3-colons.dat"))
        #expect(message.requestURI?.address == IPAddress("2001:db8::192.0.2.1"))
        #expect(message.to.uri.address == message.requestURI?.address)
    }

    @Test(
        arguments: rfc4475.filter { $0.outcome == "ok" }.map { "rfc4475/\($0.file)" }
            + rfc5118.filter { $0.outcome == "ok" }.map { "rfc5118/\($0.file)" })
    func `a good message is read again from what it was written as`(path: String) throws {
        let message = try Message(parsing: corpus("\(path).dat"))
        let again = try Message(parsing: message.serialized())
        #expect(again.serialized() == message.serialized())
        #expect(again.headers.all.map(\.value).filter { !$0.isEmpty }.starts(with: message.headers.all.map(\.value).filter { !$0.isEmpty }))
        #expect(again.content == message.content)
    }
}
