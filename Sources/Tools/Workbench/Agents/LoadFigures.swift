import Media
import Primitives

/// All that is added up of a run, without its calls one by one: what an agent tells while it runs, and what is added to that of others. A value.
public struct LoadFigures: Codable, Sendable {
    var tally = LoadTally()
    /// Of each step whose window is closed.
    var steps: [Int: LoadTally] = [:]
    var stepsOver = 0
    var firstNotOffered: Int?
    var stepLateness: [Int: Lateness] = [:], stepCallLateness: [Int: Lateness] = [:]
    var attempts: [Int: Int] = [:]
    var callsLeftOut = 0

    /// Nothing yet.
    public init() {}

    init(_ state: LoadLedger.State) {
        (tally, steps, stepsOver, firstNotOffered) = (state.tally, state.steps, state.stepsOver, state.firstNotOffered)
        (stepLateness, stepCallLateness) = (state.stepLateness, state.stepCallLateness)
        (attempts, callsLeftOut) = (state.attempts, state.callsLeftOut)
    }

    /// Adds the figures of other agents. A step counts when it is over for all.
    init(adding all: [LoadFigures]) {
        guard var sum = all.first else { return }
        for other in all.dropFirst() { sum.add(other) }
        self = sum
    }

    /// The figures that agents told last, added.
    public init(of states: [AgentState]) { self.init(adding: states.map(\.figures)) }

    private mutating func add(_ other: LoadFigures) {
        tally.add(other.tally)
        steps = steps.filter { other.steps[$0.key] != nil }
        for (step, more) in other.steps where steps[step] != nil { steps[step]?.add(more) }
        (stepsOver, callsLeftOut) = (min(stepsOver, other.stepsOver), callsLeftOut + other.callsLeftOut)
        firstNotOffered = [firstNotOffered, other.firstNotOffered].compactMap(\.self).min()
        stepLateness.merge(other.stepLateness, uniquingKeysWith: +)
        stepCallLateness.merge(other.stepCallLateness, uniquingKeysWith: +)
        attempts.merge(other.attempts, uniquingKeysWith: max)
    }
}

extension LoadLedger.State {
    init(_ figures: LoadFigures, calls: [CallFigures] = []) {
        (tally, judge, stepsOver, firstNotOffered) = (figures.tally, StepJudge(figures.steps), figures.stepsOver, figures.firstNotOffered)
        (stepLateness, stepCallLateness) = (figures.stepLateness, figures.stepCallLateness)
        (attempts, callsLeftOut, self.calls) = (figures.attempts, figures.callsLeftOut, calls)
    }
}

extension LoadPlan {
    /// The most calls whose figures are kept one by one; each takes about a kilobyte.
    public static let mostCallsKept = LoadLedger.mostCalls
}
