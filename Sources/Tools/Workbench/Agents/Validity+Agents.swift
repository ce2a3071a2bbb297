import Primitives

extension Validity {
    /// Whether the run of several agents is valid: as valid as the run of each of them. Times are of the agent that was latest; nil for no agent that has told of
    /// its end.
    init?(_ agents: [LoadReport.Agent], of plan: LoadPlan) {
        let known = agents.compactMap { agent in agent.validity.map { (agent.name, $0) } }
        guard var sum = known.map(\.1).max(by: { ($0.packetLateness?.judged?.value ?? 0) < ($1.packetLateness?.judged?.value ?? 0) }) else {
            return nil
        }
        let all = known.map(\.1)
        sum.reasons = known.flatMap { name, validity in validity.reasons.map { "\(name): \($0)" } } + Self.reasons(agents)
        sum.notes = known.flatMap { name, validity in validity.notes.map { "\(name): \($0)" } }
        sum.callLateness = all.compactMap(\.callLateness).max { ($0.judged?.value ?? 0) < ($1.judged?.value ?? 0) }
        sum.rate = Rate(adding: all.map(\.rate), asked: plan.arrivals.steps.count == 1 ? plan.arrivals.steps[0].rate : nil)
        if known.count < agents.count { (sum.rate.begun, sum.rate.isKept) = (nil, false) }
        sum.punctuality = nil   // each machine has its own
        sum.ownProcessor = all.map(\.ownProcessor).max() ?? 0
        sum.machineProcessor = all.compactMap(\.machineProcessor).max()
        sum.droppedReceiving = Self.sum(all.map(\.droppedReceiving))
        sum.droppedSending = Self.sum(all.map(\.droppedSending))
        sum.signallingSendFailures = all.map(\.signallingSendFailures).reduce(0, +)
        (sum.limiterHits, sum.skipped) = (all.map(\.limiterHits).reduce(0, +), all.map(\.skipped).reduce(0, +))
        (sum.withoutPort, sum.ports) = (all.map(\.withoutPort).reduce(0, +), all.map(\.ports).reduce(0, +))
        (sum.portsAtMost, sum.ephemeralOverlap) = (all.map(\.portsAtMost).reduce(0, +), all.compactMap(\.ephemeralOverlap).first)
        sum.blamesTarget = all.allSatisfy(\.blamesTarget)
        sum.isValid = sum.reasons.isEmpty
        sum.isBelievable = sum.isValid
        self = sum
    }

    private static func reasons(_ agents: [LoadReport.Agent]) -> [String] {
        agents.compactMap { agent in
            if let time = agent.lostAfter {
                return "\(agent.name) was lost \(Number.text(time)) s after the beginning: its calls from then on are missing"
            }
            return agent.failure.map { "\(agent.name): \($0)" }
        }
    }

    private static func sum(_ values: [UInt64?]) -> UInt64? {
        let known = values.compactMap(\.self)
        return known.isEmpty ? nil : known.reduce(0, &+)
    }
}

extension Validity.Rate {
    fileprivate init(adding rates: [Validity.Rate], asked: Double?) {
        self.asked = asked
        begun = Self.sum(rates.map(\.begun))
        notBegun = rates.map(\.notBegun).reduce(0, +)
        isKept = rates.allSatisfy(\.isKept)
    }

    /// Nil where one of them is not known.
    private static func sum(_ values: [Double?]) -> Double? {
        let known = values.compactMap(\.self)
        return known.count == values.count ? known.reduce(0, +) : nil
    }
}
