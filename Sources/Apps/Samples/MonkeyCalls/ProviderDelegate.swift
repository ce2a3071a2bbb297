import AVFoundation
import CallKit
import UIKit

/// MonkeyCall's side of CallKit.
public class ProviderDelegate: NSObject, CXProviderDelegate {
    public let callManager: ActiveCallManager
    public let provider: CXProvider
    /// Notes to the user; the last one first.
    public private(set) var notes: [String] = []

    public init(callManager: ActiveCallManager, supportedHandleTypes: Set<CXHandle.HandleType> = [.phoneNumber]) {
        self.callManager = callManager
        let configuration = CXProviderConfiguration(localizedName: "MonkeyCall")
        configuration.maximumCallsPerCallGroup = 1
        configuration.supportedHandleTypes = supportedHandleTypes
        configuration.iconTemplateImageData = UIImage(named: "telephone_receiver.png")?.pngData()
        configuration.ringtoneSound = "musicloop01.wav"
        provider = CXProvider(configuration: configuration)
        super.init()
        // Named, so that the completion of a report comes there, too, and not on a queue of the system.
        provider.setDelegate(self, queue: .main)
    }

    private var service: CallService { callManager.service }

    /// Allows a number of calls to talk together.
    public func allowConference(of calls: Int) {
        let configuration = provider.configuration
        configuration.maximumCallsPerCallGroup = calls
        provider.configuration = configuration
    }

    public func reportIncomingCall(_ uuid: UUID, handle: String, completion: ((Error?) -> Void)? = nil) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: handle)
        provider.reportNewIncomingCall(with: uuid, update: update) { error in
            if let error = error {
                self.notes.insert("\(handle) was not let in: \(error)", at: 0)
            } else {
                self.callManager.calls.append(ActiveCall(uuid: uuid, handle: handle, outgoing: false, service: self.service))
                _ = self.service.ring(uuid)
            }
            completion?(error)
        }
    }

    // MARK: What the network did

    public func networkIsConnecting(_ uuid: UUID) { callManager.findCall(uuid)?.isConnecting = true }

    public func networkConnected(_ uuid: UUID) {
        guard let call = callManager.findCall(uuid) else { return }
        call.isConnecting = false
        call.isConnected = true
    }

    public func networkEnded(_ uuid: UUID, _ reason: CXCallEndedReason) {
        provider.reportCall(with: uuid, endedAt: nil, reason: reason)
        callManager.findCall(uuid)?.isConnected = false
        forget(uuid)
    }

    private func forget(_ uuid: UUID) { callManager.calls.removeAll { $0.uuid == uuid } }

    // MARK: What the system wants

    public func providerDidReset(_ provider: CXProvider) { callManager.calls.removeAll() }

    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        let call = ActiveCall(uuid: action.callUUID, handle: action.handle.value, outgoing: true, service: service)
        call.startingConnectionChanged = { call in
            if call.isConnecting { provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: call.startedConnectingOn) }
        }
        call.connectedChanged = { call in
            if call.isConnected { provider.reportOutgoingCall(with: call.uuid, connectedAt: call.connectedOn) }
        }
        call.startCall { success in
            guard success else { return action.fail() }
            action.fulfill()
            callManager.calls.append(call)
        }
    }

    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
        call.answerCall { success in success ? action.fulfill() : action.fail() }
    }

    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
        call.endCall { success in
            guard success else { return action.fail() }
            forget(call.uuid)
            action.fulfill()
        }
    }

    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
        service.setHeld(call.uuid, action.isOnHold) { _ in }
        call.isOnHold = action.isOnHold
        action.fulfill()
    }

    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        service.setMuted(action.callUUID, action.isMuted) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        service.play(action.digits, on: action.callUUID) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        service.group(action.callUUID, with: action.callUUIDToGroupWith) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
        notes.insert("It took too long to \(type(of: action))", at: 0)
    }

    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { _ = service.startAudio() }
    public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { service.stopAudio() }
}
