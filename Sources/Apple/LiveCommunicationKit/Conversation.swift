import CallKit
import Foundation

/// One conversation of a manager. Made by the manager alone; safe to use from any thread.
public final class Conversation: @unchecked Sendable, CustomDebugStringConvertible {
    /// Stages of a conversation's life.
    public enum State: Int, Hashable, Codable, Sendable {
        /// It rings here, or is about to be started.
        case idle
        /// It is being answered here, or the other side is being called.
        case joining
        case joined
        /// The local user holds it. A hold of the other side does not show.
        case paused
        /// It is being ended here.
        case leaving
        /// It is over.
        case left
    }

    /// Reasons for an end other than the local user's wish.
    public enum EndedReason: Int, Hashable, Codable, Sendable {
        case failed, remoteEnded, unanswered, joinedElsewhere, declinedElsewhere
    }

    /// The identity that the app has given it.
    public let uuid: UUID
    private let lock = NSLock()
    private var settled = State.idle
    /// The last action that changes the state when it is fulfilled.
    private var transition: ConversationAction?
    private var told = State.idle
    private var member: Handle?

    init(_ uuid: UUID, localMember: Handle? = nil) { (self.uuid, member) = (uuid, localMember) }

    /// The stage now.
    public var state: State { lock.withLock { current } }
    /// The local user's own address, as the app has reported it last; nil where it has not.
    public var localMember: Handle? { lock.withLock { member } }
    public var debugDescription: String { "Conversation(uuid: \(uuid), state: \(state))" }

    private var current: State {
        guard settled != .left, let transition else { return settled }
        guard transition.isOver else { return transition is EndConversationAction ? .leaving : .joining }
        // The telephone tells of it in its turn.
        guard settled == .idle, transition.state == .complete else { return settled }
        return transition is JoinConversationAction ? .joined : transition is StartConversationAction ? .joining : settled
    }

    /// An action is about to be performed.
    func begin(_ action: ConversationAction) {
        guard action is JoinConversationAction || action is StartConversationAction || action is EndConversationAction else { return }
        lock.withLock { transition = action }
    }

    /// The stage that the telephone knows.
    func settle(_ state: State) { lock.withLock { settled = state } }

    func apply(_ update: Update) {
        guard let localMember = update.localMember else { return }
        lock.withLock { member = localMember }
    }

    /// Whether the state is another than when this was asked last.
    func hasNews() -> Bool {
        lock.withLock {
            defer { told = current }
            return told != current
        }
    }
}

extension Conversation.State {
    init(_ call: CXCall) {
        self = call.hasEnded ? .left : call.isOnHold ? .paused : call.hasConnected ? .joined : call.isOutgoing ? .joining : .idle
    }
}

extension CXCallEndedReason {
    init(_ reason: Conversation.EndedReason) {
        switch reason {
        case .failed: self = .failed
        case .remoteEnded: self = .remoteEnded
        case .unanswered: self = .unanswered
        case .joinedElsewhere: self = .answeredElsewhere
        case .declinedElsewhere: self = .declinedElsewhere
        }
    }
}
