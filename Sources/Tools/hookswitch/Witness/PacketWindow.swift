import CallJournal
import Primitives
import Runtime

/// Captures what leaves from ports for media, and adds it up by ports between two samples. One thread uses it.
final class PacketWindow {
    /// Nanoseconds by which the clock of the time of day, which packets have, may move beside the monotonic one between two windows.
    private static let steadiness = 500_000

    private let ports: ClosedRange<UInt16>
    private var capture: PacketCapture
    private var packets: [PacketCapture.Packet] = []
    /// Two places for each port, for packets of RTP and for others: a number in `groups` and one more, or 0.
    private var places: [Int]
    private var groups: [KernelSample.Packets] = []
    /// The monotonic clock less the time of day, in nanoseconds.
    private var offset: Int?
    /// Packets that are not judged: the ring had no room for them, or the time of day was set while they left.
    private(set) var missed = 0

    /// - Throws: `PacketCapture.Failure`.
    init(ports: ClosedRange<UInt16>) throws(PacketCapture.Failure) {
        capture = try PacketCapture(ports: ports)
        places = Array(repeating: 0, count: ports.count * 2)
        self.ports = ports
    }

    /// The packets that have left since the last time.
    func take() -> [KernelSample.Packets] {
        packets.removeAll(keepingCapacity: true)
        capture.read(into: &packets)
        missed += capture.losses()
        let offset = Int(MonotonicClock.now.nanoseconds) - Int(WallClock.now), before = self.offset ?? offset
        self.offset = offset
        guard abs(offset - before) <= Self.steadiness else {
            missed += packets.count
            return []
        }
        for packet in packets { add(packet, at: Instant(nanoseconds: UInt64(clamping: Int(packet.wall) + offset))) }
        for group in groups { places[place(group.port, group.isRTP)] = 0 }
        defer { groups.removeAll(keepingCapacity: true) }
        return groups
    }

    private func place(_ port: UInt16, _ isRTP: Bool) -> Int { Int(port - ports.lowerBound) * 2 + (isRTP ? 1 : 0) }

    private func add(_ packet: PacketCapture.Packet, at instant: Instant) {
        guard ports.contains(packet.port) else { return }
        let place = place(packet.port, packet.isRTP), number = places[place]
        guard number > 0 else {
            groups.append(.init(port: packet.port, isRTP: packet.isRTP, first: instant, last: instant, count: 1))
            places[place] = groups.count
            return
        }
        groups[number - 1].last = max(groups[number - 1].last, instant)
        groups[number - 1].count += 1
    }
}
