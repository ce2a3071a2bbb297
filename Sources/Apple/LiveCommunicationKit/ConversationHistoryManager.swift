import CallKit
import Foundation
import Synchronization

/// The history of a telephone: the conversations that are over, of each `ConversationManager` whose configuration wants them in the recents.
///
/// The newest two hundred are kept, until the process ends. Safe to use from any thread.
public final class ConversationHistoryManager: Sendable {
    /// The history of `CallSystem.current`.
    public static var sharedInstance: ConversationHistoryManager { of(.current) }

    /// The history of one telephone. Not on a telephone.
    public static func of(_ system: CallSystem) -> ConversationHistoryManager {
        histories.withLock { histories in
            histories.removeAll { $0.system == nil }
            if let known = histories.first(where: { $0.system === system }) { return known.history }
            let history = ConversationHistoryManager()
            histories.append(Place(system: system, history: history))
            return history
        }
    }

    private struct Place {
        weak var system: CallSystem?
        let history: ConversationHistoryManager
    }

    private static let histories = Mutex<[Place]>([])
    private static let limit = 200
    private let entries = Mutex<[RecentConversation]>([])

    private init() {}

    /// The entries that match, newest first. Throws what the predicate throws.
    public func recentConversations(matching request: Predicate<RecentConversation>) async throws -> [RecentConversation] {
        try entries.withLock { $0 }.filter(request.evaluate)
    }

    /// The user has seen an entry. One that the history has not is ignored.
    public func markConversationAsRead(_ recentConversation: RecentConversation) async throws {
        try await markConversationsAsRead([recentConversation])
    }

    /// The user has seen these entries. Those that the history has not are ignored.
    public func markConversationsAsRead(_ recentConversations: [RecentConversation]) async throws {
        let seen = Set(recentConversations.map(\.id))
        let isNews = entries.withLock { entries in
            let unread = entries.indices.filter { !entries[$0].isRead && seen.contains(entries[$0].id) }
            for index in unread { entries[index] = entries[index].read }
            return !unread.isEmpty
        }
        if isNews { tell() }
    }

    func add(_ entry: RecentConversation) {
        entries.withLock { entries in
            entries.insert(entry, at: 0)
            if entries.count > Self.limit { entries.removeLast() }
        }
        tell()
    }

    private func tell() { NotificationCenter.default.post(ConversationHistoryDidUpdate(), subject: self) }

    /// The message that a history posts when it has another entry, or one of them was marked as read.
    public struct ConversationHistoryDidUpdate: NotificationCenter.AsyncMessage {
        public typealias Subject = ConversationHistoryManager
        public static var name: Notification.Name { Notification.Name("ConversationHistoryDidUpdate") }
        public init() {}
        public static func makeMessage(_ notification: Notification) -> ConversationHistoryDidUpdate? { Self() }
    }
}
