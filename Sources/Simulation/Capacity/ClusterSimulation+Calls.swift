// Calls and registrations.
extension ClusterSimulation {
    /// The proxy pings each gateway once a second, and waits for 0.8 s.
    static let timeToNotice = 1.8, timeToPassOver = 0.8

    mutating func take(_ event: HappeningEvent) {
        switch event.kind {
        case .call: begin(event)
        case .answer: answer(event)
        case .end, .mediaTimeout: end(event)
        case .register: register(event)
        case .expiry: if nodes[event.home].isAlive { nodes[event.home].queue.add(.expiry, at: event.time) }
        }
    }

    /// The gateway that the proxy sends the requests of a line to: its own, or the next one of the list that is there.
    /// - Returns: the time that is lost on the way; nil where no gateway is left.
    private func route(_ home: Int, at time: Double) -> (node: Int, delay: Double)? {
        guard !nodes[home].isAlive else { return (home, 0) }
        let delay = time - nodes[home].diedAt < Self.timeToNotice ? Self.timeToPassOver : 0
        let others = (1..<max(2, plan.nodes)).lazy.map { (home + $0) % plan.nodes }
        return others.first { nodes[$0].isAlive }.map { ($0, delay) }
    }

    /// - Returns: the time that it waits there.
    private mutating func passProxy(_ work: Work, at time: Double) -> Double {
        proxyMeter.add(work)
        return proxies.take(work.seconds, at: time) - time - work.seconds
    }

    private mutating func begin(_ event: HappeningEvent) {
        tally.offered += 1
        let waited = passProxy(prices.proxyCall, at: event.time)
        guard let (node, delay) = route(event.home, at: event.time) else { return tally.lost += 1 }
        guard nodes[node].calls < plan.limits.callsPerNode else {
            tally.refusedFull += 1
            return _ = nodes[node].take(prices.refusal, at: event.time, line: event.home)
        }
        guard nodes[node].backlog(at: event.time, line: calls.count) <= plan.limits.backlog else {
            tally.refusedBacklog += 1
            return _ = nodes[node].take(prices.refusal, at: event.time, line: calls.count)
        }
        let wait = nodes[node].take(prices.setUp, at: event.time, line: calls.count), done = event.time + wait + prices.setUp.seconds
        repeatRequests(after: wait, at: event.time, node)
        tally.note(setUp: waited + delay + wait + prices.setUp.seconds, isAfterFailure: event.time >= plan.failureAt)
        tally.note(wait: wait)
        nodes[node].settingUp.append(done)
        nodes[node].calls += 1
        calls.append(Call(node: node))
        write(calls.count - 1, .dialog, .ongoing, at: event.time)
        let answer = done + plan.ringTime, id = calls.count - 1
        agenda.add(HappeningEvent(time: answer, kind: .answer, home: event.home, call: id))
        agenda.add(HappeningEvent(time: answer + random.exponential(plan.talkTime), kind: .end, home: event.home, call: id))
    }

    /// A caller that waits for an answer sends the request again after 0.5 s, 1.5 s, 3.5 s and so on up to 31.5 s (RFC 3261 §17.1.1.2).
    private mutating func repeatRequests(after wait: Double, at time: Double, _ node: Int) {
        var after = 0.5, interval = 0.5
        while after < min(wait, 32) {
            _ = nodes[node].take(prices.retransmission, at: time, line: 0)
            interval *= 2
            after += interval
        }
    }

    private mutating func answer(_ event: HappeningEvent) {
        if !calls[event.call].isOver { write(event.call, .dialog, .ongoing, at: event.time) }
    }

    private mutating func end(_ event: HappeningEvent) {
        guard !calls[event.call].isOver else { return }
        calls[event.call].isOver = true
        let node = calls[event.call].node
        _ = nodes[node].take(prices.end, at: event.time, line: event.call)
        nodes[node].calls -= 1
        write(event.call, .dialog, .recent, at: event.time)
    }

    /// The rows of a call: the dialogs of its two legs, and the recents of its two lines. They take the place of earlier ones that wait.
    private mutating func write(_ call: Int, _ dialog: RowChange, _ recent: RowChange, at time: Double) {
        let node = calls[call].node, mark = calls[call].mark
        let rows = [dialog, dialog, recent, recent]
        if mark >= 0, nodes[node].queue.replace(mark, by: rows[0]) {
            for (place, row) in rows.enumerated().dropFirst() { _ = nodes[node].queue.replace(mark + place, by: row) }
            return
        }
        let marks = rows.map { nodes[node].queue.add($0, at: time) }
        calls[call].mark = marks.contains(nil) ? -1 : marks[0] ?? -1
    }

    /// A device registers: it is challenged once, for the last nonce is too old.
    private mutating func register(_ event: HappeningEvent) {
        let isOfStorm = event.call >= 0
        if isOfStorm { tally.registersToCome -= 1 }
        _ = passProxy(prices.proxyRegister + (event.call == 1 ? prices.handshake : Work()), at: event.time)
        guard let (node, delay) = route(event.home, at: event.time) else { return tally.lostRegisters += 1 }
        let line = Int.random(in: 0..<max(1, plan.devices), using: &random)
        let isTooMany = plan.limits.users.map { line / plan.nodes >= $0 } ?? false
        guard !isTooMany, nodes[node].backlog(at: event.time, line: line) <= plan.limits.backlog else {
            tally.refusedRegisters += 1
            _ = nodes[node].take(prices.refusal, at: event.time, line: line)
            return registerLater(event, isOfStorm)
        }
        let wait = nodes[node].take(prices.registration, at: event.time, line: line) + delay
        repeatRequests(after: wait, at: event.time, node)
        tally.registered += 1
        nodes[node].queue.add(.registration, at: event.time)
    }

    private mutating func registerLater(_ event: HappeningEvent, _ isOfStorm: Bool) {
        let pause = plan.limits.retryAfter * (1 + random.share())
        guard event.time + pause < plan.span else { return }
        if isOfStorm { tally.registersToCome += 1 }
        agenda.add(HappeningEvent(time: event.time + pause, kind: .register, home: event.home, call: isOfStorm ? 0 : -1))
    }
}
