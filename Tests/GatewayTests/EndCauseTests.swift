import Primitives
import SIP
import Testing

@testable import Gateway

@Suite struct EndCauseTests {
    @Test func `the phrase that passes is text: what the journal has of it is what the other side is told`() throws {
        let lines = ["SIP/2.0 486 a\u{1B}[2J\u{7}b", "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:a@b>;tag=1", "To: <sip:b@b>;tag=2", "Call-ID: x", "CSeq: 1 INVITE", "", ""]
        let response = try Message(parsing: Array(lines.joined(separator: "\r\n").utf8))
        #expect(EndCause.passing(status: 486, response).phrase == "a [2J b")
    }
}
