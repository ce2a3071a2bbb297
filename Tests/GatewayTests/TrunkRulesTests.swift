import Primitives
import SIP
import Testing

@testable import Gateway

@Suite struct TrunkRulesTests {
    @Test(arguments: [("0301234", "+49301234"), ("00441234", "+441234"), ("+1", "+1"), ("112", "112"), ("9", "9")])
    func `the first rule that matches rewrites a number`(dialled: String, expected: String) throws {
        let rules = [
            NumberRewrite(pattern: try #require(NumberPattern("^00")), strip: 2, prefix: "+"),
            NumberRewrite(pattern: try #require(NumberPattern("^0")), strip: 1, prefix: "+49"),
            NumberRewrite(pattern: try #require(NumberPattern("9")), strip: 1),
        ]
        #expect(rules.rewritten(Text(dialled)) == Text(expected))
    }

    private func message(_ headers: [(HeaderName, Text)]) throws -> Message {
        let text =
            "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:b@b>\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\n\r\n"
        var message = try Message(parsing: Array(text.utf8))
        for (name, value) in headers { message.headers.append(name, value) }
        return message
    }

    private func rules() throws -> HeaderRules {
        var rules = HeaderRules()
        rules.copy = [try #require(.init("X-*")), try #require(.init("Subject"))]
        rules.remove = [try #require(.init("x-secret"))]
        rules.set = [try #require(.init(name: "X-Tenant", value: "acme"))]
        return rules
    }

    @Test func `headers are copied, held back and set`() throws {
        let message = try message([
            ("X-One", "1"), ("x-SECRET", "2"), ("Subject", "hello"), ("Date", "now"), ("X-Tenant", "forged"), ("Session-Expires", "90"),
        ])
        let passed = try rules().passed(from: message).map { "\($0.0): \($0.1)" }
        #expect(passed == ["X-One: 1", "Subject: hello", "X-Tenant: forged"])
        let towards = try rules().towardsTrunk(from: message).map { "\($0.0): \($0.1)" }
        #expect(towards == ["X-One: 1", "Subject: hello", "X-Tenant: acme"], "what is set wins")
        #expect(try rules().towardsTrunk(from: nil).map { "\($0.0): \($0.1)" } == ["X-Tenant: acme"])
    }

    @Test func `what is copied is text: no control character and nothing but UTF-8 passes`() throws {
        let message = try message([("X-One", Text([0x61, 0x00, 0x1B, 0x5B, 0x33])), ("Subject", Text([0xFF, 0x61]))])
        #expect(try rules().passed(from: message).map { "\($0.1)" } == ["a  [3", "?a"])
    }

    @Test(arguments: ["Via", "call-id", "Contact", "Authorization", "Session-Expires", "", "X Name", "*", "X-\r\nY"])
    func `what makes a dialog or proves who we are is not to be passed or set`(name: String) {
        #expect(HeaderRules.NamePattern(Text(name)) == nil)
        #expect(HeaderRules.Field(name: Text(name), value: "x") == nil)
    }

    @Test func `names are patterns in whatever case and form`() throws {
        let message = try message([("x-one", "1"), ("SUBJECT", "2"), ("X", "3"), ("Subjects", "4"), ("Priority", "5")])
        for (pattern, passed) in [("X-*", ["1"]), ("subject", ["2"]), ("Sub*", ["2", "4"]), ("s", ["2"]), ("pri*", ["5"])]
            as [(Text, [Text])]
        {
            #expect(HeaderRules(copy: [try #require(.init(pattern))]).passed(from: message).map(\.1) == passed, "\(pattern)")
        }
    }

    @Test func `between lines goes what one user tells another, and nothing that telephones obey`() throws {
        let message = try message([
            ("Subject", "s"), ("X-Answer", "auto"), ("User-to-User", "u;encoding=hex"), ("Alert-Info", "<http://x>"),
        ])
        #expect(HeaderRules.betweenLines.passed(from: message).map(\.0.text) == ["Subject", "User-to-User"])
        #expect(!HeaderRules.betweenLines.isEmpty && HeaderRules().isEmpty && HeaderRules().passed(from: message).isEmpty)
    }

    @Test func `what is set and nothing copied is a rule too`() throws {
        var rules = HeaderRules()
        rules.set = [try #require(.init(name: "Priority", value: "urgent"))]
        let message = try message([("Priority", "low")])
        #expect(!rules.isEmpty && rules.passed(from: message).isEmpty)
        #expect(rules.towardsTrunk(from: message).map { "\($0.0): \($0.1)" } == ["Priority: urgent"])
    }

    @Test func `a star takes no header of a dialog with it`() throws {
        var rules = HeaderRules()
        rules.copy = [try #require(.init("co*"))]
        #expect(
            try rules.passed(from: message([("Contact", "<sip:x@y>"), ("Content-Type", "a/b"), ("Colour", "red")])).map { $0.0.text } == [
                "Colour"
            ])
    }

    @Test func `what is passed makes no datagram too long`() throws {
        let message = try message([
            ("X-One", Text(Array(repeating: 0x61, count: 900))), ("X-Two", Text(Array(repeating: 0x61, count: 200))), ("X-Three", "3"),
        ])
        #expect(try rules().passed(from: message).map { $0.0.text } == ["X-One", "X-Three"])
    }

    @Test func `a flood of headers is not passed on whole`() throws {
        #expect(try rules().passed(from: message((0..<90).map { (HeaderName(Text("X-\($0)")), "1") })).count == 32)
    }
}
