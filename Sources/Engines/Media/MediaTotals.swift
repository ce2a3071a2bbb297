import Primitives
import RTP

/// Sums over all closed legs.
public struct MediaTotals: Hashable, Sendable {
    /// RTP.
    public var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Packets that were due and did not come.
    public var packetsLost: UInt64 = 0
    /// By cause.
    public var refused = RefusedPackets()
    /// Frames made here that left a frame or more too late.
    public var lateFrames: UInt64 = 0
    /// Milliseconds of sound made up in place of lost and late packets.
    public var concealed: UInt64 = 0
    /// Legs of which one direction was heard and the other was not, though it should have been.
    public var oneWayLegs: UInt64 = 0

    /// The quality of what came, and of what was sent, as far ends report it; of legs where it was measured.
    public var received = QualityTotals(), sent = QualityTotals()

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
        received.add(leg.receiving, leg.receivingQuality)
        sent.add(leg.sending, leg.sendingQuality)
    }
}

/// The quality of one direction of all legs.
public struct QualityTotals: Hashable, Sendable {
    /// Shares of packets that were lost, 0 to 1.
    public private(set) var loss = FixedHistogram([0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1])
    /// Interarrival jitter as it was last, in seconds.
    public private(set) var jitter = FixedHistogram([0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5])
    /// MOS of conversation (ITU-T G.107).
    public private(set) var score = FixedHistogram([1.5, 2, 2.5, 3, 3.25, 3.5, 3.75, 4, 4.1, 4.2, 4.3, 4.4, 4.5])

    mutating func add(_ figures: RTPFigures, _ quality: CallQuality?) {
        if let share = figures.lossFraction { loss.add(share) }
        if let milliseconds = figures.jitter { jitter.add(milliseconds / 1_000) }
        if let quality { score.add(quality.meanOpinionScore) }
    }
}

extension RefusedPackets {
    /// Each cause by its name.
    public var byCause: [(cause: String, count: UInt64)] {
        [
            ("not-started", notStarted), ("stranger", stranger), ("malformed", malformed), ("payload-type", payloadType),
            ("out-of-sequence", outOfSequence), ("over-rate", overRate),
            ("no-receiver", noReceiver), ("forged", forged), ("replayed", replayed), ("checks", checks), ("send-failed", sendFailed),
        ]
    }

    mutating func add(_ other: RefusedPackets) {
        (notStarted, stranger, malformed) = (notStarted + other.notStarted, stranger + other.stranger, malformed + other.malformed)
        (payloadType, outOfSequence) = (payloadType + other.payloadType, outOfSequence + other.outOfSequence)
        overRate += other.overRate
        (noReceiver, forged, replayed) = (noReceiver + other.noReceiver, forged + other.forged, replayed + other.replayed)
        (checks, sendFailed) = (checks + other.checks, sendFailed + other.sendFailed)
    }
}
