import AVFoundation
import CallKit
import Foundation

/// The app's call code, as it is on a telephone: between CallKit and the vendor's SDK.
final class CallManager: NSObject, CXProviderDelegate, VoiceClientDelegate, VoiceCallDelegate {
    let client = VoiceClient()
    private lazy var audioDevice = AudioDevice(of: client)
    private let provider: CXProvider
    private let controller = CXCallController()
    private var invites: [UUID: CallInvite] = [:], calls: [UUID: VoiceCall] = [:]

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.supportedHandleTypes = [.phoneNumber]
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
        client.delegate = self
    }

    func startCall(to number: String) {
        let start = CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: number))
        controller.request(CXTransaction(action: start)) { error in if let error { print("not started: \(error)") } }
    }

    // MARK: The SDK

    func voiceClient(_ client: VoiceClient, didReceive invite: CallInvite) {
        invites[invite.uuid] = invite
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: invite.from)
        provider.reportNewIncomingCall(with: invite.uuid, update: update) { error in
            if error != nil { invite.reject() }
        }
    }

    func voiceClient(_ client: VoiceClient, didCancel invite: CallInvite) {
        invites[invite.uuid] = nil
        provider.reportCall(with: invite.uuid, endedAt: nil, reason: .remoteEnded)
    }

    func callDidStartRinging(_ call: VoiceCall) { provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: nil) }
    func callDidConnect(_ call: VoiceCall) { provider.reportOutgoingCall(with: call.uuid, connectedAt: nil) }

    func callDidDisconnect(_ call: VoiceCall, failed: Bool) {
        guard calls.removeValue(forKey: call.uuid) != nil else { return }
        provider.reportCall(with: call.uuid, endedAt: nil, reason: failed ? .failed : .remoteEnded)
    }

    // MARK: CallKit

    func providerDidReset(_ provider: CXProvider) {
        for call in calls.values { call.disconnect() }
        calls = [:]
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        calls[action.callUUID] = client.connect(action.callUUID, to: action.handle.value, delegate: self)
        calls[action.callUUID] == nil ? action.fail() : action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        calls[action.callUUID] = invites.removeValue(forKey: action.callUUID)?.accept(self)
        calls[action.callUUID] == nil ? action.fail() : action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        invites.removeValue(forKey: action.callUUID)?.reject()
        calls.removeValue(forKey: action.callUUID)?.disconnect()
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        calls[action.callUUID]?.isOnHold = action.isOnHold
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        calls[action.callUUID]?.isMuted = action.isMuted
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        calls[action.callUUID]?.sendDigits(action.digits)
        action.fulfill()
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { audioDevice.isEnabled = true }
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { audioDevice.isEnabled = false }
}
