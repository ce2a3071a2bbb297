import Gateway

// The trunks that this gateway registers, of those that gateways share.
extension PostgresWorker {
    /// Takes the trunks that are wanted and free, gives those up that are not wanted any more, and tells who has which.
    /// - Parameters:
    ///   - rows: the leases of trunks, as they were read just now.
    ///   - dead: runs that are over, whose leases are still there.
    func settle(_ rows: [TrunkRow], dead: [NodeLease], then next: @escaping () -> Void) {
        let dead = Set(dead.map(\.run)), wanted = store { $0.trunks } ?? []
        let byTrunk = Dictionary(rows.map { ($0.trunk, $0) }) { first, _ in first }
        let over = Set(rows.filter { $0.run != run && (!$0.hasLease || dead.contains($0.run)) }.map(\.run))
        let free = wanted.filter { trunk in byTrunk[trunk].map { over.contains($0.run) } ?? true }
        let unwanted = rows.filter { $0.run == run && !wanted.contains($0.trunk) }.map(\.trunk)
        guard !free.isEmpty || !unwanted.isEmpty else {
            tell(rows)
            return next()
        }
        let statements = [
            PostgresRows.taking(trunks: free, of: over.sorted(), run: run, node: settings.node),
            PostgresRows.giving(trunks: unwanted, run: run), PostgresRows.trunks,
        ]
        perform(statements) { [unowned self] answers in
            let present = PostgresRows.trunks(answers[2])
            tell(present)
            guard present != rows else { return next() }
            perform([ChangeNotice(run: run, topic: .trunks).statement]) { _ in next() }
        }
    }

    /// Tells the lines where something is different.
    private func tell(_ rows: [TrunkRow]) {
        let leases = rows.map { TrunkLease(trunk: $0.trunk, node: $0.node, isOurs: $0.run == run, state: $0.state) }
        guard lease?.toldTrunks != leases, let take = store({ $0.onTrunks }) ?? nil else { return }
        lease?.toldTrunks = leases
        take(leases)
    }
}
