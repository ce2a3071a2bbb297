import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization
import UserAgent

/// One process of the gateway, and what dies with it.
struct GatewayLife {
    let gateway: Gateway
    let media: VirtualMediaPlane
    let stage: GatewayStage
    static let start = Instant(nanoseconds: 1_000_000_000)

    init(
        _ configuration: GatewayConfiguration, _ world: World, _ network: VirtualNetwork, _ store: VirtualStore?, _ sink: Transcript,
        seeds: (media: UInt64, agent: UInt64)
    ) {
        media = VirtualMediaPlane(ports: configuration.media.ports, quarantine: configuration.media.quarantine, seed: seeds.media)
        let clock = WallClock(instant: Self.start, unixNanoseconds: 1_790_000_000_000_000_000)
        var environment = Gateway.Environment(
            network: network, media: media, random: SeededRandom(seed: seeds.agent), hash: OpenSSLDigest.sip, addressTowards: { _ in nil },
            listeners: [Transports.Listener(.udp, Cast.gateway), Transports.Listener(.tcp, Cast.gateway)],
            journal: Journal(lane: "rehearsal", clock: clock, sink: sink), epoch: Date(timeIntervalSince1970: 1_790_000_000))
        if let store { (environment.store, environment.kept) = (store, store.kept) }
        gateway = Gateway(configuration, environment, at: world.now)
        stage = GatewayStage(gateway)
        world.add(stage)
        network.attach(stage, to: Cast.gateway)
    }
}

/// The gateway as an inhabitant of the world.
final class GatewayStage: Inhabitant {
    private let gateway: Gateway
    /// No timer rings, as in a process that gets no time.
    var isStill = false

    init(_ gateway: Gateway) { self.gateway = gateway }

    var deadline: Instant? { isStill ? nil : gateway.deadline }
    func advance(to now: Instant) { gateway.advance(to: now) }

    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { gateway.receive(bytes, over: flow, at: now) }
    func failed(_ flow: Flow, at now: Instant) { gateway.failed(flow, at: now) }
    func portUnreachable(_ beginning: [UInt8], at now: Instant) { gateway.portUnreachable(beginning, at: now) }
}

/// The state that survives the process, as in a database that is always there.
final class VirtualStore: LineStore {
    private let state = Mutex(KeptState()), rows = Mutex<Set<UUID>>([])

    var kept: KeptState { state.withLock { $0 } }

    /// Calls whose end nobody has written.
    var unfinished: Set<UUID> {
        Set(kept.lines.values.flatMap(\.recents).filter { $0.reason == RecentCall.gatewayKilled }.map(\.id))
    }

    var sharesCalls: Bool { true }

    func keep(_ change: LineChange) {
        switch change {
        case .dialog(let row): rows.withLock { _ = $0.insert(row.call) }
        case .noDialog(let call): rows.withLock { _ = $0.remove(call) }
        default: state.withLock { $0.keep(change) }
        }
    }

    /// The calls that have rows for other gateways.
    var dialogs: Set<UUID> { rows.withLock { $0 } }

    /// As another gateway does with the rows of one that has died.
    func forgetDialogs() { rows.withLock { $0 = [] } }
}

extension KeptState {
    fileprivate mutating func keep(_ change: LineChange) {
        switch change {
        case .recent(let call):
            self[call.line].recents.removeAll { $0.id == call.id && $0.direction == call.direction }
            self[call.line].recents.insert(call, at: 0)
        case .noRecent(let line, let id, let direction): self[line].recents.removeAll { $0.id == id && $0.direction == direction }
        case .registrations(let user, let saved): registrations = registrations.filter { $0.user != user } + saved
        // The players of a rehearsal block no callers, do not sleep, and leave no messages.
        default: break
        }
    }
}

extension Rehearsal {
    /// The process dies: the kernel closes its connections, and its memory is gone. Another one begins with what was kept.
    func kill() {
        verdict.killedDialogs = witness.answeredDialogs
        verdict.rungAfterKill = -registeredRings
        unfinished = store?.unfinished ?? []
        store?.forgetDialogs()
        verdict.failedBinds += media.failedBinds
        world.remove(life.stage)
        network.kill(life.stage, at: Cast.gateway)
        witness.forgetDialogs()
        life = GatewayLife(configuration, world, network, store, sink, seeds: (fate.next(), fate.next()))
        watchGateway()
        for phone in phones { phone.hangUpSoon() }
    }

    /// The process gets no time for a while, as on a machine that is suspended or starved: its timers ring late, and all that has arrived
    /// comes at once.
    /// - Parameter timersFirst: whether what is due is done before what has arrived.
    func pause(for length: Duration, timersFirst: Bool) {
        let stage = life.stage
        guard !stage.isStill else { return }
        verdict.pauses += 1
        stage.isStill = true
        network.hold(Cast.gateway)
        world.after(length) { [unowned self] in
            // It was killed meanwhile: another process has its address.
            guard stage === life.stage else { return }
            stage.isStill = false
            if timersFirst { stage.advance(to: world.now) }
            network.release(Cast.gateway)
        }
    }

    private var registeredRings: Int { phones.filter(\.isRegistered).reduce(0) { $0 + $1.tally.rung } }

    /// Recents have no call as if the gateway had been killed, but those that it had then; and no call that is over has a row.
    func judgeStore() {
        if verdict.killedDialogs != nil { verdict.rungAfterKill += registeredRings }
        let wrong = store?.unfinished.subtracting(unfinished) ?? []
        if !wrong.isEmpty { verdict.leaks.append("recents have \(wrong.count) calls without an end, which no kill cut off") }
        let rows = store?.dialogs ?? []
        if !rows.isEmpty { verdict.leaks.append("\(rows.count) calls that are over have rows for other gateways") }
    }
}
