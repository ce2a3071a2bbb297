import Primitives

/// The limit of the packets that a far end may send in a second: what is more is dropped, by this process and by the kernel alike.
struct PacketRate: Hashable, Sendable {
    /// Packets in a second; 0: no limit.
    var limit: UInt32 = 0
    /// The beginning of the second that is counted, and its packets so far.
    var second = Instant.zero, packets: UInt32 = 0

    /// So many times the packets of the agreed length: room for those that a network held up, and let go at once.
    private static let greatest = 10

    /// Ten times the packets of that many milliseconds; of 20 ms where they are to be longer, for a far end may send shorter ones than it
    /// was asked for.
    static func limit(_ milliseconds: Int) -> UInt32 { UInt32(greatest * 1_000 / min(20, max(10, milliseconds))) }

    /// Counts a packet; false for one above the limit.
    mutating func admits(_ now: Instant) -> Bool {
        guard hasRoom(at: now) else { return false }
        count()
        return true
    }

    /// Whether a packet is within the limit. As `is_over_rate` of the kernel's program.
    mutating func hasRoom(at now: Instant) -> Bool {
        guard limit > 0 else { return true }
        if now.nanoseconds &- second.nanoseconds >= 1_000_000_000 { (second, packets) = (now, 0) }
        return packets < limit
    }

    /// Counts a packet for which there is room.
    mutating func count() { if limit > 0 { packets += 1 } }
}
