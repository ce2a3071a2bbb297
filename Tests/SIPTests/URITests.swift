import Primitives
import Testing

@testable import SIP

@Suite struct URITests {
    @Test(
        arguments: [
            ("sip:alice@atlanta.com", "alice", nil, "atlanta.com", nil, ""),
            ("sip:alice:secretword@atlanta.com;transport=tcp", "alice", "secretword", "atlanta.com", nil, ";transport=tcp"),
            ("sips:alice@atlanta.com?subject=project%20x&priority=urgent", "alice", nil, "atlanta.com", nil, ""),
            ("sip:+1-212-555-1212:1234@gateway.com;user=phone", "+1-212-555-1212", "1234", "gateway.com", nil, ";user=phone"),
            ("sip:atlanta.com;method=REGISTER?to=alice%40atlanta.com", nil, nil, "atlanta.com", nil, ";method=REGISTER"),
            ("sip:alice;day=tuesday@atlanta.com", "alice;day=tuesday", nil, "atlanta.com", nil, ""),
            ("SIP:1002@[2001:db8::1]:5070;lr", "1002", nil, "[2001:db8::1]", 5070, ";lr"),
            ("sip:*78#@10.0.0.1:5060", "*78#", nil, "10.0.0.1", 5060, ""),
            ("sip:my_host", nil, nil, "my_host", nil, ""),
            ("tel:+358-555-1234567;postd=pp22", "+358-555-1234567", nil, "", nil, ";postd=pp22"),
        ] as [(String, String?, String?, String, UInt16?, String)])
    func `a URI is taken apart and kept as it came`(
        text: String, user: String?, password: String?, host: String, port: UInt16?, parameters: String
    ) throws {
        let uri = try URI(parsing: Text(text))
        #expect(uri.user?.description == user)
        #expect(uri.password?.description == password)
        #expect(uri.host.description == host)
        #expect(uri.port == port)
        #expect(uri.parameters.text.description == parameters)
        #expect(uri.text.description == text)
    }

    @Test(arguments: [
        "", "sip", "sip:", "sip:@host", "sip:user@", "sip:a b@host", "sip:host:99999", "sip:host:", "sip:host:5060x", "sip:[::1",
        "sip:[fe80::zz]", "sip:h;",
        "sip:h;=x", "sip:h;a=", "sip:h?", "sip:h%", "sip:%4@h", "sip:%zz@h", "<sip:a@b>", "1sip:a@b", ":a@b", "sip:a@b@c", "sip:a@b>",
        "tel:", "sip:h;a b", "sip:2001:db8::10",
    ])
    func `text that is no URI is refused`(text: String) {
        #expect(throws: SyntaxError.self) { try URI(parsing: Text(text)) }
    }

    /// RFC 3261 §25.1: a paramchar is more than a token.
    @Test(arguments: ["sip:p.example;x:y=1;lr", "sip:p.example;a(b)=1;lr", "sip:p.example;[/:&$];lr;c=2", "<sip:p.example;x:y=1;lr>"])
    func `what stands behind a parameter with a name that is no token is read`(text: String) throws {
        let uri = text.hasPrefix("<") ? try NameAddress(parsing: Text(text)).uri : try URI(parsing: Text(text))
        #expect(uri.parameters["lr"] == .empty)
        var changed = uri
        changed.parameters["lr"] = nil
        #expect(changed.text.description == uri.text.description.replacing(";lr", with: ""))
    }

