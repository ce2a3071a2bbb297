import Primitives
import SIP

// The SIP messages of a leg.
extension LegRecord {
    func noteMessage(_ event: borrowing JournalEvent, _ now: Moment) {
        let details = event.details, isSent = event.kind == .sipSent, cseq = details.number(.cseq) ?? 0
        guard !details.flag(.retransmission), let name = details.text(.method) else { return }
        notePeer(details)
        let status = details.number(.status).map { Int($0) }
        switch (Method(name), status) {
        case (.invite, nil): noteInvite(isSent: isSent, cseq)
        case (.invite, let status?): noteInviteResponse(status, details, isSent: isSent, cseq, now)
        case (.ack, nil): if answered != nil { course.isAcknowledged = true }
        case (.bye, nil): noteBye(details, isSent: isSent, cseq, now)
        case (.bye, let status?): if status >= 200, course.openBye?.cseq == cseq, course.openBye?.isOurs != isSent { course.openBye = nil }
        case (.cancel, nil): noteCancel(details, isSent: isSent, cseq)
        default: break
        }
    }

    /// One within the dialog is none of a call's beginning.
    private func noteInvite(isSent: Bool, _ cseq: Int64) {
        direction = direction ?? (isSent ? .outgoing : .incoming)
        guard answered == nil, ended == nil, isSent == (direction == .outgoing) else { return }
        course.inviteCSeq = cseq
        guard let before = response else { return }
        wasChallenged = wasChallenged || before.status == 401 || before.status == 407
        (response, ending.refusal, reasons, course.isRefused) = (nil, nil, [], false)
    }

    /// Each side counts its own requests, and a server that said nothing may answer when the next is called.
    private func noteInviteResponse(_ status: Int, _ details: JournalEvent.Details, isSent: Bool, _ cseq: Int64, _ now: Moment) {
        guard answered == nil, ended == nil, isSent != (direction == .outgoing), course.inviteCSeq ?? cseq == cseq else { return }
        switch status {
        case ...100: break
        case ..<200: rang = rang ?? now
        case ..<300: answered = now
        default:
            noteReasons(details)
            noteFinal(.init(status: status, phrase: details.kept(.phrase), sender: isSent ? .us : .farEnd))
        }
    }

    /// One of ours to a dialog that lost, or that came too late, ends no call.
    private func noteBye(_ details: JournalEvent.Details, isSent: Bool, _ cseq: Int64, _ now: Moment) {
        // One that crosses ours tells that the far end is done, too.
        course.openBye = isSent || course.openBye == nil ? (cseq, isSent, now.time) : nil
        guard ended == nil, !isSent || course.beganEnd || ending.reason != nil else { return }
        if !isSent, !course.beganEnd { course.isEndedByFarEnd = true }
        noteReasons(details)
    }

    /// One of an INVITE that was passed over ends nothing.
    private func noteCancel(_ details: JournalEvent.Details, isSent: Bool, _ cseq: Int64) {
        guard answered == nil, ended == nil, course.inviteCSeq ?? cseq == cseq else { return }
        course.isCancelled = true
        if !isSent { course.isEndedByFarEnd = true }
        noteReasons(details)
    }

    private func noteReasons(_ details: JournalEvent.Details) {
        guard let value = details.kept(.reason) else { return }
        var headers = Headers()
        headers.append(.reason, value)
        reasons = headers.elements(.reason).compactMap { try? Reason(parsing: $0) }
    }
}
