import AVFoundation
import CallKit

/// The bridge between the system and OFree's link and media library.
public class ProviderDelegate: NSObject, CXProviderDelegate {
    public let provider: CXProvider
    public let sdk: MediaSDK
    private let link: Linkd
    private let log: (String) -> Void

    /// Made once, for all providers there may ever be.
    public static let configuration: CXProviderConfiguration = {
        let configuration = CXProviderConfiguration(localizedName: "OFree")
        configuration.supportedHandleTypes = [.generic, .phoneNumber]
        return configuration
    }()

    init(link: Linkd, media: MediaSDK, log: @escaping (String) -> Void) {
        (self.link, sdk, self.log) = (link, media, log)
        provider = CXProvider(configuration: ProviderDelegate.configuration)
        super.init()
        // Named, so that the completion of a report comes there, too, and not on a queue of the system.
        provider.setDelegate(self, queue: .main)
    }

    func reportIncoming(_ uuid: UUID, handle: CXHandle) {
        sdk.prepare(for: uuid)
        let update = CXCallUpdate()
        update.remoteHandle = handle
        provider.reportNewIncomingCall(with: uuid, update: update) { [link] error in
            if error == nil { _ = link.ring(uuid) }
        }
    }

    /// The link has lost the call; nothing more comes for it from the system but didDeactivate.
    func reportEnded(_ uuid: UUID, _ reason: CXCallEndedReason) {
        provider.reportCall(with: uuid, endedAt: nil, reason: reason)
        letGo(of: uuid)
    }

    private func letGo(of call: UUID) {
        _ = sdk.releaseAudio()
        if sdk.preparedCall == call { sdk.unprepare() }
    }

    // MARK: CXProviderDelegate

    public func providerDidReset(_ provider: CXProvider) {
        sdk.stopAudio()
        link.reset()
        sdk.unprepare()
    }

    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        log("performStart")
        sdk.prepare(for: action.callUUID)
        guard sdk.configAudio(), link.start(action.callUUID, to: action.handle.value) else { return action.fail() }
        action.fulfill()
    }

    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        log("performAnswer")
        link.answer(action.callUUID) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        log("performEnd")
        _ = link.end(action.callUUID)
        letGo(of: action.callUUID)
        action.fulfill()
    }

    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        link.setHeld(action.callUUID, action.isOnHold) { done in done ? action.fulfill() : action.fail() }
    }

    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        link.setMuted(action.callUUID, action.isMuted) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        link.play(action.digits, on: action.callUUID) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        link.group(action.callUUID, with: action.callUUIDToGroupWith) ? action.fulfill() : action.fail()
    }

    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        log("didActivate")
        guard let call = sdk.preparedCall, !(sdk.configAudio() && sdk.startAudio()) else { return }
        reportEnded(call, .failed)
    }

    public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { log("didDeactivate") }
}
