/// The study of a cluster: its needs, failures, and where it breaks. A value; the same options give the same figures.
public struct CapacityStudy: Sendable {
    /// The need of one resource in the mean, by the closed form.
    public struct Need: Sendable {
        public var resource: Resource
        public var load: Work
        /// The factor of devices and calls at which it breaks; nil where it never does. With assumed costs as they are, at the upper and at
        /// the lower ends of their ranges.
        public var limit: Double?, least: Double?, most: Double?
        /// The factor of gateways, each with as much as now.
        public var limitOfNodes: Double?
    }

    /// A cluster that is told apart by what would be changed in it.
    public struct Variant: Sendable {
        public var name: String
        public var plan: ClusterPlan
        public var found: BreakSearch.Found?
        /// With assumed costs at the upper and at the lower ends of their ranges.
        public var least: BreakSearch.Found?, most: BreakSearch.Found?
    }

    public let options: CapacityOptions
    public private(set) var needs: [Need] = []
    public private(set) var outcomes: [(name: String, outcome: Outcome)] = []
    /// The same failures where the next step is done.
    public private(set) var outcomesOfNextStep: [(name: String, outcome: Outcome)] = []
    public private(set) var variants: [Variant] = []
    /// Calls in a second at which the signalling lane of one gateway is busy all the time, where nothing else is on it.
    public let callsOfOneLane: Double

    /// - Parameter progress: told what is simulated next.
    public init(_ options: CapacityOptions, progress: (String) -> Void = { _ in }) {
        self.options = options
        callsOfOneLane = 1e6 / options.costs[.call]
        needs = Self.needs(of: options)
        for name in options.failures {
            progress("simulating \(name)")
            outcomes.append((name, ClusterSimulation.play(options.plan(of: name), costs: options.costs)))
            guard options.plan.readers == .every else { continue }
            outcomesOfNextStep.append((name, ClusterSimulation.play(options.plan(of: name).withNextStep, costs: options.costs)))
        }
        if options.searches { variants = Self.variants(of: options, progress) }
    }

    private static func needs(of options: CapacityOptions) -> [Need] {
        var plan = options.plan
        plan.limits.users = plan.limits.users ?? ClusterPlan.usersOfAGateway
        let demand = Demand(of: plan, costs: options.costs)
        func limit(_ resource: Resource, _ costs: CostTable) -> Double? { BreakSearch(costs: costs).limit(resource, of: plan) }
        return Resource.allCases.compactMap { resource in
            guard let load = demand.loads[resource] else { return nil }
            return Need(
                resource: resource, load: load, limit: limit(resource, options.costs), least: limit(resource, options.costs.at(.high)),
                most: limit(resource, options.costs.at(.low)),
                limitOfNodes: BreakSearch(costs: options.costs).limit(resource, ofNodes: plan))
        }
    }

    private static func variants(of options: CapacityOptions, _ progress: (String) -> Void) -> [Variant] {
        return [("as the store does it", options.plan), ("with the next step", options.plan.withNextStep)].map {
            name, plan in
            progress("looking for where it breaks: \(name)")
            return Variant(
                name: name, plan: plan, found: BreakSearch(costs: options.costs).firstBreak(of: plan),
                least: BreakSearch(costs: options.costs.at(.high)).firstBreak(of: plan),
                most: BreakSearch(costs: options.costs.at(.low)).firstBreak(of: plan))
        }
    }
}

extension ClusterPlan {
    /// The default of `limits.users`.
    public static let usersOfAGateway = 50_000
}
