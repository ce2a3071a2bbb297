import Primitives
import SIP
import UserAgent

// The lease of a trunk, where several gateways share a store.
extension Trunk {
    /// How the gateway that has the lease fares with the carrier.
    enum Reach: Equatable {
        case fine
        /// No answer came since then.
        case silent(since: Instant)
        /// Until then another gateway may have the lease.
        case standsBack(until: Instant)

        var due: Instant? {
            switch self {
            case .fine: nil
            case .silent(let since): since + Trunk.patience
            case .standsBack(let until): until
            }
        }
    }

    /// The time without an answer after which another gateway may try, and the time that it has for that.
    private static var patience: Duration { .seconds(30) }
    private static var pause: Duration { .seconds(60) }

    /// This gateway asks for the lease.
    var isWanted: Bool {
        if case .standsBack = reach { false } else { configuration.isLeased }
    }

    /// The carrier has answered, if only to refuse; or it has not. A registration says so, and a check where there is none.
    func noteReach(_ isHeard: Bool, at now: Instant) {
        guard isHeld, lease?.isOurs == true, !isLeaving else { return }
        switch (reach, isHeard) {
        case (.fine, true), (.silent, true): reach = .fine
        case (.standsBack, true): reach = .standsBack(until: now)
        case (.fine, false): reach = .silent(since: now)
        case (.silent, false), (.standsBack, false): break
        }
    }

    func advanceReach(to now: Instant) {
        switch reach {
        case .fine: break
        case .silent:
            reach = .standsBack(until: now + Self.pause)
            write(.standsBack, at: now, [:])
        case .standsBack: reach = .fine
        }
    }

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
        // It has stood back: it asks again when the other's time is over.
        if case .silent = reach { reach = .fine }
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
        for member in pool.members {
            let server = member.server, name = member.serverName
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
        let silent = pool.members.map(\.serverName).filter(silent.contains)
        let state = TrunkState(
            isRegistered: registration?.isRegistered == true, status: registrationStatus, routes: serviceRoutes.map(\.description),
            silent: silent)
        guard state != toldState else { return }
        toldState = state
        surroundings.context.store?.keep(.trunk(line: line.description, state))
    }
}
