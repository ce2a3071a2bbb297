import Gateway
import Primitives
import Runtime

// The lease of this gateway, and the calls of those whose leases have run out.
extension PostgresWorker {
    /// The lease, for as long as this run goes on.
    struct Lease {
        var watch: LeaseWatch
        /// It is in the database, as far as is known.
        var isHeld = false
        /// This connection has asked for the name's lock.
        var hasAskedForName = false
        /// The run has looked for earlier ones of the same name.
        var hasLookedBack = false
        /// Earlier runs of this gateway, which the name's lock says are over.
        var predecessors: [NodeLease] = []
        /// The leases of trunks that the lines were told last.
        var toldTrunks: [TrunkLease]?

        /// The connection is gone, and the name's lock with it.
        mutating func lost() {
            watch.lost()
            hasAskedForName = false
        }
    }

    /// Renews the lease, and ends the calls of others whose leases have run out.
    func renew() {
        let asks = lease?.hasAskedForName == false
        perform(PostgresRows.renewal(run: run, node: settings.node, claimsName: asks)) { [unowned self] answers in
            let leases = PostgresRows.leases(answers[1])
            schedule.gateways = leases.count + 1
            noteRenewal(isNew: answers[0].first?.first == "t")
            if asks { lookBack(leases, isAlone: answers.last?.first?.first == "t") }
            let dead = lease?.watch.read(leases, at: MonotonicClock.now) ?? []
            let over = (lease?.predecessors ?? []) + dead
            settle(PostgresRows.trunks(answers[2]), dead: over) { [unowned self] in take(over) }
        }
    }

    private func noteRenewal(isNew: Bool) {
        if lease?.isHeld == true, isNew { notice(.lapsed) }
        lease?.isHeld = true
    }

    /// The first time: who had the name before is dead, unless another process has it still.
    private func lookBack(_ leases: [NodeLease], isAlone: Bool) {
        lease?.hasAskedForName = true
        guard lease?.hasLookedBack == false else { return }
        lease?.hasLookedBack = true
        let namesakes = leases.filter { $0.node == settings.node }
        if isAlone {
            lease?.predecessors = namesakes
        } else if namesakes.contains(where: { $0.age < LeaseWatch.length }) {
            notice(.namesake(settings.node))
        }
    }

    private func take(_ dead: [NodeLease]) {
        guard !dead.isEmpty, let end = store({ $0.onOrphans }) ?? nil else { return goOn() }
        perform(PostgresRows.taking(from: dead, run: run, node: settings.node)) { [unowned self] answers in
            let dialogs = PostgresRows.orphans(answers[0])
            guard !dialogs.isEmpty else {
                lease?.predecessors = []
                return goOn()
            }
            lease?.watch.hurry()
            perform([PostgresRows.unfinishedRecents(of: dialogs)]) { [unowned self] answers in
                end(OrphanedCalls(dialogs: dialogs, recents: PostgresRows.calls(answers[0])))
                goOn()
            }
        }
    }

    /// All is written: nobody has to look after this run any more.
    func release(_ done: @escaping () -> Void) {
        lease = nil
        perform(PostgresRows.release(run: run)) { _ in done() }
    }
}
