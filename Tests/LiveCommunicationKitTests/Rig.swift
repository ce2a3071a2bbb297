import CallKit
import Foundation
import LiveCommunicationKit
import Primitives

/// A telephone in virtual time with a manager on it, and a log of what its delegate heard, in order.
final class Rig: @unchecked Sendable {
    let host = InlineHost()
    let system: CallSystem
    let manager: ConversationManager
    let controller: CXCallController
    let delegate = Delegate()

    init(groups: Int = 2, perGroup: Int = 5, includesRecents: Bool = true, _ configuration: CallSystemConfiguration = .app) {
        system = CallSystem(configuration: configuration, host: host)
        var settings = ConversationManager.Configuration(
            ringtoneName: nil, iconTemplateImageData: nil, maximumConversationGroups: groups,
            maximumConversationsPerConversationGroup: perGroup, includesConversationInRecents: includesRecents, supportsVideo: false,
            supportedHandleTypes: [.phoneNumber])
        settings.supportsAudioTranslation = true
        manager = ConversationManager(configuration: settings, system: system)
        controller = CXCallController(system: system)
        manager.delegate = delegate
    }

    func ring(_ call: UUID, _ update: Conversation.Update = .init()) async throws {
        try await manager.reportNewIncomingConversation(uuid: call, update: update)
    }

    /// An incoming conversation that is joined; the log begins after it.
    func connect(_ call: UUID) async throws {
        try await ring(call)
        try await manager.perform([JoinConversationAction(conversationUUID: call)])
        delegate.lines = []
    }

    func conversation(_ call: UUID) -> Conversation? { manager.conversations.first { $0.uuid == call } }

    /// The code of a refusal; nil: it was accepted.
    func refusal(_ actions: ConversationAction...) async -> CXErrorCodeRequestTransactionError.Code? {
        do { try await manager.perform(actions) } catch { return (error as? CXErrorCodeRequestTransactionError)?.code }
        return nil
    }
}

/// Fulfils what it is asked, or does as it is told, and logs it.
final class Delegate: ConversationManagerDelegate {
    var lines: [String] = []
    var performed: [ConversationAction] = []
    var act: (ConversationAction) -> Void = { $0.fulfill() }

    /// What was logged since the last time.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }

    func conversationManager(_ manager: ConversationManager, conversationChanged conversation: Conversation) {
        lines.append("changed \(conversation.state)")
    }

    func conversationManagerDidBegin(_ manager: ConversationManager) { lines.append("begin") }
    func conversationManagerDidReset(_ manager: ConversationManager) { lines.append("reset") }

    func conversationManager(_ manager: ConversationManager, perform action: ConversationAction) {
        lines.append("perform \(type(of: action))")
        performed.append(action)
        act(action)
    }

    func conversationManager(_ manager: ConversationManager, timedOutPerforming action: ConversationAction) {
        lines.append("timed out \(type(of: action))")
    }

    func conversationManager(_ manager: ConversationManager, didActivate audioSession: AVAudioSession) { lines.append("activate") }
    func conversationManager(_ manager: ConversationManager, didDeactivate audioSession: AVAudioSession) { lines.append("deactivate") }
}

extension Handle {
    static let bob = Handle(type: .phoneNumber, value: "2001", displayName: "Bob")
}
