import CallApp
import CallKit
import Foundation
import HotlineCalls
import MonkeyCalls
import OFreeCalls
import Primitives

/// An app, as far as its network has to reach it.
protocol StageApp: AnyObject {
    func incoming(_ call: UUID, _ caller: AppCaller)
    func connecting(_ call: UUID)
    func connected(_ call: UUID)
    func ended(_ call: UUID, _ reason: CXCallEndedReason)
    func dial(_ handle: String)
}

/// The line of a stage, as the apps' code sees its network library.
final class StageLink: CallNetwork, CallService, Linkd, MediaLibrary {
    private unowned let stage: Stage
    init(_ stage: Stage) { self.stage = stage }
    func ring(_ call: UUID) -> Bool { stage.line.ring(call, at: stage.now) }
    func start(_ call: UUID, to handle: String) -> Bool { stage.line.start(call, to: handle, at: stage.now) }
    func answer(_ call: UUID) -> Bool { stage.line.answer(call, at: stage.now) }
    func end(_ call: UUID) -> Bool { stage.line.end(call, at: stage.now) }
    func reset() { stage.line.reset(at: stage.now) }
    func setHeld(_ call: UUID, _ isHeld: Bool, completion: @escaping @Sendable (Bool) -> Void) {
        stage.line.setHeld(call, isHeld, at: stage.now, completion: completion)
    }
    func setMuted(_ call: UUID, _ isMuted: Bool) -> Bool { stage.line.setMuted(call, isMuted, at: stage.now) }
    func play(_ digits: String, on call: UUID) -> Bool { stage.line.play(digits, on: call, at: stage.now) }
    func group(_ call: UUID, with other: UUID?) -> Bool { stage.line.group(call, with: other, at: stage.now) }
    func configAudio() -> Bool { stage.line.configAudio(at: stage.now) }
    func startAudio() -> Bool { stage.line.startAudio(at: stage.now) }
    func stopAudio() { stage.line.stopAudio(at: stage.now) }
    func releaseAudio() -> Bool { stage.line.releaseAudio(at: stage.now) }
}

final class HotlineApp: StageApp {
    let manager: HotlineCalls.CallManager
    let delegate: HotlineCalls.ProviderDelegate
    private(set) var errors: [(any Error)?] = []

    init(_ stage: Stage) {
        let link = StageLink(stage)
        (manager, delegate) = CallSystem.$current.withValue(stage.system) {
            let manager = CallManager(network: link)
            return (manager, HotlineCalls.ProviderDelegate(callManager: manager))
        }
        stage.app = self
    }

