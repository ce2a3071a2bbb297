import Media
import Primitives
import Runtime
import UserAgent

/// UDP ports without a kernel, in virtual time: what leaves one arrives at another as the way between them has it.
final class VirtualPorts {
    /// A way, by the addresses of its two ends.
    private struct Way: Hashable { let from: IPAddress, to: IPAddress }
    private struct Place { weak var socket: VirtualPort? }

    private unowned let world: World
    private var places: [SocketAddress: Place] = [:]
    private var impairments: [Way: Impairment] = [:]
    /// Datagrams that arrived where nobody had bound a port: those of scripted phones, which only count.
    private(set) var unheard = 0
    /// Datagrams that left.
    private(set) var sent = 0
    private static let usualDelay = Duration.milliseconds(2)
    /// Asked first about each datagram that arrives.
    var relay: MemoryRelay?

    init(world: World) { self.world = world }

    var boundPorts: Int { places.count }

    /// From now on RTP between these two addresses, in this direction, fares like this. RTCP is never harmed, so that what is counted is
    /// RTP alone.
    func impair(from: IPAddress, to: IPAddress, _ settings: Impairment.Settings, seed: UInt64) {
        impairments[Way(from: from, to: to)] = Impairment(settings, seed: seed)
    }

    /// Gives the impairment on a way so far.
    func impairment(from: IPAddress, to: IPAddress) -> Impairment? { impairments[Way(from: from, to: to)] }

    func send(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress) {
        sent += 1
        let way = Way(from: from.address, to: to.address), isRTCP = bytes.count > 1 && (192...223).contains(bytes[1])
        let arrivals = isRTCP ? nil : impairments[way]?.pass(at: world.now)
        for arrival in arrivals ?? [world.now + Self.usualDelay] {
            world.after(arrival - world.now) { [weak self] in self?.deliver(bytes, from, to) }
        }
    }

    private func deliver(_ bytes: [UInt8], _ from: SocketAddress, _ to: SocketAddress) {
        switch relay?.pass(bytes, from: from, to: to, at: world.now) {
        case .passed(let bytes, let from, let to): return send(bytes, from: from, to: to)
        case .dropped: return
        case .left, nil: break
        }
        guard let socket = places[to]?.socket else { return unheard += 1 }
        socket.take(bytes, from: from, at: world.now)
    }

    fileprivate func bind(_ address: SocketAddress, token: UInt64, for seat: MediaSeat) throws(SocketError) -> VirtualPort {
        guard places[address] == nil else { throw .addressInUse(.udp, address) }
        let port = VirtualPort(address, token, self, seat)
        places[address] = Place(socket: port)
        return port
    }

    fileprivate func unbind(_ address: SocketAddress) { places[address] = nil }
}

/// A media engine as an inhabitant of the world, on virtual ports.
final class MediaSeat: Inhabitant {
    let engine: MediaEngine
    /// Hears what media has to say.
    var onEvent: (MediaLegID, MediaEvent, Instant) -> Void = { _, _, _ in }

    init(_ ports: VirtualPorts, seed: UInt64, at now: Instant) {
        let binder = VirtualPortBinder(ports)
        engine = MediaEngine(binder: binder, random: SeededRandom(seed: seed), at: now)
        binder.seat = self
    }

    var deadline: Instant? { engine.deadline }

    func advance(to now: Instant) {
        engine.advance(to: now)
        tell(now)
    }

    fileprivate func ready(_ token: UInt64, at now: Instant) {
        engine.ready(token, at: now)
        tell(now)
    }

    /// Passes on what the engine has to say; after anything that was asked of it from outside, too.
    func tell(_ now: Instant) { for (leg, event) in engine.takeEvents() { onEvent(leg, event, now) } }

    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {}
    func failed(_ flow: Flow, at now: Instant) {}
}

private final class VirtualPortBinder: PortBinder {
    private let ports: VirtualPorts
    weak var seat: MediaSeat?

    init(_ ports: VirtualPorts) { self.ports = ports }

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket {
        guard let seat else { throw .addressInUse(.udp, address) }
        return try ports.bind(address, token: token, for: seat)
    }

    func release(_ socket: any MediaSocket) {}
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {}
}

private final class VirtualPort: MediaSocket {
    private let address: SocketAddress
    private let token: UInt64
    private let ports: VirtualPorts
    private weak var seat: MediaSeat?
    private var inbox: [(bytes: [UInt8], sender: SocketAddress)] = []
    private var remote: SocketAddress?
    private var isLocked = false

    init(_ address: SocketAddress, _ token: UInt64, _ ports: VirtualPorts, _ seat: MediaSeat) {
        (self.address, self.token, self.ports, self.seat) = (address, token, ports, seat)
    }

    deinit { ports.unbind(address) }

    var isSourceVerified: Bool { false }
    func aim(at remote: SocketAddress?) { (self.remote, isLocked) = (remote, false) }
    func lock(to remote: SocketAddress) { (self.remote, isLocked) = (remote, true) }

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let remote else { return false }
        return send(packet, to: remote)
    }

    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        ports.send(Array(packet), from: address, to: remote)
        return true
    }

    func take(_ bytes: [UInt8], from sender: SocketAddress, at now: Instant) {
        if isLocked, sender != remote { return }
        inbox.append((bytes, sender))
        seat?.ready(token, at: now)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        guard !inbox.isEmpty else { return nil }
        let (bytes, sender) = inbox.removeFirst(), count = min(bytes.count, buffer.count)
        buffer.copyBytes(from: bytes.prefix(count))
        return ReceivedDatagram(count: count, sender: sender, isWhole: count == bytes.count)
    }
}
