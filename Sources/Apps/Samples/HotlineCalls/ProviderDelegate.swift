import AVFoundation
import CallKit

/// Tells the system what the network did, and does what the system says.
public class ProviderDelegate: NSObject {
    private let callManager: CallManager
    private let audio: Audio
    private let provider: CXProvider

    public static var providerConfiguration: CXProviderConfiguration = {
        let configuration = CXProviderConfiguration(localizedName: "Hotline")
        configuration.supportsVideo = true
        configuration.maximumCallsPerCallGroup = 1
        configuration.supportedHandleTypes = [.phoneNumber]
        return configuration
    }()

    public init(callManager: CallManager) {
        self.callManager = callManager
        audio = Audio(network: callManager.network)
        provider = CXProvider(configuration: ProviderDelegate.providerConfiguration)
        super.init()
        // Named, so that the completion of a report comes there, too, and not on a queue of the system.
        provider.setDelegate(self, queue: .main)
    }

    /// Allows a number of calls to talk together.
    public func allowConference(of calls: Int) {
        let configuration = provider.configuration
        configuration.maximumCallsPerCallGroup = calls
        provider.configuration = configuration
    }

    public func reportIncomingCall(uuid: UUID, handle: String, hasVideo: Bool = false, completion: ((Error?) -> Void)?) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: handle)
        update.hasVideo = hasVideo
        provider.reportNewIncomingCall(with: uuid, update: update) { error in
            if error == nil {
                self.callManager.add(call: Call(uuid: uuid, handle: handle, network: self.callManager.network))
                _ = self.callManager.network.ring(uuid)
            }
            completion?(error)
        }
    }

    // MARK: What the network did with an outgoing call, or to any

    public func networkRings(uuid: UUID) { callManager.callWithUUID(uuid: uuid)?.rings() }
    public func networkConnects(uuid: UUID) { callManager.callWithUUID(uuid: uuid)?.connects() }

    public func networkEnds(uuid: UUID, reason: CXCallEndedReason) {
        provider.reportCall(with: uuid, endedAt: nil, reason: reason)
        guard let call = callManager.callWithUUID(uuid: uuid) else { return }
        call.state = .ended
        callManager.remove(call: call)
    }
}

extension ProviderDelegate: CXProviderDelegate {
    public func providerDidReset(_ provider: CXProvider) {
        audio.stopAudio()
        callManager.network.reset()
        for call in callManager.calls { call.end() }
        callManager.removeAllCalls()
    }

    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        let call = Call(uuid: action.callUUID, outgoing: true, handle: action.handle.value, network: callManager.network)
        audio.configureAudioSession()
        call.connectedStateChanged = { [weak self, weak call] in
            guard let self = self, let call = call else { return }
            switch call.connectedState {
            case .pending: self.provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: nil)
            case .complete: self.provider.reportOutgoingCall(with: call.uuid, connectedAt: nil)
            }
        }
        call.start { [weak self] success in
            guard success else { return action.fail() }
            action.fulfill()
            self?.callManager.add(call: call)
        }
    }

    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        guard let call = callManager.callWithUUID(uuid: action.callUUID) else { return action.fail() }
        audio.configureAudioSession()
        call.answer() ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        guard let call = callManager.callWithUUID(uuid: action.callUUID) else { return action.fail() }
        audio.stopAudio()
        call.end()
        action.fulfill()
        callManager.remove(call: call)
    }

    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        guard let call = callManager.callWithUUID(uuid: action.callUUID) else { return action.fail() }
        if action.isOnHold { audio.stopAudio() } else { audio.startAudio() }
        call.setHeld(action.isOnHold) { done in done ? action.fulfill() : action.fail() }
    }

    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        callManager.network.setMuted(action.callUUID, action.isMuted) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        callManager.network.play(action.digits, on: action.callUUID) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        callManager.network.group(action.callUUID, with: action.callUUIDToGroupWith) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { audio.startAudio() }
}
