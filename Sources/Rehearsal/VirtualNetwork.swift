import Primitives
import UserAgent

/// How badly a network treats datagrams.
public struct LinkFaults: Sendable {
    /// Out of a thousand.
    public var lost = 0
    public var duplicated = 0
    /// Each datagram takes a time of its own, so that they overtake one another.
    public var delay: ClosedRange<Int64> = 1...1
    /// Out of a thousand: those that take so long that timers run out meanwhile, but less than T4, as SIP relies on.
    public var late = 0

    public init() {}

    /// Draws faults from none to bad.
    static func random(using random: inout SeededRandom) -> LinkFaults {
        var faults = LinkFaults()
        let badness = Int.random(in: 0...3, using: &random)
        faults.lost = [0, 10, 60, 150][badness]
        faults.duplicated = [0, 20, 50, 100][badness]
        faults.late = [0, 0, 10, 30][badness]
        faults.delay = 1...Int64.random(in: 1...80, using: &random)
        return faults
    }
}

/// Carries datagrams between virtual addresses, with faults drawn from a seed.
///
/// An address may have several inhabitants, as that of a forking proxy has: each gets what is sent there.
final class VirtualNetwork: SignallingNetwork {
    private unowned let world: World
    private var random: SeededRandom
    private var inhabitants: [SocketAddress: [any Inhabitant]] = [:]
    var faults = LinkFaults()
    /// Sees every datagram as it is sent, lost or not.
    var onSend: ([UInt8], _ from: SocketAddress, _ to: SocketAddress) -> Void = { _, _, _ in }
    /// Sees every datagram as it arrives, before its receiver does.
    var onDelivery: ([UInt8], _ from: SocketAddress, _ to: SocketAddress) -> Void = { _, _, _ in }
    private(set) var sent = 0, lost = 0, duplicated = 0

    init(world: World, seed: UInt64) {
        self.world = world
        random = SeededRandom(seed: seed)
    }

    func attach(_ inhabitant: any Inhabitant, to address: SocketAddress) { inhabitants[address, default: []].append(inhabitant) }

    /// Lets everybody go: the inhabitants hold the network, and it holds them.
    func detachAll() { inhabitants = [:] }

    func send(_ bytes: [UInt8], over flow: Flow) {
        precondition(flow.transport == .udp, "the virtual network carries datagrams")
        sent += 1
        onSend(bytes, flow.local, flow.remote)
        guard !happens(faults.lost) else { return lost += 1 }
        deliver(bytes, flow)
        guard happens(faults.duplicated) else { return }
        duplicated += 1
        deliver(bytes, flow)
    }

    private func deliver(_ bytes: [UInt8], _ flow: Flow) {
        var delay = Duration.milliseconds(Int64.random(in: faults.delay, using: &random))
        if happens(faults.late) { delay += .milliseconds(Int64.random(in: 500...4_400, using: &random)) }
        world.after(delay) { [unowned self] in
            onDelivery(bytes, flow.local, flow.remote)
            for inhabitant in inhabitants[flow.remote] ?? [] { inhabitant.receive(bytes, at: flow.remote, from: flow.local, at: world.now) }
        }
    }

    private func happens(_ thousandths: Int) -> Bool { thousandths > 0 && Int.random(in: 0..<1_000, using: &random) < thousandths }
}
