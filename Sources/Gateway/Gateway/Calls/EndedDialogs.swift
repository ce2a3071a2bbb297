import Primitives
import SIP
import UserAgent

/// The dialogs of ours that ended within 64·T1: who wants to take the place of one is told that it is over, and not that there was none
/// (RFC 3891 §3).
///
/// Each is kept only as a hash of what all dialogs of its INVITE have in common. The oldest are forgotten before there are too many.
struct EndedDialogs {
    private var ended = FIFO<(hash: Int, until: Instant)>()
    private static let maximum = 4_096

    mutating func add(_ session: InviteSession, at now: Instant) {
        while let oldest = ended.first, oldest.until <= now || ended.count >= Self.maximum { _ = ended.popFirst() }
        ended.append((Self.hash(session.callID, session.localTag), now + .seconds(32)))
    }

    func contains(_ dialog: DialogIdentifier, at now: Instant) -> Bool {
        let hash = Self.hash(dialog.callID, dialog.localTag)
        return ended.contains { $0.hash == hash && $0.until > now }
    }

    private static func hash(_ callID: Text, _ tag: Text) -> Int {
        var hasher = Hasher()
        hasher.combine(callID)
        hasher.combine(tag)
        return hasher.finalize()
    }
}
