/// Counts of a simulation as it goes.
struct Tally {
    var offered = 0, refusedBacklog = 0, refusedFull = 0, lost = 0, callsLost = 0
    var registered = 0, refusedRegisters = 0, lostRegisters = 0, registersToCome = 0
    var transactions = 0, topicsRead = 0, reconnections = 0, timeouts = 0, takenForDead = 0
    var orphansEnded = 0, lastOrphan = 0.0
    var longestBehind = 0.0, lastUnrest = 0.0, mostWaiting = 0, mostCalls = 0
    var setUps = DelayDistribution(), setUpsAfter = DelayDistribution()
    /// The sum of the waits before set-ups on signalling lanes, without their service.
    var waits = 0.0

    mutating func note(setUp delay: Double, isAfterFailure: Bool) {
        if isAfterFailure { setUpsAfter.add(delay) } else { setUps.add(delay) }
    }

    mutating func note(wait: Double) { waits += wait }
}

/// The figures of one simulation. Times in seconds.
public struct Outcome: Hashable, Sendable {
    /// The load of a resource: of all of its kind in the mean, and of one of them in its worst second.
    public struct Load: Hashable, Sendable {
        public var mean: Double, peak: Double
        /// The part that rests on assumed costs, 0 to 1.
        public var assumedShare: Double
    }

    /// Calls by what became of their set-ups: offered are all others together.
    public struct Calls: Hashable, Sendable {
        public var offered: Int, setUp: Int, waiting: Int, refused: Int, lost: Int
        /// Calls that were up, and went with their gateway.
        public var ended: Int
        /// The most of one gateway.
        public var most: Int
    }

    /// Changes of all gateways: added are all others together.
    public struct Rows: Hashable, Sendable {
        public var added: Int, written: Int, waiting: Int, lost: Int
        /// The most that waited at one gateway, and the longest that anything was not written or not read.
        public var mostWaiting: Int, longestBehind: Double
        public var transactions: Int, read: Int
    }

    /// The course of the failure.
    public struct Storm: Hashable, Sendable {
        /// From the failure until nothing is behind any more; nil where it was not over at the end.
        public var length: Double?
        public var registered: Int, refusedRegisters: Int
        /// Ends of calls that were told by other gateways, and when the last one was after the failure.
        public var endsTold: Int, lastEndTold: Double
        public var reconnections: Int, timeouts: Int, takenForDead: Int
        public var fullReadings: Int, fullReadingsDone: Int
    }

    public let plan: ClusterPlan
    public let loads: [Resource: Load]
    public let calls: Calls
    public let rows: Rows
    public let storm: Storm
    /// From the INVITE at the proxy until the gateway has done its part, before the failure and after it.
    public let setUps: DelayDistribution, setUpsAfter: DelayDistribution
    /// The mean wait on signalling lanes before a set-up.
    public let meanWait: Double

    init(_ simulation: ClusterSimulation) {
        let tally = simulation.tally, nodes = simulation.nodes
        (plan, setUps, setUpsAfter) = (simulation.plan, tally.setUps, tally.setUpsAfter)
        let count = tally.setUps.count + tally.setUpsAfter.count
        meanWait = count > 0 ? tally.waits / Double(count) : 0
        loads = Self.loads(simulation)
        calls = Calls(
            offered: tally.offered, setUp: nodes.reduce(0) { $0 + $1.setUp }, waiting: nodes.reduce(0) { $0 + $1.waiting },
            refused: tally.refusedBacklog + tally.refusedFull, lost: tally.lost, ended: tally.callsLost, most: tally.mostCalls)
        rows = Rows(
            added: nodes.reduce(0) { $0 + $1.queue.added }, written: nodes.reduce(0) { $0 + $1.queue.written },
            waiting: nodes.reduce(0) { $0 + $1.queue.count }, lost: nodes.reduce(0) { $0 + $1.queue.lost },
            mostWaiting: tally.mostWaiting, longestBehind: tally.longestBehind, transactions: tally.transactions, read: tally.topicsRead)
        let end = tally.lastUnrest, isOver = end + 1 < simulation.plan.span
        storm = Storm(
            length: isOver ? max(0, end - simulation.plan.failureAt) : nil, registered: tally.registered,
            refusedRegisters: tally.refusedRegisters, endsTold: tally.orphansEnded,
            lastEndTold: tally.orphansEnded > 0 ? tally.lastOrphan - simulation.plan.failureAt : 0, reconnections: tally.reconnections,
            timeouts: tally.timeouts, takenForDead: tally.takenForDead,
            fullReadings: nodes.reduce(0) { $0 + $1.link.fullReadings }, fullReadingsDone: nodes.reduce(0) { $0 + $1.link.fullReadingsDone }
        )
    }

    private static func loads(_ simulation: ClusterSimulation) -> [Resource: Load] {
        let plan = simulation.plan, nodes = simulation.nodes
        var loads = Demand(of: plan, costs: simulation.costs).loads.mapValues {
            Load(mean: $0.seconds, peak: $0.seconds, assumedShare: $0.assumedShare)
        }
        loads[.signalling] = load(nodes.map(\.signalling), plan.span)
        loads[.storeLane] = load(nodes.map(\.storeLane), plan.span)
        loads[.database] = load([simulation.database.meter], plan.span)
        loads[.commits] = load([simulation.database.lockMeter], plan.span)
        loads[.proxy] = load([simulation.proxyMeter], plan.span)
        for resource in [Resource.ports, .media] {
            loads[resource]?.peak *= Double(simulation.tally.mostCalls) * Double(plan.nodes) / Double(max(1, plan.calls))
        }
        return loads
    }

    private static func load(_ meters: [Meter], _ span: Double) -> Load {
        let total = meters.reduce(into: Work()) { $0 += $1.total }
        return Load(
            mean: meters.reduce(0) { $0 + $1.mean(over: span) } / Double(meters.count), peak: meters.map(\.peak).max() ?? 0,
            assumedShare: total.assumedShare)
    }
}
