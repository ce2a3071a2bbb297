import Dispatch
import Media
import Primitives
import Synchronization

/// Where the calls of a run are judged, one after the other, away from the lane, and their figures kept. Thread-safe.
final class LoadLedger: Sendable {
    struct State: Sendable {
        var tally = LoadTally()
        var steps: [Int: LoadTally] = [:]
        /// Of packets, by step of the plan.
        var stepLateness: [Int: Lateness] = [:]
        var calls: [CallFigures] = []
        var callsLeftOut = 0
        var before: MachineReading?
        var began: Instant?
        var failure: String?
    }

    /// What is kept of each call is about 1 kB.
    static let mostCalls = 100_000

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "judge")
    let finished = DispatchSemaphore(value: 0)

    func hear(_ event: LoadClient.Event, at now: Instant) {
        switch event {
        case .registered: break
        case .began:
            let reading = MachineReading.now
            state.withLock { ($0.before, $0.began) = (reading, now) }
        case .call(let call): queue.async { self.judge(call) }
        case .finished(let failure):
            state.withLock { $0.failure = failure }
            finished.signal()
        }
    }

    private func judge(_ call: LoadedCall) {
        let figures = CallJudge.figures(of: call)
        state.withLock { state in
            state.tally.add(figures)
            state.steps[figures.step, default: LoadTally()].add(figures)
            if state.calls.count < Self.mostCalls { state.calls.append(figures) } else { state.callsLeftOut += 1 }
        }
    }

    func note(_ lateness: Lateness, inStep step: Int) {
        if lateness.count > 0 { state.withLock { $0.stepLateness[step] = ($0.stepLateness[step] ?? Lateness()) + lateness } }
    }

    func read<Value>(_ look: (State) -> Value) -> Value { state.withLock { look($0) } }

    /// Everything that was heard until now is judged.
    func settle() -> State {
        queue.sync {}
        return state.withLock { $0 }
    }
}