    /// RFC 3261 §19.1.4, both lists, and what follows from the rules.
    @Test(arguments: [
        ("sip:%61lice@atlanta.com;transport=TCP", "sip:alice@AtLanTa.CoM;Transport=tcp", true),
        ("sip:carol@chicago.com", "sip:carol@chicago.com;newparam=5", true),
        ("sip:carol@chicago.com", "sip:carol@chicago.com;security=on", true),
        (
            "sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com",
            "sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com", true
        ),
        ("sip:alice@atlanta.com?subject=project%20x&priority=urgent", "sip:alice@atlanta.com?priority=urgent&subject=project%20x", true),
        ("SIP:ALICE@AtLanTa.CoM;Transport=udp", "sip:alice@AtLanTa.CoM;Transport=UDP", false),
        ("sip:bob@biloxi.com", "sip:bob@biloxi.com:5060", false),
        ("sip:bob@biloxi.com", "sip:bob@biloxi.com;transport=udp", false),
        ("sip:bob@biloxi.com", "sip:bob@biloxi.com:6000;transport=tcp", false),
        ("sip:carol@chicago.com", "sip:carol@chicago.com?Subject=next%20meeting", false),
        ("sip:bob@phone21.boxesbybob.com", "sip:bob@192.0.2.4", false),
        ("sip:carol@chicago.com;security=on", "sip:carol@chicago.com;security=off", false),
        ("sip:a@b", "sips:a@b", false), ("sip:a%40@b", "sip:a%40@b", true), ("sip:a%2fb@h", "sip:a%2Fb@h", true),
        ("sip:a%2Fb@h", "sip:a/b@h", false),
        ("sip:a:x@b", "sip:a:y@b", false), ("sip:a@[2001:db8::1]", "sip:a@[2001:DB8:0::1]", true),
        ("tel:+1-201-555-0123", "tel:+12015550123", true),
        ("tel:1", "tel:2", false),
    ])
    func `two URIs are one resource or not`(left: String, right: String, same: Bool) throws {
        let (left, right) = (try URI(parsing: Text(left)), try URI(parsing: Text(right)))
        #expect(left.isEquivalent(to: right) == same)
        #expect(right.isEquivalent(to: left) == same)
    }

    @Test(.timeLimit(.minutes(30)), arguments: ["sip:a@b", "tel:1"])
    func `however many parameters there are, each is looked up once`(resource: String) throws {
        func uri(_ last: String) throws -> URI { try URI(parsing: Text(resource + (0..<100_000).map { ";p\($0)=1" }.joined() + last)) }
        #expect(try uri(";z=1").isEquivalent(to: uri(";z=1")))
        #expect(try !uri(";z=1").isEquivalent(to: uri(";z=2")))
    }

    @Test(arguments: [
        ("8%23", "8#", false), ("%2B49", "+49", false), ("a%62c", "abc", false), ("8%3Bx", "8%3Bx", true), ("1%3F", "1%3F", true),
        ("a%20b", "a%20b", false),
        ("a;b", "a;b", false), ("8%", "8%25", false),
    ])
    func `an escape goes where it means nothing`(user: String, plain: String, isReserved: Bool) throws {
        let uri = URI(user: Text(user), host: "example.com")
        #expect(uri.plainUser?.description == plain && uri.escapesReserved == isReserved)
    }

    @Test func `parts that are set are written so that they can be read again`() throws {
        var uri = URI(user: "a b@c", host: "2001:db8::1", port: 5070, parameters: ["transport": "tcp", "lr": "", "x": "a?b"])
        #expect(uri.text == "sip:a%20b%40c@[2001:db8::1]:5070;transport=tcp;lr;x=a%3Fb")
        #expect(uri.decodedUser == "a b@c" && uri.isLooseRouter)
        uri.user = "*21#"
        #expect(uri.text == "sip:*21%23@[2001:db8::1]:5070;transport=tcp;lr;x=a%3Fb" && uri.plainUser == "*21#")
        uri.user = "1002"
        uri.port = nil
        uri.parameters["lr"] = nil
        #expect(uri.text == "sip:1002@[2001:db8::1];transport=tcp;x=a%3Fb")
        uri.setHost("example.com", port: 5061)
        uri.headers = "Replaces=a%3Bb"
        #expect(uri.text == "sip:1002@example.com:5061;transport=tcp;x=a%3Fb?Replaces=a%3Bb")
        uri.user = nil
        #expect(uri.text == "sip:example.com:5061;transport=tcp;x=a%3Fb?Replaces=a%3Bb")
    }
}
