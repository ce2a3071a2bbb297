import Primitives

/// A cluster in virtual time: gateways behind proxies, on one database. A value; the same plan and costs give the same outcome.
///
/// Time goes in steps. Within a step everything that happens has its own time, and a queue knows the wait of a job when it comes. What one
/// gateway writes is heard by the others in the next step.
public struct ClusterSimulation: Sendable {
    /// Seconds.
    static let step = 0.01
    /// Seconds of a window that peaks are the means of.
    static let window = 1.0

    struct Call {
        var node: Int
        /// Of its rows that were written last; -1: none of them waits.
        var mark = -1
        var isOver = false
    }

    /// Dialogs whose gateway is dead, or is taken for dead.
    struct Orphans {
        var dialogs: Int
        /// When the lease of their gateway runs out.
        var lapse: Double
    }

    public let plan: ClusterPlan
    let costs: CostTable
    var random: SeededRandom
    var nodes: [GatewayNode]
    var database: DatabaseServer
    var board: NoticeBoard
    var agenda: Agenda
    var proxies: WorkPool
    var proxyMeter: Meter
    var calls: [Call] = []
    var orphans: [Orphans] = []
    var tally = Tally()
    var prices: Prices
    private(set) var index = 0
    /// The part of all notices that concern one gateway that has not sent them.
    let share: Double

    /// - Precondition: at least one gateway, proxy and core of each.
    init(_ plan: ClusterPlan, costs: CostTable) {
        precondition(plan.nodes > 0 && plan.hardware.proxies > 0 && plan.hardware.lanes > 0)
        (self.plan, self.costs, random, prices) = (plan, costs, SeededRandom(seed: plan.seed), Prices(plan, costs))
        nodes = [GatewayNode](repeating: GatewayNode(lanes: plan.hardware.lanes), count: plan.nodes)
        database = DatabaseServer(plan, costs)
        board = NoticeBoard(step: Self.step, span: plan.span)
        agenda = Agenda(step: Self.step, span: plan.span)
        let cores = plan.hardware.proxies * plan.hardware.proxyCores
        (proxies, proxyMeter) = (WorkPool(cores: cores), Meter(capacity: Double(cores)))
        share = plan.nodes > 1 ? plan.readersOfAChange / Double(plan.nodes - 1) : 0
        begin()
    }

    var now: Double { Double(index) * Self.step }

    /// The outcome of a plan.
    public static func play(_ plan: ClusterPlan, costs: CostTable = .standard) -> Outcome {
        var simulation = ClusterSimulation(plan, costs: costs)
        return simulation.run()
    }

    /// Plays the whole span.
    mutating func run() -> Outcome {
        let steps = Int((plan.span / Self.step).rounded())
        while index < steps {
            play()
            index += 1
            if index % Int(Self.window / Self.step) == 0 { closeWindow() }
        }
        for node in nodes.indices where nodes[node].isAlive { nodes[node].settle(at: plan.span) }
        return Outcome(self)
    }

    /// The calls that are up at the beginning; each gateway renews its lease at a time of its own.
    private mutating func begin() {
        for _ in 0..<random.poisson(Double(plan.calls)) {
            let node = Int.random(in: 0..<plan.nodes, using: &random)
            guard nodes[node].calls < plan.limits.callsPerNode else { continue }
            calls.append(Call(node: node))
            nodes[node].calls += 1
            agenda.add(HappeningEvent(time: random.exponential(plan.talkTime), kind: .end, home: node, call: calls.count - 1))
        }
        for node in nodes.indices { nodes[node].link.leaseRenewed = -random.share() }
        prepareFailure()
    }

    private mutating func play() {
        let heard = board.advance(to: index)
        if index == Int((plan.failureAt / Self.step).rounded()) { fail() }
        for event in agenda.take(index, and: chanceEvents()) { take(event) }
        for node in nodes.indices where nodes[node].isAlive {
            nodes[node].storeLane.add(Double(heard) * prices.noticeHeard)
            nodes[node].settle(at: now)
        }
        workAll()
        if index % 10 == 0 { look() }
    }

    /// Goes on with the connections to the database, a tenth of the step at a time, each time from another gateway on: the database takes
    /// what comes first.
    private mutating func workAll() {
        for slot in 1...10 {
            let end = now + Self.step * Double(slot) / 10, first = (index + slot) % plan.nodes
            for place in 0..<plan.nodes {
                let node = (first + place) % plan.nodes
                if nodes[node].isAlive { work(node, until: end) }
            }
        }
    }

