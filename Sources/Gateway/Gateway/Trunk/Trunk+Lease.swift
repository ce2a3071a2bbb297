import Primitives
import SIP
import UserAgent

// The lease of a trunk, where several gateways share a store.
extension Trunk {
    /// Takes the lease as the store has it. Who gets it registers, and checks the servers; who has lost it takes its registration back.
    func adopt(_ lease: TrunkLease, at now: Instant) {
        guard configuration.isLeased, !isLeaving else { return }
        let before = self.lease
        self.lease = lease
        if lease.isOurs {
            if !isHeld { take(from: before, at: now) }
            // The row may be another than the one that was told.
            if lease.state != toldState { toldState = nil }
            tellOthers()
        } else {
            if isHeld { yield(at: now) }
            hear(lease.state, before: before)
        }
        guard before?.node != lease.node || before?.isOurs != lease.isOurs else { return }
        write(lease.isOurs ? .held : .elsewhere, at: now, [.node: .init(lease.node)])
    }

    private func take(from before: TrunkLease?, at now: Instant) {
        (isHeld, toldState) = (true, nil)
        noteSilent([], before: before?.state.silent ?? [])
        beginChecks(at: now)
        if registration == nil { register(at: now) }
    }

    private func yield(at now: Instant) {
        (isHeld, keeper, nextHealth, silent) = (false, nil, nil, [])
        unregister(at: now)
    }

    /// Calls of this gateway go as those of the one that is registered.
    private func hear(_ state: TrunkState, before: TrunkLease?) {
        registrationStatus = state.status
        serviceRoutes = state.routes.compactMap { try? NameAddress(parsing: Text($0)) }
        noteSilent(state.silent, before: before.map { $0.isOurs ? [] : $0.state.silent } ?? [])
    }

    /// Servers that do not answer the gateway that checks them are asked last, until they answer it, or a call of ours.
    func noteSilent(_ names: [String], before: [String]) {
        for server in pool.members.map(\.server) {
            let name = "\(server.transport):\(server.address)"
            if names.contains(name), !before.contains(name) {
                pool.failed(server.address, server.transport, until: .distantFuture)
            } else if before.contains(name), !names.contains(name) {
                pool.answered(server.address, server.transport)
            }
        }
    }

    /// Tells the others that share the store, where it is different.
    func tellOthers() {
        guard isHeld, lease != nil, !isLeaving else { return }
        let silent = pool.members.map { "\($0.server.transport):\($0.server.address)" }.filter(silent.contains)
        let state = TrunkState(
            isRegistered: registration?.isRegistered == true, status: registrationStatus, routes: serviceRoutes.map(\.description),
            silent: silent)
        guard state != toldState else { return }
        toldState = state
        surroundings.context.store?.keep(.trunk(line: line.description, state))
    }
}
