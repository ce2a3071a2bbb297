import CallKit
import Foundation

/// The delegate of a manager's provider: what the telephone says, in the manager's words.
final class ProviderRelay: NSObject, CXProviderDelegate, CXCallObserverDelegate {
    /// Set once, before the telephone knows of the relay.
    nonisolated(unsafe) weak var manager: ConversationManager?

    func providerDidBegin(_ provider: CXProvider) {
        guard let manager else { return }
        manager.delegate?.conversationManagerDidBegin(manager)
    }

    func providerDidReset(_ provider: CXProvider) {
        guard let manager else { return }
        manager.delegate?.conversationManagerDidReset(manager)
        for conversation in manager.conversations { manager.leave(conversation) }
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        manager?.add(Conversation(action.callUUID))
        perform(action)
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction) { perform(action) }

    private func perform(_ call: CXCallAction) {
        guard let manager, let action = manager.action(call) else { return }
        if let conversation = manager.conversation(call.callUUID) {
            conversation.begin(action, at: manager.date)
            manager.tell(conversation)
        }
        manager.delegate?.conversationManager(manager, perform: action)
    }

    func provider(_ provider: CXProvider, timedOutPerforming call: CXAction) {
        guard let manager, let action = manager.action(call) else { return }
        manager.delegate?.conversationManager(manager, timedOutPerforming: action)
        manager.review(action.conversationUUID)
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        guard let manager else { return }
        manager.delegate?.conversationManager(manager, didActivate: audioSession)
    }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
        guard let manager else { return }
        manager.delegate?.conversationManager(manager, didDeactivate: audioSession)
    }

    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        guard let manager, let conversation = manager.conversation(call.uuid) else { return }
        guard !call.hasEnded else { return manager.leave(conversation) }
        conversation.settle(Conversation.State(call), at: manager.date)
        manager.tell(conversation)
    }
}
