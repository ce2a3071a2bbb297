import RTP

/// What all legs that were closed did together.
public struct MediaTotals: Hashable, Sendable {
    /// RTP.
    public var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Of what was to be received.
    public var packetsLost: UInt64 = 0
    /// By cause.
    public var refused = RefusedPackets()
    /// Frames made here that left a frame or more too late.
    public var lateFrames: UInt64 = 0
    /// Milliseconds of sound made up in place of lost and late packets.
    public var concealed: UInt64 = 0
    /// Legs of which one direction was heard and the other was not, though it should have been.
    public var oneWayLegs: UInt64 = 0

    /// No leg has closed.
    public init() {}

    /// Adds what a leg came to that has closed.
    public mutating func add(_ leg: MediaStatistics) {
        packetsSent += leg.sending.packets
        packetsReceived += leg.receiving.packets
        packetsLost += leg.receiving.lost ?? 0
        refused.add(leg.refused)
        lateFrames += leg.lateFrames
        concealed += leg.playout?.concealed ?? 0
        if leg.isOneWay { oneWayLegs += 1 }
    }
}

extension RefusedPackets {
    /// Each cause by its name.
    public var byCause: [(cause: String, count: UInt64)] {
        [
            ("not-started", notStarted), ("stranger", stranger), ("malformed", malformed), ("payload-type", payloadType),
            ("out-of-sequence", outOfSequence),
            ("no-receiver", noReceiver), ("forged", forged), ("replayed", replayed), ("checks", checks), ("send-failed", sendFailed),
        ]
    }

    mutating func add(_ other: RefusedPackets) {
        (notStarted, stranger, malformed) = (notStarted + other.notStarted, stranger + other.stranger, malformed + other.malformed)
        (payloadType, outOfSequence) = (payloadType + other.payloadType, outOfSequence + other.outOfSequence)
        (noReceiver, forged, replayed) = (noReceiver + other.noReceiver, forged + other.forged, replayed + other.replayed)
        (checks, sendFailed) = (checks + other.checks, sendFailed + other.sendFailed)
    }
}
