import CallApp
import CallKit
import Foundation

// The vendor's SDK as the app's code names it, over a SIP line. In the place of the vendor's framework, on Linux alone.

public protocol VoiceClientDelegate: AnyObject {
    func voiceClient(_ client: VoiceClient, didReceive invite: CallInvite)
    func voiceClient(_ client: VoiceClient, didCancel invite: CallInvite)
}

public protocol VoiceCallDelegate: AnyObject {
    func callDidStartRinging(_ call: VoiceCall)
    func callDidConnect(_ call: VoiceCall)
    func callDidDisconnect(_ call: VoiceCall, failed: Bool)
}

public final class VoiceClient: @unchecked Sendable {
    public weak var delegate: VoiceClientDelegate?
    private(set) var line: LiveAppLine?
    private var invites: [UUID: CallInvite] = [:], calls: [UUID: VoiceCall] = [:]

    public init() {}

    public func register(_ settings: LiveAppSettings) throws {
        var settings = settings
        settings.startsAudio = false   // AudioDevice.isEnabled does it
        line = try LiveAppLine(settings, system: .shared) { [unowned self] in hear($0) }
    }

    public func connect(_ uuid: UUID, to number: String, delegate: VoiceCallDelegate) -> VoiceCall? {
        line?.start(uuid, to: number) == true ? makeCall(uuid, delegate) : nil
    }

    func accept(_ invite: CallInvite, _ delegate: VoiceCallDelegate) -> VoiceCall? {
        invites[invite.uuid] = nil
        return line?.answer(invite.uuid) == true ? makeCall(invite.uuid, delegate) : nil
    }

    private func makeCall(_ uuid: UUID, _ delegate: VoiceCallDelegate) -> VoiceCall {
        let call = VoiceCall(uuid, self, delegate)
        calls[uuid] = call
        return call
    }

    private func hear(_ event: AppLineEvent) {
        switch event {
        case .incoming(let uuid, let caller):
            let invite = CallInvite(uuid: uuid, from: caller.handle, client: self)
            invites[uuid] = invite
            delegate?.voiceClient(self, didReceive: invite)
        case .connecting(let uuid): calls[uuid].map { $0.delegate?.callDidStartRinging($0) }
        case .connected(let uuid): calls[uuid].map { $0.delegate?.callDidConnect($0) }
        case .ended(let uuid, let reason):
            if let invite = invites.removeValue(forKey: uuid) { delegate?.voiceClient(self, didCancel: invite) }
            if let call = calls.removeValue(forKey: uuid) { call.delegate?.callDidDisconnect(call, failed: reason == .failed) }
        default: break
        }
    }
}

public struct CallInvite {
    public let uuid: UUID, from: String
    let client: VoiceClient
    public func accept(_ delegate: VoiceCallDelegate) -> VoiceCall? { client.accept(self, delegate) }
    public func reject() { client.line?.end(uuid) }
}

public final class VoiceCall {
    public let uuid: UUID
    weak var delegate: VoiceCallDelegate?
    private let client: VoiceClient
    init(_ uuid: UUID, _ client: VoiceClient, _ delegate: VoiceCallDelegate) {
        (self.uuid, self.client, self.delegate) = (uuid, client, delegate)
    }
    public var isMuted = false { didSet { client.line?.setMuted(uuid, isMuted) } }
    public var isOnHold = false { didSet { client.line?.setHeld(uuid, isOnHold) } }
    public func sendDigits(_ digits: String) { _ = client.line?.play(digits, on: uuid) }
    public func disconnect() { client.line?.end(uuid) }
}

public final class AudioDevice {
    let client: VoiceClient
    public init(of client: VoiceClient) { self.client = client }
    public var isEnabled = false { didSet { if isEnabled { client.line?.startAudio() } else { client.line?.stopAudio() } } }
}
