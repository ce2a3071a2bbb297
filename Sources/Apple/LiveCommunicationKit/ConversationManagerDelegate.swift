@_exported import AVFoundation
@_exported import Foundation

/// The only place where an app acts on conversations. Called on the main queue.
public protocol ConversationManagerDelegate: AnyObject {
    /// A conversation is in another state.
    func conversationManager(_ manager: ConversationManager, conversationChanged conversation: Conversation)
    /// The manager is connected to the system.
    func conversationManagerDidBegin(_ manager: ConversationManager)
    /// All conversations are over; clean up without answering any action.
    func conversationManagerDidReset(_ manager: ConversationManager)
    /// Do it, then fulfil or fail it.
    func conversationManager(_ manager: ConversationManager, perform action: ConversationAction)
    /// The action has failed because its deadline passed; do not complete it any more.
    func conversationManager(_ manager: ConversationManager, timedOutPerforming action: ConversationAction)
    /// Audio may start.
    func conversationManager(_ manager: ConversationManager, didActivate audioSession: AVAudioSession)
    /// Audio must have stopped.
    func conversationManager(_ manager: ConversationManager, didDeactivate audioSession: AVAudioSession)
}
