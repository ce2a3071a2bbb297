import Foundation
import Primitives
import Runtime
import Synchronization
import Workbench

/// One load of an agent, from its order to its end. Thread-safe.
final class AgentJob: Sendable {
    private struct State {
        var snapshot: LoadSnapshot?, figures = LoadFigures()
        var outcome: LiveLoad.Outcome?, end: AgentState.End?
        var asked: Instant
        /// The step to go back to; and how often that was done.
        var again: Int?, restarts = 0
    }

    /// The calls on this machine's sockets.
    let load: LiveLoad
    /// The target, for people.
    let target: String
    private let plan: LoadPlan
    private let findsKnee: Bool
    private let patience: Duration
    private let values: Mutex<State>

    /// Binds its sockets and begins to register. The first call waits.
    ///
    /// - Throws: a `Failure` in one line.
    init(_ order: AgentOrder, local: String?, patience: Duration) throws {
        self.patience = patience
        var options = try AgentArguments.options(order.arguments)
        options.phone.local = local
        let checked = try options.order(of: order.share)
        var plan = checked.plan
        plan.waitsForStart = true
        (self.plan, findsKnee, target) = (plan, checked.findsKnee, checked.targetText)
        values = Mutex(State(asked: MonotonicClock.now))
        do throws(LivePhoneError) { load = try LiveLoad(plan, settings: checked.settings) } catch {
            throw Failure.cannotRun(error.description)
        }
    }

    /// Runs it on a thread of its own.
    ///
    /// - Parameter whenOver: called there at its end.
    func begin(_ say: @escaping @Sendable (String) -> Void, whenOver: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            let outcome = load.run(every: .milliseconds(500)) { snapshot in
                note(snapshot)
                guard isForgotten else { return }
                say("nobody has asked about the load for \(patience.wholeMilliseconds / 1_000) s: it is given up")
                load.stop()
            }
            let end = AgentState.End(
                failure: outcome.failure, validity: outcome.validity(plan: plan, findsKnee: findsKnee), leaks: outcome.leaks,
                machine: .this,
                calls: outcome.calls.count, connections: outcome.connections)
            values.withLock { ($0.outcome, $0.end) = (outcome, end) }
            say("load: over, \(outcome.progress.begun.counted("call", "calls"))\(outcome.failure.map { ": \($0)" } ?? "")")
            whenOver()
        }
        thread.start()
    }

    /// On the run's thread, which may wait for the judge.
    private func note(_ snapshot: LoadSnapshot) {
        if let step = values.withLock({ $0.again }) {
            load.runAgain(step)
            values.withLock { ($0.again, $0.restarts) = (nil, $0.restarts + 1) }
        }
        let figures = load.figures
        values.withLock { ($0.snapshot, $0.figures) = (snapshot, figures) }
    }

    /// Goes back to a step of the plan, soon: the state tells when it has.
    func runAgain(_ step: Int) { values.withLock { $0.again = step } }

    var isOver: Bool { values.withLock { $0.end != nil } }
    /// Its orderer has been silent for too long.
    var isForgotten: Bool { values.withLock { MonotonicClock.now - $0.asked > patience } }

    /// Its orderer has left it.
    func forget() { values.withLock { $0.asked = .zero } }

    func noteAsked() { values.withLock { $0.asked = MonotonicClock.now } }

    /// For the orderer, who asks about every second.
    var state: AgentState {
        let now = values.withLock { $0 }
        let progress = now.outcome?.progress ?? now.snapshot?.progress ?? LoadProgress()
        let elapsed = now.outcome?.elapsed ?? now.snapshot?.elapsed
        return AgentState(
            progress: progress, elapsed: elapsed.map { Double($0.wholeMilliseconds) / 1_000 }, figures: now.outcome?.figures ?? now.figures,
            restarts: now.restarts, packetLateness: now.snapshot?.packetLateness.map { Double($0.wholeNanoseconds / 1_000) / 1_000 },
            end: now.end)
    }

    /// The figures of calls, when it is over.
    func calls(from first: Int) -> [CallFigures] {
        let calls = values.withLock { $0.outcome?.calls ?? [] }
        guard calls.indices.contains(first) else { return [] }
        return Array(calls[first...].prefix(AgentCallsWish.most))
    }
}
