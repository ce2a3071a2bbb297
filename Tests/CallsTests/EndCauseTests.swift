import Primitives
import SIP
import Testing

@testable import Calls

@Suite struct EndCauseTests {
    private func response(_ status: Int, _ reason: String) throws -> Message {
        var lines = ["SIP/2.0 \(status) x", "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:a@b>;tag=1", "To: <sip:b@b>;tag=2"]
        lines += ["Call-ID: x", "CSeq: 1 INVITE"]
        if !reason.isEmpty { lines.append("Reason: " + reason) }
        lines += ["", ""]
        return try Message(parsing: Array(lines.joined(separator: "\r\n").utf8))
    }

    @Test(arguments: [
        (482, 500, 25), (483, 500, 25), (405, 500, 63), (415, 488, 79), (420, 500, 127), (513, 500, 127), (401, 403, 21), (486, 486, 17),
    ])
    func `a status that does not pass has its cause all the same`(status: Int, near: Int, cause: Int) throws {
        let passing = EndCause.passing(status: status, try response(status, ""))
        #expect(passing.status == near && passing.responseReasons == [.q850(cause)])
    }

    @Test(arguments: [
        ("SIP;cause=486;text=\"Busy\"", ["Q.850;cause=17"]), ("Q.850;cause=abc", ["Q.850;cause=17"]), ("Q.850", ["Q.850;cause=17"]),
        ("Q.850;cause=34;location=LN", ["Q.850;cause=34;location=LN"]), ("SIP;cause=600, Q.850;cause=21", ["Q.850;cause=21"]),
    ])
    func `a Reason of the far end passes, with a cause of ours where it names none of Q.850`(reason: String, passed: [Text]) throws {
        let passing = EndCause.passing(status: 486, try response(486, reason))
        #expect(passing.responseReasons.map { $0.value } == passed)
    }

    @Test func `the phrase that passes is text: what the journal has of it is what the other side is told`() throws {
        let lines = [
            "SIP/2.0 486 a\u{1B}[2J\u{7}b", "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:a@b>;tag=1", "To: <sip:b@b>;tag=2",
            "Call-ID: x", "CSeq: 1 INVITE", "", "",
        ]
        let response = try Message(parsing: Array(lines.joined(separator: "\r\n").utf8))
        #expect(EndCause.passing(status: 486, response).phrase == "a [2J b")
    }
}
