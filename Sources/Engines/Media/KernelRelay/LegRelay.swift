import Primitives

/// The direction that a leg receives, where a relay may have it.
struct LegRelay {
    /// The address that the leg's port of RTP is bound to.
    let local: SocketAddress
    /// The route while it is armed.
    var route: RelayRoute?
    /// Packets in a row that were ordinary: the next number, in a stream that went on.
    var ordinary = 0
    /// It is not armed again before this: who sends nonsense gets the way through the engine, and no more than that.
    var earliest = Instant.zero
    /// Times that it was armed, and the packets that were relayed the last time.
    var armings: UInt64 = 0, packets: UInt64 = 0
    /// Packets that were dropped the last time.
    var dropped = RelayDrops()
    /// Times in a row that a packet came to the socket before the relay had seen one: it does not see them at all.
    private var fruitless = 0

    /// So many ordinary packets make a direction ordinary.
    static let leastOrdinary = 3
    /// The rest between an end and the next beginning.
    static let rest = Duration.seconds(1)

    init(local: SocketAddress) { self.local = local }

    var isArmed: Bool { route != nil }

    /// This time, or the last one.
    var arming: RelayArming { RelayArming(number: armings, packets: packets, dropped: dropped.total) }

    /// Notes the packets that were dropped this time, and returns the new ones. Two processors may lose a count: a later reading can be
    /// less.
    mutating func note(_ now: RelayDrops) -> RelayDrops {
        let old = dropped
        (dropped.overRate, dropped.noMemory) = (max(old.overRate, now.overRate), max(old.noMemory, now.noMemory))
        var new = RelayDrops()
        (new.overRate, new.noMemory) = (dropped.overRate - old.overRate, dropped.noMemory - old.noMemory)
        return new
    }

    mutating func begin(_ route: RelayRoute) {
        (self.route, packets, dropped) = (route, 0, RelayDrops())
        armings += 1
    }

    /// It is not armed again for a second, or for up to a minute where that was in vain.
    mutating func end(for end: RelayEnd, at now: Instant) {
        fruitless = end == .packet && packets == 0 ? min(fruitless + 1, 7) : 0
        (ordinary, earliest) = (0, now + Self.rest * (1 << max(0, fruitless - 1)))
    }
}

/// The reason why a direction of a bridge is the engine's again: a packet that was not ordinary, a change of the bridge, or its end.
public enum RelayEnd: String, Hashable, Sendable { case packet, change, stop }

/// One time that a relay has the direction which a leg receives.
public struct RelayArming: Hashable, Sendable {
    /// The number among those of the leg, from 1 on.
    public var number: UInt64
    /// Packets that were relayed; none when it begins.
    public var packets: UInt64 = 0
    /// Packets that were dropped: above the limit of a second, or for want of memory.
    public var dropped: UInt64 = 0

    /// That time of a leg.
    public init(number: UInt64, packets: UInt64 = 0, dropped: UInt64 = 0) {
        (self.number, self.packets, self.dropped) = (number, packets, dropped)
    }
}

/// Directions of bridges that a relay had, by what became of them.
public struct RelayCounts: Hashable, Sendable {
    /// The relay has them now.
    public var armed = 0
    /// It was given them so many times.
    public var armings = 0
    /// Taken back for a packet that was left alone, for a change of a leg, or because a leg stopped.
    public var takenForPacket = 0, takenForChange = 0, takenForStop = 0
    /// Packets that were relayed, as far as they have been asked for.
    public var packets: UInt64 = 0
    /// Packets that were dropped, in the same way.
    public var dropped = RelayDrops()

    /// None.
    public init() {}

    /// The sum of two lanes.
    static func + (one: Self, other: Self) -> Self {
        var sum = one
        (sum.armed, sum.armings) = (one.armed + other.armed, one.armings + other.armings)
        sum.takenForPacket += other.takenForPacket
        sum.takenForChange += other.takenForChange
        sum.takenForStop += other.takenForStop
        sum.packets += other.packets
        sum.dropped = one.dropped + other.dropped
        return sum
    }
}
