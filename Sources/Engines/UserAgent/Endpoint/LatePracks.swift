import Primitives
import SIP

/// The PRACKs that sessions were still waiting for when they ended: they may have crossed the refusal, and are answered (RFC 3262 §3).
///
/// Bounded: of more of them than `maximum` at a time no note is made.
struct LatePracks {
    private struct Key: Hashable {
        let callID: Text
        let localTag: Text
        let remoteTag: Text
        let acknowledgement: ResponseAcknowledgement
    }

    private static let maximum = 1_000
    private var expiries: [Key: Instant] = [:]

    mutating func expect(_ sequence: UInt32, of session: InviteSession, until expiry: Instant, at now: Instant) {
        if expiries.count >= Self.maximum { expiries = expiries.filter { $0.value > now } }
        guard expiries.count < Self.maximum, let remoteTag = session.remoteTag else { return }
        let acknowledgement = ResponseAcknowledgement(response: sequence, cseq: session.request.cseq)
        expiries[Key(callID: session.callID, localTag: session.localTag, remoteTag: remoteTag, acknowledgement: acknowledgement)] = expiry
    }

    /// Whether the request is one of them. Each comes once.
    mutating func take(_ request: Message, at now: Instant) -> Bool {
        guard request.method == .prack, let localTag = request.to.tag, let acknowledgement = request.responseAcknowledgement else {
            return false
        }
        let key = Key(callID: request.callID, localTag: localTag, remoteTag: request.from.tag ?? .empty, acknowledgement: acknowledgement)
        return expiries.removeValue(forKey: key).map { $0 > now } ?? false
    }
}
