import AVFoundation
import LiveCommunicationKit
import PushKit

/// Call code over LiveCommunicationKit, as it is on a telephone: it knows no network and no media. A VoIP push brings a conversation, which
/// gets a UUID of the app's own.
final class Conversations: NSObject, ConversationManagerDelegate, PKPushRegistryDelegate {
    private let manager: ConversationManager
    private let registry = PKPushRegistry(queue: .main)

    override init() {
        manager = ConversationManager(
            configuration: .init(
                ringtoneName: nil, iconTemplateImageData: nil, maximumConversationGroups: 2, maximumConversationsPerConversationGroup: 5,
                includesConversationInRecents: true, supportsVideo: false, supportedHandleTypes: [.phoneNumber, .generic]))
        super.init()
        manager.delegate = self
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func start(with number: String) {
        let handle = Handle(type: .phoneNumber, value: number)
        let start = StartConversationAction(conversationUUID: UUID(), handles: [handle], isVideo: false)
        Task {
            do { try await manager.perform([start]) } catch { print("not started: \(error)") }
        }
    }

    func report(_ event: Conversation.Event, of uuid: UUID) {
        guard let conversation = manager.conversations.first(where: { $0.uuid == uuid }) else { return }
        manager.reportConversationEvent(event, for: conversation)
    }

    // MARK: PushKit

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        let caller = Handle(type: .phoneNumber, value: payload.dictionaryPayload["caller"] as? String ?? "unknown")
        Task {
            let update = Conversation.Update(members: [caller], activeRemoteMembers: [caller])
            do { try await manager.reportNewIncomingConversation(uuid: UUID(), update: update) } catch { print("not reported: \(error)") }
        }
        completion()
    }

    // MARK: ConversationManagerDelegate

    func conversationManager(_ manager: ConversationManager, perform action: ConversationAction) {
        switch action {
        case let start as StartConversationAction: start.fulfill(dateStarted: Date())
        case let join as JoinConversationAction: join.fulfill(dateConnected: Date())
        case let end as EndConversationAction: end.fulfill(dateEnded: Date())
        default: action.fulfill()
        }
    }

    func conversationManager(_ manager: ConversationManager, conversationChanged conversation: Conversation) {}
    func conversationManagerDidBegin(_ manager: ConversationManager) {}
    func conversationManagerDidReset(_ manager: ConversationManager) {}
    func conversationManager(_ manager: ConversationManager, timedOutPerforming action: ConversationAction) {}
    func conversationManager(_ manager: ConversationManager, didActivate audioSession: AVAudioSession) {}
    func conversationManager(_ manager: ConversationManager, didDeactivate audioSession: AVAudioSession) {}
}
