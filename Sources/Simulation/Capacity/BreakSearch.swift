import Glibc

/// The search for the size at which a cluster breaks: by doubling, then by bisection.
public struct BreakSearch: Sendable {
    /// The largest factor that does not break, to 2 %, and what broke beyond it.
    public struct Found: Hashable, Sendable {
        public var plan: ClusterPlan
        public var resource: Resource
    }

    private static let precision = 1.02
    private let costs: CostTable

    public init(costs: CostTable) { self.costs = costs }

    /// The factor of devices and calls at which a resource breaks by the closed form; nil where it never does.
    public func limit(_ resource: Resource, of plan: ClusterPlan) -> Double? {
        Self.limit { factor in (Demand(of: plan.scaled(by: factor), costs: costs).loads[resource]?.seconds ?? 0) > 1 }
    }

    /// The same for the number of gateways, each with the devices and calls that it has in the plan.
    public func limit(_ resource: Resource, ofNodes plan: ClusterPlan) -> Double? {
        Self.limit(from: 1 / Double(plan.nodes)) { factor in
            let grown = plan.with(nodes: max(1, Int((factor * Double(plan.nodes)).rounded())))
            return (Demand(of: grown, costs: costs).loads[resource]?.seconds ?? 0) > 1
        }
    }

    /// The largest plan that the simulation carries. It breaks where something is behind for longer than a second, rows are lost, calls are
    /// refused, or set-ups take longer than 0.2 s at p99. Nil where it does not within a thousand times the plan.
    public func firstBreak(of plan: ClusterPlan) -> Found? {
        var resource = Resource.signalling
        let limit = Self.limit { factor in
            var tried = plan.scaled(by: factor)
            (tried.failure, tried.span) = (.none, 30)
            let outcome = ClusterSimulation.play(tried, costs: costs)
            guard outcome.isBroken else { return false }
            resource = outcome.busiest
            return true
        }
        return limit.map { Found(plan: plan.scaled(by: $0), resource: resource) }
    }

    /// The largest factor for which `breaks` is false, to the precision; it has to stay true once it is.
    private static func limit(from least: Double = 1.0 / 4_096, _ breaks: (Double) -> Bool) -> Double? {
        var good = 1.0, bad = 1.0
        if breaks(1) {
            while breaks(good) { (bad, good) = (good, good / 2); if good < least { return 0 } }
        } else {
            while !breaks(bad) { (good, bad) = (bad, bad * 2); if bad > 1_024 { return nil } }
        }
        while bad / good > precision {
            let middle = (good * bad).squareRoot()
            if breaks(middle) { bad = middle } else { good = middle }
        }
        return good
    }
}

extension Outcome {
    /// Whether the cluster does not keep up with what comes.
    public var isBroken: Bool {
        rows.longestBehind > 1 || rows.lost > 0 || Double(calls.refused) > 0.001 * Double(calls.offered) || setUps.quantile(0.99) > 0.2
    }

    /// The resource of the highest load.
    public var busiest: Resource {
        let simulated: [Resource] = [.signalling, .storeLane, .media, .ports, .database, .commits, .proxy]
        return simulated.max { (loads[$0]?.mean ?? 0) < (loads[$1]?.mean ?? 0) } ?? .signalling
    }
}
