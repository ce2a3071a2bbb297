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

    /// So many ordinary packets make a direction ordinary.
    static let leastOrdinary = 3
    /// The rest between an end and the next beginning.
    static let rest = Duration.seconds(1)

    init(local: SocketAddress) { self.local = local }

    var isArmed: Bool { route != nil }
}

/// Directions of bridges that a relay had, by what became of them.
public struct RelayCounts: Hashable, Sendable {
    /// The relay has them now.
    public var armed = 0
    /// It was given them so many times.
    public var armings = 0
    /// Taken back for a packet that was left alone, for a change of a leg, or because a leg stopped.
    public var takenForPacket = 0, takenForChange = 0, takenForStop = 0

    /// None.
    public init() {}
}
