import Dispatch
import Foundation
import Primitives
import Runtime
import Synchronization
import Workbench

/// A load that other machines make: orders its parts, begins them together, adds up what they tell, and searches for the knee over all of them.
///
/// Thread-safe; `run` is for one thread.
final class AgentsLoad: LoadRunner {
    /// The time in which all that is to be registered has to be.
    private static let registrationTime = Duration.seconds(120)

    private let agents: [AgentWatch]
    private let level: ServiceLevel?
    private let patience: Duration
    private let isStopped = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    /// Gives each agent its order; they begin to register, and to call when `run` says so.
    ///
    /// - Parameters:
    ///   - arguments: of `load`, for the agents.
    ///   - level: of a search for the knee; nil: none is searched for.
    ///   - patience: an agent that does not answer for so long is lost.
    /// - Throws: a `Failure` in one line, with no agent left that has a load.
    init(_ links: [AgentLink], arguments: [String], endingWhenBroken level: ServiceLevel?, patience: Duration = .seconds(15)) throws {
        (agents, self.level, self.patience) = (links.map(AgentWatch.init), level, patience)
        let orders = links.indices.compactMap { index in
            LoadShare(index, of: links.count).map { AgentOrder(version: Hookswitch.version, arguments: arguments, share: $0) }
        }
        let failures = Mutex<[Int: any Error]>([:])
        DispatchQueue.concurrentPerform(iterations: links.count) { index in
            do { try links[index].order(orders[index]) } catch { failures.withLock { $0[index] = error } }
        }
        guard let first = failures.withLock({ $0.min { $0.key < $1.key } }) else { return }
        leave()
        throw Self.failure(first.value)
    }

    private static func failure(_ error: any Error) -> Failure {
        (error as? Failure) ?? .cannotRun("\(error)")
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        wake.signal()
    }

    func charts(_ level: ServiceLevel?) -> LoadCharts { LoadCharts(LoadFigures(of: agents.compactMap(\.result.last)), calls: [], level) }

    func run(every interval: Duration, watch: (LoadSnapshot) -> Void) -> LiveLoad.Outcome {
        var search = level.map(AgentsSearch.init), restarts = 0, hasBegun = false, hasStopped = false
        let due = MonotonicClock.now + Self.registrationTime
        while true {
            look()
            let states = agents.compactMap(\.result.last)
            if states.count == agents.count { watch(LoadSnapshot(adding: states)) }
            if agents.allSatisfy(\.isOver) { break }
            if !hasBegun, agents.contains(where: \.isOver) || MonotonicClock.now > due { isStopped.store(true, ordering: .relaxed) }
            if isStopped.load(ordering: .relaxed), !hasStopped {
                each { try $0.link.stop() }
                hasStopped = true
            }
            if !hasBegun, !hasStopped, states.count == agents.count, states.allSatisfy(\.progress.isReady) {
                each { try $0.link.start() }
                hasBegun = true
            }
            if hasBegun, let decision = search?.decide(states, restarts: restarts) {
                follow(decision)
                if decision != .end { restarts += 1 }
            }
            _ = wake.wait(timeout: .now() + .nanoseconds(Int((hasBegun ? interval : .milliseconds(100)).wholeNanoseconds)))
        }
        each { try $0.collect(most: LoadPlan.mostCallsKept / self.agents.count) }
        leave()
        return LiveLoad.Outcome(adding: agents.map(\.result))
    }

    private func follow(_ decision: AgentsSearch.Decision) {
        each { agent in
            switch decision {
            case .end: try agent.link.endArrivals()
            case .again(let step): try agent.link.runAgain(step)
            }
        }
    }

    private func look() {
        let now = MonotonicClock.now
        each(evenOver: false) { try $0.look(at: now) }
        // A step that an agent has not ended is no step of the whole load.
        if agents.contains(where: { $0.result.lostAfter != nil }), level != nil { isStopped.store(true, ordering: .relaxed) }
        for agent in agents { agent.judge(at: now, patience: patience) }
    }

    /// Does it with all that answer, side by side. An agent that does not answer is seen at the next look.
    private func each(evenOver: Bool = true, _ work: (AgentWatch) throws -> Void) {
        let chosen = agents.filter { $0.result.lostAfter == nil && (evenOver || !$0.isOver) }
        withoutActuallyEscaping(work) { work in
            let box = UncheckedWork(work: work)
            DispatchQueue.concurrentPerform(iterations: chosen.count) { try? box.work(chosen[$0]) }
        }
    }

    /// No agent has a load of ours any more.
    private func leave() { each { try $0.link.close() } }

    private struct UncheckedWork: @unchecked Sendable { let work: (AgentWatch) throws -> Void }
}

/// An agent with what it told last. For one thread at a time.
private final class AgentWatch: @unchecked Sendable {
    let link: AgentLink
    private(set) var result: AgentResult
    private var heard = MonotonicClock.now

    init(_ link: AgentLink) { (self.link, result) = (link, AgentResult(name: link.name)) }

    var isOver: Bool { result.lostAfter != nil || result.last?.end != nil }

    func look(at now: Instant) throws {
        result.last = try link.state()
        heard = now
    }

    /// One that has been silent for too long is lost.
    func judge(at now: Instant, patience: Duration) {
        guard !isOver, now - heard > patience else { return }
        result.lostAfter = result.last?.elapsed ?? 0
    }

    /// Fetches the figures of its calls, one by one.
    func collect(most: Int) throws {
        while result.calls.count < most {
            let more = try link.calls(from: result.calls.count)
            if more.isEmpty { return }
            result.calls += more
        }
    }
}
