import Foundation

extension ConversationHistoryManager {
    /// A conversation that is over.
    public struct RecentConversation: Hashable, Codable, Identifiable, Sendable {
        /// The side that began.
        public enum Direction: Hashable, Codable, Sendable {
            case incoming, outgoing
        }

        /// Outcomes of a conversation.
        public enum Status: Hashable, Codable, Sendable {
            /// It was joined here, or the other side answered.
            case connected
            /// It came in, and was not joined here.
            case missed
            /// It was joined at another device of the user.
            case answeredElsewhere
            /// The local user ended it before the other side answered.
            case cancelled
            /// It went out, and the other side or the network ended it before anybody answered.
            case unknown
        }

        /// The UUID that the conversation had.
        public let id: UUID
        /// Those of the other side, by address.
        public let handles: [Handle]
        /// When it rang, or was started.
        public let date: Date
        /// From its connection to its end, in seconds; 0 where it was never connected.
        public let duration: TimeInterval
        public let status: Status
        public let direction: Direction
        /// False for a missed one that was not marked yet.
        public let isRead: Bool

        var read: RecentConversation {
            RecentConversation(
                id: id, handles: handles, date: date, duration: duration, status: status, direction: direction, isRead: true)
        }
    }
}

/// The facts of a conversation that its entry in the history will tell.
struct ConversationRecord {
    var handles: [Handle] = []
    var isOutgoing = false
    /// nil: it has neither rung nor been started.
    var started: Date?
    /// The connection as the app has reported it, which counts once the telephone has taken it.
    var reported: Date?
    var connected: Date?
    /// The end as the app has reported it.
    var ended: Date?
    var reason: Conversation.EndedReason?

    /// - Parameters:
    ///   - id: of the conversation.
    ///   - end: the completed action that ended it; nil: it ended without the local user.
    ///   - now: the time of its end where nobody has said another.
    func entry(_ id: UUID, end: EndConversationAction?, now: Date) -> ConversationHistoryManager.RecentConversation? {
        guard let started else { return nil }
        let over = end?.dateEnded ?? ended ?? now
        let status = status(isEndedHere: end != nil)
        return .init(
            id: id, handles: handles, date: started, duration: connected.map { max(0, over.timeIntervalSince($0)) } ?? 0, status: status,
            direction: isOutgoing ? .outgoing : .incoming, isRead: status != .missed)
    }

    private func status(isEndedHere: Bool) -> ConversationHistoryManager.RecentConversation.Status {
        if connected != nil { return .connected }
        if isOutgoing { return isEndedHere ? .cancelled : .unknown }
        return reason == .joinedElsewhere ? .answeredElsewhere : .missed
    }
}
