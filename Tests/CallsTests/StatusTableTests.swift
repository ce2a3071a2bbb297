import CallKit
import Primitives
import SIP
import Testing

@testable import Calls

/// The tables of SIP ⇄ CallKit ⇄ Q.850, row by row.
@Suite struct StatusTableTests {
    @Test(arguments: [
        (486, true, CXCallEndedReason.unanswered), (486, false, .unanswered), (600, true, .unanswered), (480, true, .unanswered),
        (480, false, .unanswered),
        (408, true, .unanswered), (408, false, .failed), (487, true, .unanswered), (503, true, .failed), (500, false, .failed),
        (504, true, .failed),
        (603, true, .remoteEnded), (607, false, .remoteEnded), (608, true, .failed), (403, true, .failed), (401, false, .failed),
        (407, false, .failed),
        (404, true, .failed), (410, true, .failed), (484, true, .failed), (485, true, .failed), (488, true, .failed), (415, true, .failed),
        (606, true, .failed),
        (604, true, .failed), (421, true, .failed), (433, true, .failed), (482, true, .failed), (483, true, .failed),
    ])
    func `a final response ends an outgoing call for its reason`(status: Int, sawProvisional: Bool, reason: CXCallEndedReason) {
        #expect(StatusTable.endedReason(status: status, sawProvisional: sawProvisional) == reason)
    }

    @Test(arguments: [
        ("", CXCallEndedReason.remoteEnded), ("SIP;cause=200", .answeredElsewhere), ("SIP;cause=600", .declinedElsewhere),
        ("SIP;cause=603", .declinedElsewhere),
        ("SIP;cause=607", .declinedElsewhere), ("SIP;cause=608", .declinedElsewhere), ("SIP;cause=408", .unanswered),
        ("SIP;cause=480", .unanswered),
        ("SIP;cause=487", .unanswered), ("Q.850;cause=18", .unanswered), ("Q.850;cause=19", .unanswered), ("Q.850;cause=102", .unanswered),
        ("Q.850;cause=16", .remoteEnded), ("SIP;cause=486", .remoteEnded), ("preemption;cause=1", .remoteEnded),
    ])
    func `a CANCEL ends a ringing call for its reason`(header: String, reason: CXCallEndedReason) throws {
        #expect(StatusTable.endedReason(cancel: try reasons(header)) == reason)
    }

    @Test(arguments: [
        ("", CXCallEndedReason.remoteEnded), ("Q.850;cause=16", .remoteEnded), ("Q.850;cause=31", .remoteEnded),
        ("SIP;cause=200", .answeredElsewhere),
        ("SIP;cause=607", .remoteEnded), ("SIP;cause=408", .failed), ("SIP;cause=503", .failed), ("Q.850;cause=34", .failed),
        ("Q.850;cause=38", .failed),
        ("Q.850;cause=41", .failed), ("Q.850;cause=42", .failed), ("Q.850;cause=44", .failed), ("Q.850;cause=47", .failed),
        ("Q.850;cause=102", .failed),
        ("Q.850;cause=127", .failed),
    ])
    func `a BYE ends a confirmed call for its reason`(header: String, reason: CXCallEndedReason) throws {
        #expect(StatusTable.endedReason(bye: try reasons(header)) == reason)
    }

    @Test(arguments: [
        (CXErrorCodeIncomingCallError.Code.filteredByDoNotDisturb, 480, 31), (.filteredByBlockList, 607, 21), (.unentitled, 403, 21),
        (.unknown, 500, 41),
        (.filteredDuringRestrictedSharingMode, 480, 31), (.callIsProtected, 480, 31), (.filteredBySensitiveParticipants, 480, 31),
    ])
    func `a refused report becomes a status and a cause`(code: CXErrorCodeIncomingCallError.Code, status: Int, cause: Int) {
        let refusal = StatusTable.refusal(of: CXErrorCodeIncomingCallError(code))
        #expect(refusal.status == status)
        #expect(refusal.responseReasons.first?.cause == cause)
    }

    @Test func `a UUID that exists is a merged request, and a full line is busy`() {
        #expect(StatusTable.refusal(of: CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)).status == 482)
        #expect(StatusTable.refusal(of: CXErrorCodeRequestTransactionError(.maximumCallGroupsReached)).status == 486)
    }

    @Test(arguments: [
        (400, 41), (401, 21), (402, 21), (403, 21), (404, 1), (405, 63), (406, 79), (407, 21), (408, 102), (410, 22), (413, 127),
        (414, 127), (416, 127),
        (420, 127), (421, 127), (423, 127), (415, 79), (480, 18), (481, 41), (482, 25), (483, 25), (484, 28), (485, 1), (486, 17),
        (500, 41), (501, 79),
        (502, 38), (503, 41), (504, 102), (513, 127), (600, 17), (603, 21), (604, 1), (607, 21), (608, 21), (499, 31),
    ])
    func `a status has a Q·850 cause`(status: Int, cause: Int) { #expect(StatusTable.q850(forStatus: status) == cause) }

    @Test func `487 has no cause`() { #expect(StatusTable.q850(forStatus: 487) == nil) }

    @Test(arguments: [
        ([1, 2, 3, 26], 404), ([17], 486), ([18], 408), ([19, 20, 31], 480), ([21], 403), ([22, 23], 410), ([27], 502), ([28], 484),
        ([29, 79], 501),
        ([34, 38, 41, 42, 47, 58, 88], 503), ([55, 57, 87], 403), ([65, 70], 488), ([102], 504), ([111, 127], 500), ([99], 500),
    ])
    func `a Q·850 cause has a status`(causes: [Int], status: Int) {
        for cause in causes { #expect(StatusTable.status(forQ850: cause) == status) }
    }

    @Test func `only Q·850 stands in a response`() {
        #expect(EndCause.ringTimeout.responseReasons.map(\.cause) == [19])
        #expect(EndCause.ringTimeout.reasons.count == 2)
    }

    @Test(arguments: [
        (401, 403), (407, 403), (302, 480), (481, 500), (486, 486), (603, 603), (404, 404), (503, 503), (491, 500), (405, 500), (415, 488),
        (420, 500), (422, 500),
    ])
    func `a status of the far hop passes where it means something to the near one`(far: Int, near: Int) {
        #expect(StatusTable.passedStatus(far) == near)
    }

    private func reasons(_ header: String) throws -> [Reason] { header.isEmpty ? [] : [try Reason(parsing: Text(header))] }
}