    func incoming(_ call: UUID, _ caller: AppCaller) {
        delegate.reportIncomingCall(uuid: call, handle: caller.handle) { [weak self] in self?.errors.append($0) }
    }
    func connecting(_ call: UUID) { delegate.networkRings(uuid: call) }
    func connected(_ call: UUID) { delegate.networkConnects(uuid: call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { delegate.networkEnds(uuid: call, reason: reason) }
    func dial(_ handle: String) { manager.startCall(handle: handle, videoEnabled: false) }
}

final class MonkeyApp: StageApp {
    let manager: ActiveCallManager
    let delegate: MonkeyCalls.ProviderDelegate
    private(set) var errors: [(any Error)?] = []

    init(_ stage: Stage, types: Set<CXHandle.HandleType> = [.phoneNumber]) {
        let link = StageLink(stage)
        (manager, delegate) = CallSystem.$current.withValue(stage.system) {
            let manager = ActiveCallManager(service: link)
            return (manager, MonkeyCalls.ProviderDelegate(callManager: manager, supportedHandleTypes: types))
        }
        stage.app = self
    }

    func incoming(_ call: UUID, _ caller: AppCaller) {
        delegate.reportIncomingCall(call, handle: caller.handle) { [weak self] in self?.errors.append($0) }
    }
    func connecting(_ call: UUID) { delegate.networkIsConnecting(call) }
    func connected(_ call: UUID) { delegate.networkConnected(call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { delegate.networkEnded(call, reason) }
    func dial(_ handle: String) { manager.startCall(handle) }
}

final class OFreeApp: StageApp {
    let controller: CallController
    private let box: Steps
    var steps: [String] { box.steps }

    private final class Steps { var steps: [String] = [] }

    init(_ stage: Stage) {
        let link = StageLink(stage), box = Steps()
        self.box = box
        controller = CallSystem.$current.withValue(stage.system) { CallController(link: link, media: link) { box.steps.append($0) } }
        stage.app = self
    }

    func incoming(_ call: UUID, _ caller: AppCaller) { controller.linkHasCall(call, from: caller.handle, isNumber: caller.isNumber) }
    func connecting(_ call: UUID) { controller.linkIsConnecting(call) }
    func connected(_ call: UUID) { controller.linkConnected(call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { controller.linkEnded(call, reason) }
    func dial(_ handle: String) { controller.startCall(to: handle) }
}

/// An app that is made for a test: it does what a good app does, but where the test wants otherwise, and writes down what it hears.
final class ProbeApp: NSObject, StageApp, CXProviderDelegate, CXCallObserverDelegate {
    let stage: Stage
    let link: StageLink
    let provider: CXProvider
    private(set) var heard: [String] = []
    private(set) var errors: [(any Error)?] = []
    /// Called in place of what it would do with an action.
    var instead: [ObjectIdentifier: (CXCallAction) -> Void] = [:]
    /// Set where it is to report in another way, or not.
    var onIncoming: ((UUID, AppCaller) -> Void)?
    var onEnded: ((UUID, CXCallEndedReason) -> Void)?
    var onConnected: ((UUID) -> Void)?
    var onActivate: (() -> Void)?
    var onExecute: ((CXTransaction) -> Bool)?
    var update: (CXCallUpdate) -> Void = { _ in }

    init(_ stage: Stage, _ configure: (CXProviderConfiguration) -> Void = { _ in }) {
        self.stage = stage
        link = StageLink(stage)
        let configuration = CXProviderConfiguration()
        configuration.supportedHandleTypes = [.generic, .phoneNumber]
        configure(configuration)
        provider = CXProvider(configuration: configuration, system: stage.system)
        super.init()
        provider.setDelegate(self, queue: nil)
        stage.app = self
    }

    func does<Action: CXCallAction>(_ type: Action.Type, _ work: @escaping (Action) -> Void) {
        instead[ObjectIdentifier(type)] = { if let action = $0 as? Action { work(action) } }
    }

    func report(_ call: UUID, _ caller: AppCaller) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: caller.isNumber ? .phoneNumber : .generic, value: caller.handle)
        update.localizedCallerName = caller.name
        self.update(update)
        provider.hookswitchReport(call, update: update) { [self] error in
            errors.append(error)
            if error == nil { _ = link.ring(call) }
        }
    }

    func incoming(_ call: UUID, _ caller: AppCaller) { onIncoming?(call, caller) ?? report(call, caller) }
    func connecting(_ call: UUID) { provider.reportOutgoingCall(with: call, startedConnectingAt: nil) }
    func connected(_ call: UUID) { onConnected?(call) ?? provider.reportOutgoingCall(with: call, connectedAt: nil) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) {
        onEnded?(call, reason) ?? provider.reportCall(with: call, endedAt: nil, reason: reason)
    }
    func dial(_ handle: String) { stage.request(CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: handle))) }

    func hear(_ word: String) { heard.append(word) }

    private func perform<Action: CXCallAction>(_ name: String, _ action: Action, _ usual: (Action) -> Void) {
        hear(name)
        if let work = instead[ObjectIdentifier(Action.self)] { work(action) } else { usual(action) }
    }

    private func finish(_ action: CXCallAction, _ done: Bool) { done ? action.fulfill() : action.fail() }

    func providerDidReset(_ provider: CXProvider) { hear("reset") }
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
        hear("execute \(transaction.actions.count)")
        return onExecute?(transaction) ?? false
    }
    /// Does with the actions of a transaction what it does when it is asked for them one by one.
    func perform(_ transaction: CXTransaction) {
        for action in transaction.actions {
            switch action {
            case let action as CXStartCallAction: provider(provider, perform: action)
            case let action as CXAnswerCallAction: provider(provider, perform: action)
            case let action as CXEndCallAction: provider(provider, perform: action)
            case let action as CXSetHeldCallAction: provider(provider, perform: action)
            case let action as CXSetMutedCallAction: provider(provider, perform: action)
            case let action as CXPlayDTMFCallAction: provider(provider, perform: action)
            case let action as CXSetGroupCallAction: provider(provider, perform: action)
            default: break
            }
        }
    }
    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        perform("start", action) { finish($0, link.start($0.callUUID, to: $0.handle.value)) }
    }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        perform("answer", action) { finish($0, link.answer($0.callUUID)) }
    }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform("end", action) { finish($0, link.end($0.callUUID)) } }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        perform(action.isOnHold ? "hold" : "resume", action) { action in
            link.setHeld(action.callUUID, action.isOnHold) { $0 ? action.fulfill() : action.fail() }
        }
    }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        perform("mute", action) { finish($0, link.setMuted($0.callUUID, $0.isMuted)) }
    }
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        perform("group", action) { finish($0, link.group($0.callUUID, with: $0.callUUIDToGroupWith)) }
    }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        perform("tones", action) { finish($0, link.play($0.digits, on: $0.callUUID)) }
    }
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { hear("timed out") }
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        hear("activate")
        if let onActivate { onActivate() } else { _ = link.startAudio() }
    }
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { hear("deactivate") }
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        hear("sees " + (call.hasEnded ? "ended" : call.isOnHold ? "held" : call.hasConnected ? "connected" : "new"))
    }
}

extension Stage {
    /// An incoming call that is up. Its UUID, and the far end's side of it.
    @discardableResult
    func takeCall(from user: String = "2001") -> (uuid: UUID, far: FarCall) {
        let far = ring(from: user).far, uuid = calls.last!
        request(CXAnswerCallAction(call: uuid))
        run(0.2)
        return (uuid, far)
    }

    /// An incoming call that rings.
    @discardableResult
    func ring(from user: String = "2001") -> (uuid: UUID, far: FarCall) {
        let call = far.call(from: .init(user))
        run(0.1)
        return (calls.last ?? UUID(), call)
    }

    /// An outgoing call that is up.
    func makeCall(_ handle: String = "2002") -> (uuid: UUID, far: FarCall) {
        far.onInvite = {
            $0.ring()
            $0.answer()
        }
        dial(handle)
        run(0.2)
        return (calls.last ?? UUID(), far.calls.last!)
    }

    func end(_ call: UUID) { request(CXEndCallAction(call: call)) }
    func hold(_ call: UUID, _ isHeld: Bool = true) { request(CXSetHeldCallAction(call: call, onHold: isHeld)) }
}
