import Media
import Primitives
import UserAgent

/// One agent of a load, when the load is over or the agent is lost.
public struct AgentResult: Sendable {
    /// The name by which it was called, as `10.0.0.7:9467`.
    public var name: String
    /// The last state that it told; nil: none.
    public var last: AgentState?
    /// The calls whose figures it has told.
    public var calls: [CallFigures] = []
    /// Seconds after the beginning at which it answered no more; nil: it answered to the end.
    public var lostAfter: Double?

    /// - Parameter name: by which it was called.
    public init(name: String) { self.name = name }
}

extension LiveLoad.Outcome {
    /// Puts the results of all agents together.
    public init(adding results: [AgentResult]) {
        let states = results.compactMap(\.last), calls = results.flatMap(\.calls).sorted { $0.number < $1.number }
        var figures = LoadFigures(adding: states.map(\.figures)), leftovers: [String] = []
        figures.callsLeftOut = max(0, figures.tally.calls - calls.count)
        for result in results { leftovers += (result.last?.end?.leaks.leftovers ?? []).map { "\(result.name): \($0)" } }
        let failures = results.compactMap { result in result.last?.end?.failure.map { "\(result.name): \($0)" } }
        self.init(
            failure: failures.first, state: LoadLedger.State(figures, calls: calls), progress: LoadProgress(adding: states.map(\.progress)),
            elapsed: .seconds(fraction: states.compactMap(\.elapsed).max() ?? 0), evidence: nil, leaks: LeakReport(leftovers: leftovers),
            agents: results.map(LoadReport.Agent.init), connections: LoadReport.Connections(adding: states.compactMap(\.end?.connections)))
    }
}

extension LoadSnapshot {
    /// Adds what the agents told last.
    public init(adding states: [AgentState]) {
        let figures = LoadFigures(adding: states.map(\.figures)), late = states.compactMap(\.packetLateness).max()
        self.init(
            progress: LoadProgress(adding: states.map(\.progress)),
            elapsed: states.compactMap(\.elapsed).max().map(Duration.seconds(fraction:)),
            judged: figures.tally.calls, bad: figures.tally[.failed] + figures.tally[.faulty], figures: figures.tally.figuresOfNow,
            packetLateness: late.map { .seconds(fraction: $0 / 1_000) })
    }
}

extension LoadProgress {
    /// The phase is that of the agent that is behind.
    init(adding all: [LoadProgress]) {
        self.init()
        guard let first = all.first else { return }
        self = first
        for other in all.dropFirst() {
            if other.phase.place < phase.place { phase = other.phase }
            (registered, accounts, isReady) = (registered + other.registered, accounts + other.accounts, isReady && other.isReady)
            registrationTime = [registrationTime, other.registrationTime].compactMap(\.self).max()
            connections += other.connections
            (begun, active, answered, over) = (begun + other.begun, active + other.active, answered + other.answered, over + other.over)
            (skipped, withoutPort, strangers) = (skipped + other.skipped, withoutPort + other.withoutPort, strangers + other.strangers)
            // The most of each may have been at another time: together they were no more.
            (mostActive, step, rate) = (mostActive + other.mostActive, min(step, other.step), rate + other.rate)
            lateness = lateness + other.lateness
        }
    }
}

extension LoadProgress.Phase {
    fileprivate var place: Int {
        switch self {
        case .registering: 0
        case .running: 1
        case .ending: 2
        case .over: 3
        }
    }
}

extension LoadReport.Connections {
    /// - Returns: nil where there are none.
    init?(adding all: [LoadReport.Connections]) {
        guard var sum = all.first else { return nil }
        for other in all.dropFirst() {
            sum.opened += other.opened
            sum.ends.add(other.ends)
        }
        self = sum
    }
}

extension LoadReport.Agent {
    init(_ result: AgentResult) {
        let last = result.last
        self.init(
            name: result.name, begun: last?.progress.begun ?? 0, elapsed: last?.elapsed ?? 0, validity: last?.end?.validity,
            machine: last?.end?.machine, lostAfter: result.lostAfter, failure: last?.end?.failure)
    }
}

/// A search for the knee over several agents. A value.
public struct AgentsSearch: Sendable {
    /// A decision for all agents.
    public enum Decision: Equatable, Sendable {
        /// They begin no more calls.
        case end
        /// They go back to a step of the plan.
        case again(Int)
    }

    private var search: KneeSearch

    /// - Parameter level: what a step has to keep.
    public init(_ level: ServiceLevel) { search = KneeSearch(level) }

    /// - Parameter restarts: how often the agents were told to go back; what one tells that has not yet is old.
    /// - Returns: nil while the search goes on, and once it has ended.
    public mutating func decide(_ states: [AgentState], restarts: Int = 0) -> Decision? {
        guard states.allSatisfy({ $0.restarts == restarts }) else { return nil }
        return switch search.decide(LoadLedger.State(LoadFigures(adding: states.map(\.figures)))) {
        case .end: .end
        case .again(let step): .again(step)
        case nil: nil
        }
    }
}
