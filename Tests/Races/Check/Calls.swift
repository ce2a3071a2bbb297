import CallKit
import Dispatch
import Foundation
import Primitives

/// A call system on Dispatch queues: several threads report, request, read and reset, and the delegate has a queue of its own.
func raceCalls(_ run: Run) -> [Figure] {
    var configuration = CallSystemConfiguration()
    configuration.ringTimeout = .milliseconds(300)
    let app = App(CallSystem(configuration: configuration, host: QueueHost()))
    onThreads(4) { number in
        var random = run.random(number)
        while !run.isOver { app.oneCall(&random) }
    }
    app.system.reset()
    app.queue.sync {}
    return app.figures
}

/// Its plain counts are touched on its queue alone, and by the journal, which is told by one thread at a time.
private final class App: NSObject, CXProviderDelegate, CXCallObserverDelegate, CallSystemJournal, @unchecked Sendable {
    let queue = DispatchQueue(label: "app")
    let system: CallSystem
    private let provider: CXProvider
    private let controller: CXCallController
    private var performed = 0, changes = 0, sessions = 0
    private var journalled = 0
    private let completions = Tally(), resets = Tally(), snapshots = Tally()

    init(_ system: CallSystem) {
        self.system = system
        let configuration = CXProviderConfiguration()
        (configuration.maximumCallGroups, configuration.maximumCallsPerCallGroup) = (100, 5)
        provider = CXProvider(configuration: configuration, system: system)
        controller = CXCallController(system: system)
        super.init()
        system.journal = self
        controller.callObserver.setDelegate(self, queue: queue)
        provider.setDelegate(self, queue: queue)
    }

    var figures: [Figure] {
        queue.sync {
            [
                ("completions", completions.count), ("actions performed", performed), ("changes of calls", changes),
                ("audio sessions", sessions), ("resets", resets.count), ("snapshots", snapshots.count), ("events", journalled),
            ]
        }
    }

    /// From the first report to the end, with something of everything in between.
    func oneCall(_ random: inout SeededRandom) {
        let call = UUID(), draw = Int.random(in: 0..<100, using: &random)
        if draw % 4 == 0 {
            request(CXStartCallAction(call: call, handle: CXHandle(type: .phoneNumber, value: "2001")))
            provider.reportOutgoingCall(with: call, connectedAt: nil)
        } else {
            whenDone { done in provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { _ in done() } }
            request(CXAnswerCallAction(call: call))
        }
        change(call, draw)
        look(at: call)
        if draw < 2 {
            system.reset()
            resets.add()
        }
        if draw % 2 == 0 { request(CXEndCallAction(call: call)) }
        provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
    }

    private func change(_ call: UUID, _ draw: Int) {
        let update = CXCallUpdate()
        update.localizedCallerName = "Number \(draw)"
        provider.reportCall(with: call, updated: update)
        if draw % 3 == 0 { request(CXSetHeldCallAction(call: call, onHold: true)) }
        if draw % 5 == 0 { request(CXSetMutedCallAction(call: call, muted: true)) }
        if draw % 7 == 0 { request(CXPlayDTMFCallAction(call: call, digits: "12", type: .singleTone)) }
    }

    private func look(at call: UUID) {
        let isKnown = system.call(call) != nil, all = controller.callObserver.calls.count + provider.pendingTransactions.count
        snapshots.add(isKnown || all > 0 || system.counts.calls > 0 ? 1 : 0)
    }

    private func request(_ action: CXAction) { whenDone { done in controller.request(CXTransaction(action: action)) { _ in done() } } }

    private func whenDone(_ begin: (_ done: @escaping @Sendable () -> Void) -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        begin { [completions] in
            completions.add()
            semaphore.signal()
        }
        semaphore.wait()
    }

    private func perform(_ action: CXCallAction) {
        performed += 1
        // Some run into their deadlines, and the reset ends them.
        if performed % 50 != 0 { action.fulfill() }
    }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) { journalled += 1 }
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) { changes += call.hasEnded ? 2 : 1 }
    func providerDidReset(_ provider: CXProvider) { performed += 1 }
    func provider(_ provider: CXProvider, perform action: CXStartCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { perform(action) }
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { sessions += 1 }
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { sessions += 1 }
}
