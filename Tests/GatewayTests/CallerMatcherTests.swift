import CallKit
import Primitives
import Testing

@testable import Gateway

@Suite struct CallerMatcherTests {
    private static func handle(_ text: String) -> CXHandle {
        CXHandle(type: text.allSatisfy { $0.isNumber || "+-() ./".contains($0) } ? .phoneNumber : .generic, value: text)
    }

    @Test(arguments: [
        // A number with and without its plus.
        ("+39055*", "+390551234", true), ("39055*", "+390551234", true), ("39055*", "390551234", true), ("+39055*", "390551234", false),
        ("0551234", "+390551234", false),
        // Any other caller as user and as whole address.
        ("boss", "sip:boss@192.0.2.9", true), ("sip:boss@*", "sip:boss@192.0.2.9", true), ("boss@*", "sip:boss@192.0.2.9", false),
        ("boss", "boss@a.test", true), ("boss", "sip:bossy@a.test", false), ("192.0.2.9", "sip:boss@192.0.2.9", false),
        ("anonymous", "anonymous", true),
    ])
    func `a pattern sees a caller in each of its spellings`(pattern: Text, caller: String, isMatched: Bool) throws {
        let matcher = CallerMatcher(patterns: [try #require(NumberPattern("7777")), try #require(NumberPattern(pattern))])
        #expect(matcher.contains(Self.handle(caller)) == isMatched)
        #expect(!CallerMatcher().contains(Self.handle(caller)), "without patterns nobody is matched")
    }

    @Test(arguments: [
        ("+39 055 123-456", "39055123456"), ("39055123456", "39055123456"), ("(055) 12.3/4", "551234"), ("anonymous", "anonymous"),
        ("sip:Alice@A.test", "sip:alice@a.test"), ("99999999999999999999", "99999999999999999999"),
    ])
    func `a caller has one key, whatever way it is written`(caller: String, key: String) {
        #expect(CallerMatcher.key(of: Self.handle(caller)) == key)
    }

    @Test(arguments: [
        ("+1 408 555 5555", "14085555555"), ("0055", "55"), ("alice@A.test", "sip:alice@a.test"), ("sip:Alice@a.test", "sip:alice@a.test"),
        ("SIP:alice@a.test", "sip:alice@a.test"), ("Alice", "alice"),
    ])
    func `what a person writes has the key of the caller whom it means`(written: String, key: String) {
        #expect(CallerMatcher.key(ofWritten: written) == key)
    }

    @Test func `a contact that is written as an address is found by the handle of a caller`() {
        var line = LineConfiguration(number: "1001")
        line.addContact("alice@a.test", name: "Alice")
        #expect(line.contacts[CallerMatcher.key(of: CXHandle(type: .generic, value: "sip:alice@a.test"))] == "Alice")
    }
}
