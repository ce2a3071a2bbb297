// A gateway and the database: one batch at a time, its lease first, then writing, then reading.
extension ClusterSimulation {
    /// Goes on with the connection of a gateway until a time.
    mutating func work(_ node: Int, until end: Double) {
        let begin = end - Self.step / 10
        while case let time = max(nodes[node].link.freeAt, begin), time < end {
            guard database.isUp(at: time) else {
                nodes[node].link.lose(at: time)
                continue
            }
            if !nodes[node].link.isConnected {
                tally.reconnections += 1
                let spread = StoreLink.spread(prices.everything.seconds, nodes: plan.nodes)
                nodes[node].link.connect(at: time, readsAllAt: time + random.share() * spread, of: board.sent, share: share)
            }
            guard let done = perform(node, at: time) else { return }
            if done - time > StoreLink.timeout {
                tally.timeouts += 1
                nodes[node].link.lose(at: time + StoreLink.timeout)
            } else {
                nodes[node].link.freeAt = done + prices.network
            }
        }
    }

    /// The next batch.
    /// - Returns: when it is done; nil where nothing is to be done now.
    private mutating func perform(_ node: Int, at time: Double) -> Double? {
        let link = nodes[node].link
        if time - link.leaseRenewed >= StoreLink.leaseInterval { return renew(node, at: time) }
        if nodes[node].queue.count > 0 { return write(node, at: time) }
        guard time >= link.blockedUntil else { return nil }
        if link.readsAll, time >= link.readsAllAt { return readAll(node, at: time) }
        let unread = link.unread(of: board.sent, share: share) - link.unheard
        if unread > ChangeQueue.limit { nodes[node].link.readsAll = true }
        return unread > 0 ? read(node, min(unread, StoreLink.mostTopics), at: time) : nil
    }

    private mutating func write(_ node: Int, at time: Double) -> Double {
        let batch = nodes[node].queue.next(StoreLink.mostRows)
        let rows = Double(batch.bindings) * prices.bindingRow + Double(batch.dialogs) * prices.dialogRow
        let recents = Double(batch.recents) * prices.recentRow + Double(batch.trims) * prices.trim,
            notices = Double(batch.told) * prices.notice
        let done = database.write(
            prices.transaction + rows + recents + notices, notices: batch.told, listeners: plan.readersOfAChange + 1, at: time)
        board.post(batch.told, at: done)
        nodes[node].link.own += batch.told
        let sent = Double(batch.rows) * prices.rowSent
        nodes[node].storeLane.add(sent)
        tally.transactions += 1
        return done + sent.seconds
    }

    /// Reads so many topics that others have changed, and has the signalling lane take them.
    private mutating func read(_ node: Int, _ topics: Int, at time: Double) -> Double {
        let count = Double(topics), parsed = count * prices.rowRead
        let done = database.read(prices.readTransaction + count * prices.topic, at: time) + parsed.seconds
        nodes[node].storeLane.add(parsed)
        nodes[node].link.read += count
        tally.topicsRead += topics
        // The lines take it when the answer is there; that lies in a later step only where the database is behind.
        nodes[node].link.blockedUntil = max(done, nodes[node].takeEverywhere(count * prices.adopted, at: min(done, now + Self.step)))
        return done
    }

    /// Reads everything that there is, and has the signalling lane take it.
    private mutating func readAll(_ node: Int, at time: Double) -> Double {
        nodes[node].link.fullReadings += 1
        let done = database.read(prices.everything, at: time)
        nodes[node].link.leaseAhead = min(done, time + StoreLink.timeout) + StoreLink.timeout
        guard done - time <= StoreLink.timeout else { return done }
        nodes[node].link.fullReadingsDone += 1
        let parsed = (Double(plan.devices) * plan.keptShare * (1 + plan.recentsPerLine)) * prices.rowOfAll
        nodes[node].storeLane.add(parsed)
        nodes[node].link.leaseAhead = done + 2 * parsed.seconds
        (nodes[node].link.readsAll, nodes[node].link.unheard) = (false, 0)
        nodes[node].link.read = Double(board.sent - nodes[node].link.own) * share
        let end = done + parsed.seconds
        nodes[node].link.blockedUntil = nodes[node].takeEverywhere(prices.restored, at: end)
        return end
    }

    // MARK: Leases

    private mutating func renew(_ node: Int, at time: Double) -> Double {
        let done = database.read(prices.lease, at: time) + prices.network
        nodes[node].link.renew(at: time)
        judge(by: node, at: time)
        return takeOrphans(node, at: done)
    }

    /// Gateways whose leases have run out while this one looked on are taken for dead, though they are not.
    private mutating func judge(by judge: Int, at time: Double) {
        let since = nodes[judge].link.looksOnSince
        guard time - since >= StoreLink.leaseLength else { return }
        for node in nodes.indices where node != judge && nodes[node].isAlive {
            let link = nodes[node].link
            guard time - max(link.leaseRenewed, link.leaseAhead) >= StoreLink.leaseLength, link.leaseRenewed > since, !link.isGivenUp else {
                continue
            }
            nodes[node].link.isGivenUp = true
            tally.takenForDead += 1
            loseCalls(of: node, lapse: time)
        }
    }

    /// Ends some of the dialogs whose gateways are dead; each reading of the leases takes so many, and the next one is due at once.
    private mutating func takeOrphans(_ node: Int, at time: Double) -> Double {
        guard let index = orphans.firstIndex(where: { $0.dialogs > 0 && $0.lapse <= time }) else { return time }
        let count = min(StoreLink.mostOrphans, orphans[index].dialogs), many = Double(count)
        orphans[index].dialogs -= count
        nodes[node].link.leaseRenewed = time - StoreLink.leaseInterval
        let done = database.read(prices.readTransaction + many * (prices.dialogRow + prices.topic), at: time) + prices.network
        for dialog in 0..<count {
            _ = nodes[node].take(prices.orphan, at: min(done, now + Self.step), line: dialog)
            nodes[node].queue.add(.dialog, at: time)
            nodes[node].queue.add(.recent, at: time)
        }
        tally.orphansEnded += count
        tally.lastOrphan = max(tally.lastOrphan, done + nodes[node].backlog(at: done, line: 0))
        return done
    }
}
