import Primitives

/// Counts of one leg from its opening. Nothing is filled in that was not measured: those are nil.
public struct MediaStatistics: Hashable, Sendable {
    /// RTP, without RTCP. Octets are of the payload.
    public var packetsSent: UInt64 = 0, octetsSent: UInt64 = 0
    /// RTP that was accepted, whatever became of it.
    public var packetsReceived: UInt64 = 0, octetsReceived: UInt64 = 0
    /// Packets that the far end must have sent and that never came, RFC 3550 A.3; nil before the first packet.
    /// Negative when there were more duplicates than losses.
    public var lost: Int?
    /// Interarrival jitter, RFC 3550 A.8; nil before the second packet.
    public var jitter: Duration?
    /// What the far end reports of our packets, in its last RTCP report.
    public var remoteLost: Int?, remoteJitter: Duration?
    /// From our last sender report to the far end and back, RFC 3550 §6.4.1.
    public var roundTrip: Duration?
    public var firstSent: Instant?, lastSent: Instant?
    public var firstReceived: Instant?, lastReceived: Instant?
    public var refused = RefusedPackets()

    public init() {}
}

/// Datagrams that reached a leg's sockets, or should have left them, and did not get through; by cause.
public struct RefusedPackets: Hashable, Sendable {
    /// Before `start`, after `stop`, or while we do not receive.
    public var notStarted: UInt64 = 0
    /// Not from the address that this leg is latched to.
    public var stranger: UInt64 = 0
    /// Not RTP or RTCP, or longer than a packet may be.
    public var malformed: UInt64 = 0
    /// A payload type that was not agreed, or that the linked leg has no codec for.
    public var payloadType: UInt64 = 0
    /// There is no linked leg, or it is not started or may not send.
    public var noReceiver: UInt64 = 0
    /// The operating system did not take it.
    public var sendFailed: UInt64 = 0

    public init() {}

    public var total: UInt64 { notStarted + stranger + malformed + payloadType + noReceiver + sendFailed }
}

/// What passed between one `start` and its `stop`.
public struct MediaInterval: Hashable, Sendable {
    public var started: Instant, stopped: Instant
    public var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Nil when none did.
    public var firstSent: Instant?, lastSent: Instant?
    public var firstReceived: Instant?, lastReceived: Instant?

    public init(started: Instant, stopped: Instant) {
        self.started = started
        self.stopped = stopped
    }
}
