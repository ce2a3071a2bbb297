import Dispatch
import Media
import Primitives
import Runtime
import Synchronization

/// The judge of the calls of a run: it judges one after the other, away from the lane, and keeps their figures. Thread-safe.
final class LoadLedger: Sendable {
    struct State: Sendable {
        var tally = LoadTally()
        var judge = StepJudge()
        /// By what happened in the window of each that is over.
        var steps: [Int: LoadTally] { judge.steps }
        /// Steps whose windows are over, judged or not; and the first of them in which the tool did not begin all its calls.
        var stepsOver = 0
        var firstNotOffered: Int?
        /// The lateness of packets, and of calls, by step of the plan.
        var stepLateness: [Int: Lateness] = [:], stepCallLateness: [Int: Lateness] = [:]
        /// Number of times that the window of each step has closed.
        var attempts: [Int: Int] = [:]
        var punctuality = Punctuality()
        var calls: [CallFigures] = []
        var callsLeftOut = 0
        /// Calls that have their trace.
        var callsWithTrace = 0
        var before: MachineReading?
        var began: Instant?
        var failure: String?

        /// The window of a step is over. Whether it could be offered needs no judge.
        mutating func close(_ reading: StepReading) {
            stepsOver += 1
            attempts[reading.window.step, default: 0] += 1
            stepCallLateness[reading.window.step] = reading.lateness
            if reading.notBegun > 0, firstNotOffered == nil { firstNotOffered = reading.window.step }
        }

        /// Whether a failure in the step may be the tool's own fault.
        func isToolLate(in step: Int) -> Bool {
            let packets = stepLateness[step].flatMap { Validity.Late($0) }, calls = stepCallLateness[step].flatMap { Validity.Late($0) }
            return packets?.text("packet", from: Validity.greatestPacketLateness) != nil
                || calls?.text("call", from: Validity.greatestCallLateness) != nil
        }

        /// Forgets what is known of a step, and of those that were begun after it: it is run again.
        mutating func forget(from step: Int) {
            judge.forget(from: step)
            stepsOver = steps.count
            for later in Set(stepLateness.keys).union(attempts.keys) where later >= step {
                (stepLateness[later], stepCallLateness[later]) = (nil, nil)
                if later > step { attempts[later] = nil }
            }
        }
    }

    /// The most calls whose figures are kept; each takes about 1 kB.
    static let mostCalls = 100_000
    /// The trace of one is another kilobyte each.
    static let mostCallsWithTrace = 200

    private let state = Mutex(State())
    private let queue: BackgroundQueue
    let finished = DispatchSemaphore(value: 0)
    private let judgesSteps: Bool

    init(judgesSteps: Bool) throws(LivePhoneError) {
        self.judgesSteps = judgesSteps
        do throws(PollerError) { queue = try BackgroundQueue(name: "judge") } catch { throw .media(error) }
    }

    func hear(_ event: LoadClient.Event, at now: Instant) {
        switch event {
        case .registered, .registrationFailed, .leg: break
        case .began:
            let reading = MachineReading.now
            state.withLock { ($0.before, $0.began) = (reading, now) }
        case .call(let call): queue.async { self.judge(call) }
        case .step(let reading):
            state.withLock { $0.close(reading) }
            queue.async { self.state.withLock { $0.judge.close(reading) } }
        case .finished(let failure):
            state.withLock { $0.failure = failure }
            finished.signal()
        }
    }

    private func judge(_ call: LoadedCall) {
        var figures = CallJudge.figures(of: call)
        if figures.isBad, state.withLock({ $0.callsWithTrace < Self.mostCallsWithTrace }) { figures.trace = CallTraceStep.all(of: call) }
        state.withLock { state in
            if figures.trace != nil { state.callsWithTrace += 1 }
            state.tally.add(figures)
            if judgesSteps, let began = state.began { state.judge.add(figures, ended: call.caller.ended - began) }
            if state.calls.count < Self.mostCalls { state.calls.append(figures) } else { state.callsLeftOut += 1 }
        }
    }

    /// The step is run again.
    func forget(from step: Int) {
        queue.wait()
        state.withLock { $0.forget(from: step) }
    }

    func note(_ lateness: Lateness, inStep step: Int, calls: Int, streams: Int) {
        guard lateness.count > 0 else { return }
        state.withLock { state in
            state.stepLateness[step] = (state.stepLateness[step] ?? Lateness()) + lateness
            state.punctuality.note(lateness, calls: calls, streams: streams)
        }
    }

    func read<Value>(_ look: (State) -> Value) -> Value { state.withLock { look($0) } }

    /// Everything that was heard until now is judged, by this thread where the machine leaves none to the judge.
    func settle() -> State {
        queue.wait()
        return state.withLock { $0 }
    }
}
