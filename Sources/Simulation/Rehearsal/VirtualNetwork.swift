import Primitives
import UserAgent

/// The faults of a network with what it carries.
public struct LinkFaults: Equatable, Sendable {
    /// Datagrams, out of a thousand.
    public var lost = 0
    public var duplicated = 0
    /// Milliseconds. Each datagram takes a time of its own, so that they overtake one another.
    public var delay: ClosedRange<Int64> = 1...1
    /// Out of a thousand datagrams: those that take so long that timers run out meanwhile, but less than T4, as SIP relies on.
    public var late = 0
    /// Out of a thousand messages over a connection: those after which it breaks, as soon as nothing is on its way.
    public var cut = 0

    public init() {}

    /// Draws faults from none to bad.
    static func random(using random: inout SeededRandom) -> LinkFaults {
        var faults = LinkFaults()
        let badness = Int.random(in: 0...3, using: &random)
        faults.lost = [0, 10, 60, 150][badness]
        faults.duplicated = [0, 20, 50, 100][badness]
        faults.late = [0, 0, 10, 30][badness]
        faults.cut = [0, 0, 10, 30][badness]
        faults.delay = 1...Int64.random(in: 1...80, using: &random)
        return faults
    }
}

/// Carries datagrams and connections between virtual addresses, with faults drawn from a seed.
///
/// An address may have several inhabitants, as that of a forking proxy has: each gets what is sent there.
final class VirtualNetwork: SignallingNetwork {
    private unowned let world: World
    private var random: SeededRandom
    private var inhabitants: [SocketAddress: [any Inhabitant]] = [:]
    /// Addresses at which nobody is any more, and the network says so (ICMP).
    private var deserted: Set<SocketAddress> = []
    /// Messages and failures that have arrived at processes that stand still, in their order.
    private var held: [SocketAddress: [(arrived: Instant, read: () -> Void)]] = [:]
    private var connections: [UInt64: Connection] = [:]
    private var lastConnection: UInt64 = 0
    var faults = LinkFaults()
    /// The time that everything that arrives is said to have lain unread.
    var backlog = Duration.zero
    /// Whoever is connected to sees a port that is nobody's, as it is with TCP.
    var hasEphemeralPorts = false
    /// Sees every message as it is sent, lost or not.
    var onSend: ([UInt8], _ from: SocketAddress, _ to: SocketAddress) -> Void = { _, _, _ in }
    /// Sees every message as it arrives, before its receiver does.
    var onDelivery: ([UInt8], _ from: SocketAddress, _ to: SocketAddress) -> Void = { _, _, _ in }
    private(set) var sent = 0, lost = 0, duplicated = 0, cut = 0

    private struct Connection {
        let opener: SocketAddress, listener: SocketAddress
        /// The opener's end, as the listener sees it.
        let source: SocketAddress
        /// When the last message arrives: none overtakes it.
        var busyUntil: Instant
        var underWay = 0
        var isBreaking = false

        func joins(_ flow: Flow) -> Bool {
            flow.local == opener && flow.remote == listener || flow.local == listener && flow.remote == source
        }

        /// Both ends of it, each as its inhabitant knows it.
        func ends(_ flow: Flow) -> [Flow] {
            [(opener, listener), (listener, source)].map {
                Flow(transport: flow.transport, local: $0, remote: $1, connection: flow.connection)
            }
        }

        /// Gives the receiver of what is sent over the flow, and the flow over which he gets it.
        func receiver(of flow: Flow) -> (address: SocketAddress, seen: Flow) {
            let isBack = flow.remote == source
            return (isBack ? opener : listener, ends(flow)[isBack ? 0 : 1])
        }
    }

    init(world: World, seed: UInt64) {
        self.world = world
        random = SeededRandom(seed: seed)
    }

    func attach(_ inhabitant: any Inhabitant, to address: SocketAddress) { inhabitants[address, default: []].append(inhabitant) }

    /// Whoever is at this address is gone: datagrams to it come back.
    func desert(_ address: SocketAddress) {
        inhabitants[address] = nil
        deserted.insert(address)
    }

    /// An inhabitant is gone with its process: its connections are closed, and the other ends are told. Its address may have another.
    func kill(_ inhabitant: any Inhabitant, at address: SocketAddress) {
        inhabitants[address]?.removeAll { $0 === inhabitant }
        held[address] = nil
        for (id, connection) in connections where connection.opener == address || connection.listener == address {
            connections[id] = nil
            let broken = Flow(transport: .tcp, local: connection.opener, remote: connection.listener, connection: id)
            for end in connection.ends(broken) where end.local != address { world.after(.milliseconds(1)) { [unowned self] in tell(end) } }
        }
    }

    /// The process at an address stands still: what arrives waits in its sockets.
    func hold(_ address: SocketAddress) { held[address] = held[address] ?? [] }

    /// The process goes on, and reads what has arrived.
    func release(_ address: SocketAddress) {
        for (arrived, read) in held.removeValue(forKey: address) ?? [] {
            backlog = world.now - arrived
            read()
        }
        backlog = .zero
    }

    /// Done by the process at an address: now, or as soon as it goes on.
    func perform(at address: SocketAddress, _ work: @escaping () -> Void) {
        if held[address] == nil { work() } else { held[address]?.append((world.now, work)) }
    }

