import Primitives
import RTP
import Runtime

/// The relay of the kernel for one media lane: hands directions of its bridges to the program of a device, which all lanes share.
///
/// Belongs to a media lane.
final class KernelPacketRelay: PacketRelay {
    /// The kernel lets packets go five seconds after the last sign of life.
    private static let pulse = Duration.seconds(1)

    private let device: KernelRelayDevice
    private let ways: RelayWays
    /// Each with its direction as it was handed over: the entry's figures count from there.
    private var armed: [RelayRoute: (key: RelayKey, begin: RelayedDirection)] = [:]
    private var renewed = Instant.zero

    /// Nil where the kernel does not tell its routes.
    init?(_ device: KernelRelayDevice) {
        guard let ways = RelayWays() else { return nil }
        (self.device, self.ways) = (device, ways)
    }

    func arm(_ route: RelayRoute, _ direction: RelayedDirection) -> Bool {
        // News from before are in the answers to what is asked now.
        if armed.isEmpty { _ = ways.haveChanged() }
        guard let stream = RelayedStream(direction.receiver, direction.stream),
            let incoming = ways.way(from: route.local.address, to: route.remote.address),
            let outgoing = ways.way(from: route.nextLocal.address, to: route.nextRemote.address), incoming.isLocal == outgoing.isLocal
        else { return false }
        let key = RelayKey(local: SocketAddress(incoming.address, port: route.local.port), remote: route.remote)
        var plan = RelayEntry.Plan(
            source: SocketAddress(outgoing.address, port: route.nextLocal.port), destination: route.nextRemote,
            interface: outgoing.isLocal ? nil : outgoing.interface,
            types: RelayTypes(direction.stream.payloadTypes, direction.payloadTypes), clockRate: stream.clockRate)
        plan.longest = outgoing.longest
        plan.rateLimit = direction.rate.limit
        do throws(KernelRelayDevice.Failure) {
            try device.attach(to: incoming.interface)
            beat(at: MonotonicClock.now)
            try device.arm(key, RelayEntry(plan: plan, stream: stream, rate: direction.rate))
        } catch {
            return false
        }
        armed[route] = (key, direction)
        return true
    }

    func read(_ route: RelayRoute) -> RelayedDirection? { armed[route].flatMap { now(of: $0.begin, device.read($0.key)) } }

    func disarm(_ route: RelayRoute) -> RelayedDirection? {
        armed.removeValue(forKey: route).flatMap { now(of: $0.begin, device.take($0.key)) }
    }

    private func now(of begin: RelayedDirection, _ entry: RelayEntry?) -> RelayedDirection? {
        guard let entry else { return nil }
        var direction = begin
        direction.resume(from: entry.stream)
        (direction.rate.second, direction.rate.packets) = (entry.second, entry.secondPackets)
        (direction.dropped.overRate, direction.dropped.noMemory) = (entry.left.overRate, entry.left.failed)
        return direction
    }

    /// The time of the next `beat`; nil while nothing is armed.
    var deadline: Instant? { armed.isEmpty ? nil : renewed + Self.pulse }

    /// Says that this process lives.
    func beat(at now: Instant) {
        guard now >= renewed + Self.pulse else { return }
        renewed = now
        try? device.renew(at: now)
    }

    /// Whether packets may have other ways than those that were armed: all are to be taken back.
    func waysHaveChanged() -> Bool { ways.haveChanged() }
}

extension RelayedDirection {
    /// Goes on where that stream stands, whose beginning was taken from here.
    mutating func resume(from relayed: RelayedStream) {
        receiver.resume(from: relayed)
        sender.resume(from: relayed)
        stream.resume(from: relayed)
        guard let last = relayed.last else { return }
        received.note(relayed.packets, until: last.at)
        sent.note(relayed.packets, until: last.at)
        self.last = (last.payloadType, Int(last.octets))
    }
}
