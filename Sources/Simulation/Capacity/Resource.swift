/// A thing that a cluster can run out of.
///
/// `users` is the default of `limits.users`. The answer to a batch may take 15 s; a lease holds for 3 s, and is renewed 15 s ahead before
/// everything is read, and for as long as it takes before that is parsed; telephones repeat a request that was not answered for 0.5 s.
public enum Resource: String, CaseIterable, Hashable, Sendable {
    case users, signalling, storeLane, media, ports, gatewayMemory, database, commits, fullRead, leaseInFullRead, fullAdoption, proxy,
        proxyMemory

    /// The resource and its whole, for a person.
    public var title: String {
        switch self {
        case .users: "users that register at a gateway (50,000)"
        case .signalling: "signalling lane of a gateway (one core)"
        case .storeLane: "lane of the store of a gateway (one core)"
        case .media: "media cores of a gateway"
        case .ports: "media ports of a gateway's address"
        case .gatewayMemory: "memory of a gateway"
        case .database: "cores of the database"
        case .commits: "commits with notices (one at a time)"
        case .fullRead: "all gateways read everything after a break (15 s)"
        case .leaseInFullRead: "one gateway reads everything (lease of 18 s)"
        case .fullAdoption: "its signalling lane takes everything (0.5 s)"
        case .proxy: "cores of the proxies"
        case .proxyMemory: "memory of a proxy, without another one"
        }
    }
}

/// The need of a cluster for each resource in the mean, in closed form: no queue, no failure, changes of the database in the largest batches.
///
/// A simulation needs more of the database, for its batches are smaller. So a break by these figures is a break, and one may come before it.
public struct Demand: Hashable, Sendable {
    /// The part of each resource that is needed; above 1 it breaks.
    public private(set) var loads: [Resource: Work] = [:]
    private let plan: ClusterPlan
    private let costs: CostTable

    /// In `Work`, seconds are seconds of the resource for each second.
    public init(of plan: ClusterPlan, costs: CostTable) {
        (self.plan, self.costs) = (plan, costs)
        let nodes = Double(plan.nodes), hardware = plan.hardware
        loads[.users] = plan.limits.users.map { part(Double(plan.devices) / nodes, of: Double($0)) }
        loads[.signalling] = (1 / nodes / Double(hardware.lanes)) * signalling
        loads[.storeLane] = (1 / nodes) * storeLane
        loads[.media] =
            (Double(plan.calls) / nodes / Double(hardware.mediaCores)) * costs.work(plan.relaysInKernel ? .relayedInKernel : .relayed)
        loads[.ports] = part(Double(plan.calls) / nodes, of: Double(plan.limits.callsPerNode))
        loads[.database] = (1 / Double(hardware.databaseCores)) * database
        loads[.proxy] =
            (1 / Double(hardware.proxies * hardware.proxyCores))
            * (plan.callRate * costs.work(.proxyCall) + (2 * plan.registerRate) * costs.work(.proxyRegister))
        let reading = Self.readAll(plan, costs), parsed = (kept * (1 + plan.recentsPerLine)) * costs.work(.rowOfAll)
        // Readings that the cores do not do in the time over which they are spread wait for each other.
        let late = reading.seconds * nodes / Double(hardware.databaseCores) - StoreLink.spread(reading.seconds, nodes: plan.nodes)
        loads[.fullRead] = (1 / 15) * (max(1, late / max(reading.seconds, 1e-9)) * reading + parsed)
        loads[.leaseInFullRead] = (1 / 18) * reading
        loads[.fullAdoption] = (1 / 0.5) * Self.adoptAll(plan, costs)
        addMemory()
    }

    private mutating func addMemory() {
        let devices = Double(plan.devices), calls = Double(plan.calls) / Double(plan.nodes)
        let gateway =
            bytes(.gateway, 1) + bytes(.bridgedCall, calls) + bytes(.binding, kept) + bytes(.keptRecent, kept * plan.recentsPerLine)
            + bytes(.line, devices)
        loads[.gatewayMemory] = (1 / plan.hardware.memory) * gateway
        let proxies = Double(max(1, plan.hardware.proxies - 1))
        loads[.proxyMemory] = (1 / plan.hardware.proxyMemory) * bytes(.flow, devices * plan.connectedShare / proxies)
    }

    /// Kilobytes as `Work`, in bytes.
    private func bytes(_ kind: CostKind, _ count: Double) -> Work { (count * 1e9) * costs.work(kind) }

    private func part(_ value: Double, of whole: Double) -> Work { Work(seconds: value / whole) }

    /// Rows in a second, of which others are told.
    private var told: Double { 2 * plan.callRate + plan.registerRate + plan.lapseRate }
    private var reads: Double { told * plan.readersOfAChange }

    private var signalling: Work {
        plan.callRate * costs.work(.call) + plan.registerRate * (costs.work(.challenge) + costs.work(.register))
            + reads * costs.work(.adopted) + Double(plan.nodes * plan.hardware.proxies) * costs.work(.options)
    }

    private var storeLane: Work {
        let rows = 12 * plan.callRate + plan.registerRate + plan.lapseRate
        return rows * costs.work(.rowSent) + (told * listeners) * costs.work(.noticeHeard) + reads * costs.work(.rowRead)
    }

    /// Gateways that hear a notice, the one that sends it among them.
    private var listeners: Double { plan.readersOfAChange + 1 }

    private var database: Work {
        let nodes = Double(plan.nodes)
        let calls = 6 * costs.work(.dialogRow) + 6 * costs.work(.recentRow) + 2 * costs.work(.trim)
        let bindings = plan.registerRate + plan.lapseRate
        let notices = costs.work(.notice) + listeners * costs.work(.listenerNotice)
        return plan.callRate * calls + bindings * costs.work(.registrationRow) + told * notices + reads * costs.work(.topic)
            + nodes * (costs.work(.lease) + nodes * costs.work(.leaseRow))
    }

    /// Bindings that one gateway keeps.
    private var kept: Double { Double(plan.devices) * plan.keptShare }

    /// The database's part of one reading of everything.
    static func readAll(_ plan: ClusterPlan, _ costs: CostTable) -> Work {
        let kept = Double(plan.devices) * plan.keptShare
        return kept * costs.work(.bindingOfAll) + (kept * plan.recentsPerLine) * costs.work(.recentOfAll)
    }

    /// The signalling lane's part of it.
    static func adoptAll(_ plan: ClusterPlan, _ costs: CostTable) -> Work {
        let kept = Double(plan.devices) * plan.keptShare
        return kept * (costs.work(.restored) + plan.recentsPerLine * costs.work(.restoredRecent))
    }
}
