import CallKit
import Foundation
import Observation

/// One conversation of a manager. Made by the manager alone; safe to use from any thread.
public final class Conversation: Observable, @unchecked Sendable, CustomDebugStringConvertible {
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
    private var start: StartConversationAction?
    private var told = State.idle
    private var member: Handle?
    private var record: ConversationRecord
    private let registrar = ObservationRegistrar()

    init(_ uuid: UUID, localMember: Handle? = nil, record: ConversationRecord = .init()) {
        (self.uuid, member, self.record) = (uuid, localMember, record)
    }

    /// The stage now. Observed: a change is told when the delegate is told of it.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        return lock.withLock { current }
    }

    /// The local user's own address, as the app has reported it last; nil where it has not. Observed.
    public var localMember: Handle? {
        registrar.access(self, keyPath: \.localMember)
        return lock.withLock { member }
    }

    public var debugDescription: String { "Conversation(uuid: \(uuid), state: \(state))" }

    private var current: State {
        guard settled != .left, let transition else { return settled }
        guard transition.isOver else { return transition is EndConversationAction ? .leaving : .joining }
        // The telephone tells of it in its turn.
        guard settled == .idle, transition.state == .complete else { return settled }
        return transition is JoinConversationAction ? .joined : transition is StartConversationAction ? .joining : settled
    }

    /// An action is about to be performed.
    func begin(_ action: ConversationAction, at now: Date) {
        guard action is JoinConversationAction || action is StartConversationAction || action is EndConversationAction else { return }
        lock.withLock {
            transition = action
            guard let start = action as? StartConversationAction else { return }
            (record.handles, record.isOutgoing, record.started, self.start) = (start.handles, true, now, start)
        }
    }

    /// The stage that the telephone knows.
    func settle(_ state: State, at now: Date) {
        lock.withLock {
            settled = state
            guard state == .joined || state == .paused, record.connected == nil else { return }
            record.connected = (transition as? JoinConversationAction)?.dateConnected ?? record.reported ?? now
        }
    }

    func apply(_ update: Update) {
        lock.withLock { if update.members ?? update.activeRemoteMembers != nil { record.handles = update.remoteMembers } }
        guard let localMember = update.localMember else { return }
        registrar.withMutation(of: self, keyPath: \.localMember) { lock.withLock { member = localMember } }
    }

    /// Notes what the app has reported, for the history.
    func note(_ event: Event) {
        lock.withLock {
            switch event {
            case .conversationConnected(let date): if record.isOutgoing { record.reported = date }
            case .conversationEnded(let date, let reason): (record.ended, record.reason) = (date, reason)
            case .conversationUpdated, .conversationStartedConnecting: break
            }
        }
    }

    /// The entry in the history of a conversation that is over; nil: it has neither rung nor been started.
    func entry(at now: Date) -> ConversationHistoryManager.RecentConversation? {
        lock.withLock {
            var record = record
            if let date = start?.dateStarted { record.started = date }
            let end = transition as? EndConversationAction
            return record.entry(uuid, end: end?.state == .complete ? end : nil, now: now)
        }
    }

    /// Whether the state is another than when this was asked last.
    func hasNews() -> Bool {
        let isNews = lock.withLock {
            defer { told = current }
            return told != current
        }
        if isNews { registrar.withMutation(of: self, keyPath: \.state) {} }
        return isNews
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
