import Primitives
import SIP

/// The parts of a `sip.rx` or `sip.tx` that the rules read. One for all: each is read into the one before.
final class AuditMessage {
    private(set) var isSent = false
    private(set) var method = Method.invite
    /// nil for a request.
    private(set) var status: Int64?
    private(set) var cseq: Int64?
    private(set) var remoteTag: Text?

    /// False for other events and for retransmissions, which no rule looks at.
    func read(_ event: borrowing JournalEvent) -> Bool {
        guard event.kind == .sipSent || event.kind == .sipReceived, !event.details.flag(.retransmission) else { return false }
        isSent = event.kind == .sipSent
        method = Method(event.details.text(.method) ?? .empty)
        status = event.details.number(.status)
        cseq = event.details.number(.cseq)
        remoteTag = event.details.text(.remoteTag)
        return true
    }

    func isRequest(_ method: Method) -> Bool { status == nil && self.method == method }
    /// A response of this class, 1 to 6, to an INVITE.
    func isInviteResponse(_ range: Range<Int64>) -> Bool { method == .invite && (status.map(range.contains) ?? false) }
}
