import AVFoundation
import CallKit
import PushKit

/// The app's call code, as it is on a telephone: it knows CallKit and PushKit, no network and no media. A VoIP push brings a call, which
/// gets a UUID of the app's own.
final class CallManager: NSObject, CXProviderDelegate, PKPushRegistryDelegate {
    private let provider: CXProvider
    private let controller = CXCallController()
    private let registry = PKPushRegistry(queue: .main)

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.supportedHandleTypes = [.phoneNumber, .generic]
        configuration.maximumCallGroups = 2
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func startCall(to number: String) {
        let start = CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: number))
        controller.request(CXTransaction(action: start)) { error in if let error { print("not started: \(error)") } }
    }

    func callIsConnecting(_ call: UUID) { provider.reportOutgoingCall(with: call, startedConnectingAt: nil) }
    func callConnected(_ call: UUID) { provider.reportOutgoingCall(with: call, connectedAt: nil) }
    func callEnded(_ call: UUID, _ reason: CXCallEndedReason) { provider.reportCall(with: call, endedAt: nil, reason: reason) }

    // MARK: PushKit

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: payload.dictionaryPayload["caller"] as? String ?? "unknown")
        provider.reportNewIncomingCall(with: UUID(), update: update) { error in
            if let error { print("not reported: \(error)") }
        }
        completion()
    }

    // MARK: CXProviderDelegate

    func providerDidReset(_ provider: CXProvider) {}
    func provider(_ provider: CXProvider, perform action: CXStartCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { action.fulfill() }
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}
}
