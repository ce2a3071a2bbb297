import CallKit
import Dispatch
import Foundation
import Primitives
import RTP
import Runtime

/// The figures of a run when it is over.
public struct SampleFigures: Sendable {
    public var calls = 0, connected = 0
    /// Milliseconds from the user's answer to the first packet of sound, and from the user's hang-up to the last closed socket.
    public var answerToFirstPacket: [Double] = [], hangUpToClosed: [Double] = []
}

/// The user of a sample app, with the screen of the telephone in hand: everything goes through the system, as a finger's tap does.
@MainActor final class ScriptedUser: NSObject {
    private let options: SampleOptions
    private let system: CallSystem
    private let controller: CXCallController
    private let observer: CXCallObserver
    private let teller: SampleTeller
    private let onConnected: () -> Void
    private let onDone: () -> Void
    private(set) var figures = SampleFigures()
    private var seen: [UUID: Stage] = [:]
    private var order: [UUID] = []
    private var answeredAt: [UUID: Instant] = [:], hungUpAt: [UUID: Instant] = [:]
    private var unreleased: Set<UUID> = []

    private enum Stage { case appeared, connected, ended }

    init(
        _ options: SampleOptions, system: CallSystem, teller: SampleTeller, onConnected: @escaping () -> Void, onDone: @escaping () -> Void
    ) {
        (self.options, self.system, self.teller, self.onConnected, self.onDone) = (options, system, teller, onConnected, onDone)
        (controller, observer) = (CXCallController(system: system), CXCallObserver(system: system))
        super.init()
        observer.setDelegate(Watcher.shared(self), queue: nil)
    }

    /// Hears of calls on the main queue.
    private final class Watcher: NSObject, CXCallObserverDelegate, @unchecked Sendable {
        private weak var user: ScriptedUser?
        nonisolated(unsafe) private static var kept: Watcher?

        static func shared(_ user: ScriptedUser) -> Watcher {
            let watcher = Watcher()
            watcher.user = user
            kept = watcher
            return watcher
        }

        func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) { MainActor.assumeIsolated { user?.sees(call) } }
    }

    private func sees(_ call: CXCall) {
        if seen[call.uuid] == nil { appeared(call) }
        if call.hasEnded { return ended(call.uuid) }
        if call.hasConnected, seen[call.uuid] == .appeared { connected(call.uuid) }
    }

    private func appeared(_ call: CXCall) {
        seen[call.uuid] = .appeared
        order.append(call.uuid)
        unreleased.insert(call.uuid)
        figures.calls += 1
        teller.say(call.isOutgoing ? "calling" : "ringing", ["call": call.uuid.uuidString])
        guard !call.isOutgoing else { return }
        let uuid = call.uuid
        if let delay = options.declineAfter { after(Double(delay) / 1_000) { [unowned self] in hangUp(uuid) } }
        if let delay = options.answerAfter { after(Double(delay) / 1_000) { [unowned self] in answer(uuid) } }
    }

    /// With another call up it is held or ended first, in the same transaction.
    private func answer(_ call: UUID) {
        guard seen[call] == .appeared else { return }
        answeredAt[call] = MonotonicClock.now
        let active = system.calls.filter { $0.hasConnected && !$0.isOnHold && $0.uuid != call }.map(\.uuid)
        let before: [CXAction] = active.map {
            options.waiting == .hold ? CXSetHeldCallAction(call: $0, onHold: true) : CXEndCallAction(call: $0)
        }
        request(before + [CXAnswerCallAction(call: call)])
    }

    private func connected(_ call: UUID) {
        seen[call] = .connected
        figures.connected += 1
        teller.say("connected", ["call": call.uuidString])
        let isFirst = figures.connected == 1
        if isFirst { onConnected() }
        if !isFirst, options.conference { join(call) }
        if isFirst, let delay = options.holdAfter {
            after(delay) { [unowned self] in hold(call, true) }
            if let rest = options.resumeAfter { after(delay + rest) { [unowned self] in hold(call, false) } }
        }
        if let digits = options.dtmf { after(0.5) { [unowned self] in press(digits, on: call) } }
        if let delay = options.muteAfter {
            after(delay) { [unowned self] in ifUp(call) { request([CXSetMutedCallAction(call: call, muted: true)]) } }
        }
        if let delay = options.endAfter { after(delay) { [unowned self] in hangUp(call) } }
    }

    private func join(_ call: UUID) {
        guard let first = order.first(where: { seen[$0] == .connected && $0 != call }) else { return }
        request([CXSetGroupCallAction(call: call, callUUIDToGroupWith: first), CXSetHeldCallAction(call: first, onHold: false)])
    }

    private func hold(_ call: UUID, _ isHeld: Bool) { ifUp(call) { request([CXSetHeldCallAction(call: call, onHold: isHeld)]) } }

    private func press(_ digits: String, on call: UUID) {
        ifUp(call) { request([CXPlayDTMFCallAction(call: call, digits: digits, type: .singleTone)]) }
    }

    private func hangUp(_ call: UUID) {
        guard let stage = seen[call], stage != .ended else { return }
        hungUpAt[call] = MonotonicClock.now
        teller.step("end requested")
        request([CXEndCallAction(call: call)])
    }

    func hangUpAll() { for call in system.calls { hangUp(call.uuid) } }

    private func ended(_ call: UUID) {
        guard seen[call] != .ended else { return }
        seen[call] = .ended
        teller.say("ended", ["call": call.uuidString])
    }

    /// CallKit shows nobody a call whose start failed.
    func couldNotCall(_ call: UUID) { seen[call] = .ended }

    // MARK: What the stopwatch says

    func firstPacket(of call: UUID, at time: Instant) {
        guard let start = answeredAt.removeValue(forKey: call) else { return }
        figures.answerToFirstPacket.append((time - start) / .milliseconds(1))
    }

    func released(_ call: UUID, at time: Instant) {
        if let start = hungUpAt.removeValue(forKey: call) { figures.hangUpToClosed.append((time - start) / .milliseconds(1)) }
        unreleased.remove(call)
        // The observer's last word may still be on its way.
        after(0.05) { [unowned self] in finishIfDone() }
    }

    private func finishIfDone() {
        let over = seen.values.count { $0 == .ended }
        if system.calls.isEmpty, unreleased.isEmpty, options.calls.map({ over >= $0 }) ?? (options.call != nil) { onDone() }
    }

    // MARK: Means

    private func request(_ actions: [CXAction]) {
        let teller = teller
        controller.request(CXTransaction(actions: actions)) { error in
            if let error { DispatchQueue.main.async { MainActor.assumeIsolated { teller.say("refused", ["error": "\(error)"]) } } }
        }
    }

    private func ifUp(_ call: UUID, _ work: () -> Void) { if seen[call] == .connected { work() } }

    private func after(_ seconds: Double, _ work: @escaping @MainActor () -> Void) {
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { MainActor.assumeIsolated(work) }
    }
}