    /// Lets everybody go: the inhabitants hold the network, and it holds them.
    func detachAll() { (inhabitants, held) = ([:], [:]) }

    func send(_ bytes: [UInt8], over flow: Flow) {
        sent += 1
        onSend(bytes, flow.local, flow.remote)
        if flow.transport.isReliable { sendStream(bytes, flow) } else { sendDatagram(bytes, flow) }
    }

    private func happens(_ thousandths: Int) -> Bool { thousandths > 0 && Int.random(in: 0..<1_000, using: &random) < thousandths }

    // MARK: Datagrams

    private func sendDatagram(_ bytes: [UInt8], _ flow: Flow) {
        guard !happens(faults.lost) else { return lost += 1 }
        deliverDatagram(bytes, flow)
        guard happens(faults.duplicated) else { return }
        duplicated += 1
        deliverDatagram(bytes, flow)
    }

    private func deliverDatagram(_ bytes: [UInt8], _ flow: Flow) {
        var delay = Duration.milliseconds(Int64.random(in: faults.delay, using: &random))
        if happens(faults.late) { delay += .milliseconds(Int64.random(in: 500...4_400, using: &random)) }
        world.after(delay) { [unowned self] in deserted.contains(flow.remote) ? sendBack(bytes, flow) : deliver(bytes, flow) }
    }

    /// As much of a datagram as Linux quotes over IPv4.
    private func sendBack(_ bytes: [UInt8], _ flow: Flow) {
        for inhabitant in inhabitants[flow.local] ?? [] { inhabitant.portUnreachable(Array(bytes.prefix(520)), at: world.now) }
    }

    private func deliver(_ bytes: [UInt8], _ flow: Flow) { deliver(bytes, flow, to: flow.remote, seen: flow.reversed) }

    private func deliver(_ bytes: [UInt8], _ flow: Flow, to address: SocketAddress, seen: Flow) {
        perform(at: address) { [unowned self] in
            onDelivery(bytes, flow.local, address)
            for inhabitant in inhabitants[address] ?? [] { inhabitant.receive(bytes, over: seen, at: world.now) }
        }
    }

    // MARK: Connections

    private func sendStream(_ bytes: [UInt8], _ flow: Flow) {
        var flow = flow
        if flow.connection == 0 { flow.connection = open(flow) }
        guard let connection = connections[flow.connection] else { return tellFailed(flow) }
        let delay = Duration.milliseconds(Int64.random(in: faults.delay, using: &random))
        let arrival = max(world.now + delay, connection.busyUntil)
        connections[flow.connection]?.busyUntil = arrival
        connections[flow.connection]?.underWay += 1
        if happens(faults.cut) { connections[flow.connection]?.isBreaking = true }
        let (address, seen) = connection.receiver(of: flow)
        world.after(arrival - world.now) { [unowned self] in
            connections[flow.connection]?.underWay -= 1
            deliver(bytes, flow, to: address, seen: seen)
            breakIfIdle(flow)
        }
    }

    /// One that is open already, or a new one. Nobody listens: 0.
    private func open(_ flow: Flow) -> UInt64 {
        if let known = standing(flow) { return known }
        guard inhabitants[flow.remote] != nil else { return 0 }
        lastConnection += 1
        let source = hasEphemeralPorts ? SocketAddress(flow.local.address, port: 40_000 + UInt16(lastConnection)) : flow.local
        connections[lastConnection] = Connection(opener: flow.local, listener: flow.remote, source: source, busyUntil: world.now)
        return lastConnection
    }

    private func standing(_ flow: Flow) -> UInt64? { connections.filter { $0.value.joins(flow) }.keys.min() }

    func carrier(of flow: Flow) -> UInt64 {
        guard flow.connection == 0, flow.transport.isReliable else { return flow.connection }
        return standing(flow) ?? 0
    }

    func isOpen(_ flow: Flow) -> Bool { flow.connection == 0 || connections[flow.connection] != nil }

    func close(_ flow: Flow) {
        for (id, connection) in connections where flow.connection == id || flow.connection == 0 && connection.joins(flow) {
            connections[id] = nil
            var broken = flow
            broken.connection = id
            for end in connection.ends(broken) { world.after(.milliseconds(1)) { [unowned self] in tell(end) } }
        }
    }

    private func tell(_ broken: Flow) {
        perform(at: broken.local) { [unowned self] in
            for inhabitant in inhabitants[broken.local] ?? [] { inhabitant.failed(broken, at: world.now) }
        }
    }

    /// A message that is lost with its connection is not sent again, and one that ends a call would leave the other end in it for ever. So
    /// connections break when they are idle, and neither end stands still; then both ends are told at once.
    private func breakIfIdle(_ flow: Flow) {
        guard let connection = connections[flow.connection], connection.isBreaking, connection.underWay == 0,
            held[connection.opener] == nil, held[connection.listener] == nil
        else { return }
        cut += 1
        connections[flow.connection] = nil
        for end in connection.ends(flow) { for inhabitant in inhabitants[end.local] ?? [] { inhabitant.failed(end, at: world.now) } }
    }

    private func tellFailed(_ flow: Flow) {
        world.after(.milliseconds(1)) { [unowned self] in tell(flow) }
    }
}

extension Flow {
    /// The same way as the other end sees it.
    fileprivate var reversed: Flow { Flow(transport: transport, local: remote, remote: local, connection: connection) }
}
