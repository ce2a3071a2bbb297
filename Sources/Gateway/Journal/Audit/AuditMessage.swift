import Primitives
import SIP

/// What the rules read of a `sip.rx` or `sip.tx`.
final class AuditMessage {
    let isSent: Bool
    let method: Method
    /// nil for a request.
    let status: Int64?
    let cseq: Int64?
    let remoteTag: Text?

    /// nil for other events and for retransmissions, which no rule looks at.
    static func of(_ event: borrowing JournalEvent) -> AuditMessage? {
        guard event.kind == .sipSent || event.kind == .sipReceived, !event.details.flag(.retransmission) else { return nil }
        return AuditMessage(event)
    }

    private init(_ event: borrowing JournalEvent) {
        isSent = event.kind == .sipSent
        method = Method(event.details.text(.method) ?? .empty)
        status = event.details.number(.status)
        cseq = event.details.number(.cseq)
        remoteTag = event.details.text(.remoteTag)
    }

    func isRequest(_ method: Method) -> Bool { status == nil && self.method == method }
    /// A response of this class, 1 to 6, to an INVITE.
    func isInviteResponse(_ range: Range<Int64>) -> Bool { method == .invite && (status.map(range.contains) ?? false) }
}
