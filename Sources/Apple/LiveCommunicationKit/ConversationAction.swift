import CallKit
import Foundation

/// One thing that the system asks the app to do with a conversation. Apps use its subclasses.
///
/// An action is completed once, by `fulfill`, `fail`, its deadline or the end of its conversation; whatever comes later changes nothing.
/// Completing an action that nobody has asked for has no effect. Safe to use from any thread.
public class ConversationAction: @unchecked Sendable {
    /// Stages of an action's life.
    public enum State: Hashable, Sendable {
        /// No request was made for it, or the system asks for it and it is not complete.
        case idle
        /// The app has asked for it by `perform`, and it is not complete.
        case running
        case complete
        case failed(reason: String)
    }

    /// The same wish, as the telephone knows it.
    let call: CXCallAction
    private let lock = NSLock()
    private var outcome: State?
    private var isRequested = false
    private weak var manager: ConversationManager?

    init(_ call: CXCallAction) { self.call = call }

    /// The action's own identity.
    public final var uuid: UUID { call.uuid }
    /// The conversation that is acted on.
    public final var conversationUUID: UUID { call.callUUID }
    /// When the system fails the action by itself: 600 s after its creation for a start, 60 s for a join, 5 s for the rest.
    public final var timeoutDate: Date { call.timeoutDate }

    /// The stage now.
    public final var state: State {
        lock.withLock {
            guard call.isComplete else { return isRequested ? .running : .idle }
            return outcome ?? .failed(reason: "the time was over, or the conversation has ended")
        }
    }

    /// The app has done it.
    public final func fulfill() { complete(.complete) { call.fulfill() } }
    /// The app could not do it.
    public final func fail() { complete(.failed(reason: "the app has failed it")) { call.fail() } }

    final func complete(_ outcome: State, _ work: () -> Void) {
        let holder = lock.withLock { () -> ConversationManager? in
            guard let manager, !call.isComplete, self.outcome == nil else { return nil }
            self.outcome = outcome
            return manager
        }
        guard let holder else { return }
        work()
        holder.review(conversationUUID)
    }

    final var isOver: Bool { call.isComplete }

    /// A manager has it.
    final func hold(by manager: ConversationManager, isRequested: Bool) {
        lock.withLock { (self.manager, self.isRequested) = (manager, isRequested) }
    }

    /// The request was refused: it may be asked for again.
    final func release() { lock.withLock { (manager, isRequested) = (nil, false) } }
}

extension ConversationAction {
    /// The action of this module for one that the telephone asks for by itself, or another than this app; nil: there is none.
    static func make(_ action: CXAction) -> ConversationAction? {
        switch action {
        case let action as CXStartCallAction: StartConversationAction(action)
        case let action as CXAnswerCallAction: JoinConversationAction(action)
        case let action as CXEndCallAction: EndConversationAction(action)
        case let action as CXSetHeldCallAction: PauseConversationAction(action)
        case let action as CXSetMutedCallAction: MuteConversationAction(action)
        case let action as CXSetGroupCallAction:
            action.callUUIDToGroupWith.map { MergeConversationAction(action, with: $0) } ?? UnmergeConversationAction(action)
        case let action as CXPlayDTMFCallAction: PlayToneAction(action)
        case let action as CXSetTranslatingCallAction: SetTranslatingAction(action)
        default: nil
        }
    }
}
