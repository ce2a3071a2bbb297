import CallKit
import Intents
import PushKit
import UIKit

// A second app: starts from URLs, activities and pushes, and looks at errors closely. Names differ from the first app's
// only where one module cannot hold both.

struct StartCallRequest {
    let handle: String
    let type: CXHandle.HandleType
    let video: Bool

    init?(url: URL) {
        guard url.scheme == "monkeycall", let host = url.host else { return nil }
        (handle, type, video) = (host, .generic, false)
    }

    init?(activity: NSUserActivity) {
        let contact: INPerson?
        switch activity.interaction?.intent {
        case let intent as INStartAudioCallIntent:
            (contact, video) = (intent.contacts?.first, false)
        case let intent as INStartVideoCallIntent:
            (contact, video) = (intent.contacts?.first, true)
        case let intent as INStartCallIntent:
            (contact, video) = (intent.contacts?.first, intent.callCapability == .videoCall)
        default: return nil
        }
        guard let personHandle = contact?.personHandle, let value = personHandle.value else { return nil }
        handle = value
        switch personHandle.type {
        case .emailAddress: type = .emailAddress
        case .phoneNumber: type = .phoneNumber
        case .unknown: type = .generic
        @unknown default: type = .generic
        }
    }
}

class MonkeyCallManager: NSObject, CXCallObserverDelegate {
    let controller = CXCallController(queue: .main)
    let observer = CXCallObserver()
    var seen: [String] = []
    static var lastError: Error?

    override init() {
        super.init()
        observer.setDelegate(self, queue: nil)
    }

    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        seen.append(call.hasEnded ? "ended" : call.hasConnected ? "connected" : call.isOnHold ? "held" : "appeared")
    }

    func startCall(_ request: StartCallRequest, completion: @escaping () -> Void) {
        let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: request.type, value: request.handle))
        action.isVideo = request.video
        action.contactIdentifier = "monkey"
        controller.requestTransaction(with: action) { error in
            MonkeyCallManager.lastError = error
            self.seen.append("requested")
            completion()
        }
    }

    func endAll(of provider: CXProvider) async throws {
        for call in observer.calls {
            try await controller.requestTransaction(with: CXEndCallAction(call: call.uuid))
        }
    }
}

class MonkeyProviderDelegate: NSObject, CXProviderDelegate, PKPushRegistryDelegate {
    static var shared: MonkeyProviderDelegate?
    let provider: CXProvider
    var pushes: [String] = []
    var performed: [String] = []

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.maximumCallsPerCallGroup = 1
        configuration.maximumCallGroups = 1
        configuration.supportedHandleTypes = [.generic]
        configuration.ringtoneSound = "musicloop01.wav"
        configuration.iconTemplateImageData = UIImage(named: "telephone_receiver")?.pngData()
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: DispatchQueue(label: "monkey"))
        MonkeyProviderDelegate.shared = self
    }

    func providerDidReset(_ provider: CXProvider) { performed.removeAll() }
    func providerDidBegin(_ provider: CXProvider) { performed.append("begin") }

    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
        performed.append("execute \(transaction.actions.count)")
        return false
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        performed.append("start \(action.handle.value)")
        action.fulfill(withDateStarted: Date())
        provider.reportOutgoingCall(with: action.callUUID, startedConnectingAt: Date())
        provider.reportOutgoingCall(with: action.callUUID, connectedAt: Date())
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        performed.append("end")
        action.fulfill(withDateEnded: Date())
    }

    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        performed.append("\(action.digits) \(action.type == .singleTone)")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { performed.append("timed out") }

    /// What a user is told about an incoming call that was not let in.
    static func explanation(of error: Error?) -> String {
        guard let nsError = error as NSError? else { return "none" }
        guard nsError.domain == CXErrorDomainIncomingCall else { return "other" }
        switch CXErrorCodeIncomingCallError.Code(rawValue: nsError.code) {
        case .filteredByBlockList?: return "blocked"
        case .filteredByDoNotDisturb?: return "do not disturb"
        case .callUUIDAlreadyExists?: return "again"
        default: return "unknown"
        }
    }

    func report(_ uuid: UUID, from handle: String) async -> String {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: handle)
        do {
            try await provider.reportNewIncomingCall(with: uuid, update: update)
            return "rings"
        } catch CXErrorCodeIncomingCallError.filteredByBlockList {
            return "blocked"
        } catch let error as CXErrorCodeIncomingCallError where error.code == .filteredByDoNotDisturb {
            return "do not disturb"
        } catch {
            return MonkeyProviderDelegate.explanation(of: error)
        }
    }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        pushes.append(pushCredentials.token.map { String(format: "%02x", $0) }.joined())
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        guard type == .voIP, let handle = payload.dictionaryPayload["handle"] as? String else { return completion() }
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: handle)
        provider.reportNewIncomingCall(with: UUID(), update: update) { error in
            self.pushes.append("\(handle) \(error == nil)")
            completion()
        }
    }
}

class MonkeyAppDelegate: UIResponder, UIApplicationDelegate {
    lazy var manager = MonkeyCallManager()
    lazy var delegate = MonkeyProviderDelegate()

    func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any] = [:]) -> Bool {
        guard let request = StartCallRequest(url: url) else { return false }
        _ = delegate
        manager.startCall(request) {}
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard let request = StartCallRequest(activity: userActivity) else { return false }
        manager.startCall(request) {}
        return true
    }
}
