// Failures, and the users and devices after them.
extension ClusterSimulation {
    /// The devices are without power for so long.
    static let darkness = 60.0

    /// No device calls or registers by itself: it has no power, or is about to register with all others.
    var isDark: Bool {
        guard case .power(let seconds) = plan.failure else { return false }
        return now >= plan.failureAt && now < plan.failureAt + Self.darkness + seconds
    }

    mutating func prepareFailure() {
        if case .database(let seconds) = plan.failure { database.outage = plan.failureAt..<plan.failureAt + seconds }
    }

    mutating func fail() {
        switch plan.failure {
        case .none, .database: break
        case .gateways(let count, let isMixed): for node in dying(count, isMixed) { die(node) }
        case .proxy(let seconds): loseProxy(seconds)
        case .power(let seconds): losePower(seconds)
        }
    }

    /// Neighbours in the list of the proxy, or gateways far from each other.
    private func dying(_ count: Int, _ isMixed: Bool) -> [Int] {
        let count = min(count, plan.nodes - 1)
        return (0..<count).map { isMixed ? $0 * plan.nodes / max(1, count) : $0 }
    }

    private mutating func die(_ node: Int) {
        tally.lost += nodes[node].die(at: now)
        loseCalls(of: node, lapse: nodes[node].link.leaseRenewed + StoreLink.leaseLength)
    }

    /// The calls of a gateway are over for both of their ends; some callers call again.
    mutating func loseCalls(of node: Int, lapse: Double) {
        var count = 0
        for call in calls.indices where calls[call].node == node && !calls[call].isOver {
            calls[call].isOver = true
            count += 1
            guard random.share() < plan.redialShare else { continue }
            let home = Int.random(in: 0..<plan.nodes, using: &random)
            agenda.add(HappeningEvent(time: max(now, lapse) + 5 + random.exponential(15), kind: .call, home: home))
        }
        nodes[node].calls = 0
        tally.callsLost += count
        orphans.append(Orphans(dialogs: 2 * count, lapse: lapse))
    }

    /// The others have its work, and its connections.
    private mutating func loseProxy(_ seconds: Double) {
        let hardware = plan.hardware, left = max(1, hardware.proxies - 1)
        proxies = WorkPool(cores: left * hardware.proxyCores)
        let devices = Double(plan.devices) * plan.connectedShare / Double(hardware.proxies)
        registerAll(Int(devices), from: now, within: seconds, handshakes: 1)
    }

    private mutating func losePower(_ seconds: Double) {
        for call in calls.indices where !calls[call].isOver {
            // `media-timeout` of a line: nothing was heard for 30 s.
            let time = now + 30 + 2 * random.share()
            agenda.add(HappeningEvent(time: time, kind: .mediaTimeout, home: calls[call].node, call: call))
        }
        registerAll(plan.devices, from: now + Self.darkness, within: seconds, handshakes: plan.connectedShare)
    }

    private mutating func registerAll(_ count: Int, from start: Double, within seconds: Double, handshakes: Double) {
        tally.registersToCome += count
        for _ in 0..<count {
            let home = Int.random(in: 0..<plan.nodes, using: &random), call = random.share() < handshakes ? 1 : 0
            agenda.add(HappeningEvent(time: start + seconds * random.share(), kind: .register, home: home, call: call))
        }
    }
}