    /// The calls, registrations and lapses of this step.
    private mutating func chanceEvents() -> [HappeningEvent] {
        guard !isDark else { return [] }
        var events: [HappeningEvent] = []
        for (kind, rate) in [(HappeningEvent.Kind.call, plan.callRate), (.register, plan.registerRate), (.expiry, plan.lapseRate)] {
            for _ in 0..<random.poisson(rate * Self.step) {
                let node = Int.random(in: 0..<plan.nodes, using: &random)
                events.append(HappeningEvent(time: now + random.share() * Self.step, kind: kind, home: node))
            }
        }
        return events
    }

    private mutating func closeWindow() {
        for node in nodes.indices {
            nodes[node].signalling.close(Self.window)
            nodes[node].storeLane.close(Self.window)
        }
        database.close(Self.window)
        proxyMeter.close(Self.window)
    }

    /// Looks whether anything is behind.
    private mutating func look() {
        var isQuiet = orphans.allSatisfy { $0.dialogs == 0 } && tally.registersToCome == 0
        for node in nodes.indices where nodes[node].isAlive {
            let behind = age(of: node)
            tally.longestBehind = max(tally.longestBehind, behind)
            tally.mostWaiting = max(tally.mostWaiting, nodes[node].queue.count)
            tally.mostCalls = max(tally.mostCalls, nodes[node].calls)
            let link = nodes[node].link
            if behind > 1 || link.readsAll || !link.isConnected || link.blockedUntil > now + 1 { isQuiet = false }
            if nodes[node].backlog(at: now, line: 0) > plan.limits.backlog { isQuiet = false }
        }
        if !isQuiet, now >= plan.failureAt { tally.lastUnrest = now }
    }

    /// The age of the oldest thing that a gateway has not written or not read.
    private mutating func age(of node: Int) -> Double {
        let link = nodes[node].link
        let level = share > 0 ? link.read / share + Double(link.own) : .infinity
        let unread = board.age(unreadFrom: level, from: &nodes[node].link.place, at: now)
        return max(nodes[node].queue.oldest.map { now - $0 } ?? 0, unread)
    }
}

/// The costs as the simulation takes them, so that no table is asked for each job.
struct Prices {
    let setUp: Work, end: Work, registration: Work, refusal: Work, retransmission: Work, orphan: Work, adopted: Work, restored: Work
    let rowSent: Work, noticeHeard: Work, rowRead: Work, rowOfAll: Work
    let proxyCall: Work, proxyRegister: Work, handshake: Work
    let transaction: Work, bindingRow: Work, dialogRow: Work, recentRow: Work, trim: Work, notice: Work
    let readTransaction: Work, topic: Work, everything: Work, lease: Work
    /// Seconds on the way to the database and back.
    let network: Double

    init(_ plan: ClusterPlan, _ costs: CostTable) {
        let call = costs.work(.call), first = costs[.setUpShare]
        (setUp, end) = (first * call, (1 - first) * call)
        registration = costs.work(.challenge) + costs.work(.register)
        (refusal, retransmission, orphan) = (costs.work(.refusal), costs.work(.retransmission), costs.work(.orphan))
        (adopted, restored) = (costs.work(.adopted), Demand.adoptAll(plan, costs))
        (rowSent, noticeHeard, rowRead) = (costs.work(.rowSent), costs.work(.noticeHeard), costs.work(.rowRead))
        rowOfAll = costs.work(.rowOfAll)
        (proxyCall, proxyRegister, handshake) = (costs.work(.proxyCall), 2 * costs.work(.proxyRegister), costs.work(.handshake))
        (transaction, bindingRow, dialogRow) = (costs.work(.transaction), costs.work(.registrationRow), costs.work(.dialogRow))
        (recentRow, trim, notice) = (costs.work(.recentRow), costs.work(.trim), costs.work(.notice))
        (readTransaction, topic) = (costs.work(.readTransaction), costs.work(.topic))
        everything = Demand.readAll(plan, costs)
        lease = costs.work(.lease) + Double(plan.nodes) * costs.work(.leaseRow)
        network = costs.work(.network).seconds
    }
}
