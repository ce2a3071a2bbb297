import Primitives
import RTP

/// Counts of one leg from its opening. Nothing is filled in that was not measured: those are nil.
public struct MediaStatistics: Hashable, Sendable {
    /// RTP that left, with the loss and jitter that the far end reports; without RTCP.
    public var sending = RTPFigures()
    /// RTP that was accepted, whatever became of it.
    public var receiving = RTPFigures()
    /// From our last sender report to the far end and back, RFC 3550 §6.4.1.
    public var roundTrip: Duration?
    /// All that were measured, in milliseconds; nil until one was.
    public var roundTrips: HistogramFigures?
    /// Whether what came and what was sent could be heard, since the last start, resume or end of a hold; nil until measured.
    public var incoming: DirectionVerdict?, outgoing: DirectionVerdict?
    /// By ITU-T G.107, of what we sent (as the far end reports it) and of what came; nil until measured.
    public var sendingQuality: CallQuality?, receivingQuality: CallQuality?
    /// Metrics of the far end about our stream, where it sends extended reports (RFC 3611).
    public var peerMetrics: VoIPMetrics?
    /// Times of the first and the last RTP packet; nil where none left.
    public var firstSent: Instant?, lastSent: Instant?
    /// Times of the first and the last RTP packet that was taken; nil where none was.
    public var firstReceived: Instant?, lastReceived: Instant?
    /// Datagrams that came and were not taken, and that could not be sent.
    public var refused = RefusedPackets()
    /// Datagrams that keep a NAT open and hold nothing (RFC 6263 §4).
    public var keepAlives: UInt64 = 0
    /// Frames made here that left a frame or more too late.
    public var lateFrames: UInt64 = 0
    /// Nil where nothing that was received was decoded.
    public var playout: PlayoutFigures?

    /// Nothing has passed.
    public init() {}

    /// One direction is heard and the other is not, though it should be.
    public var isOneWay: Bool { DirectionVerdict.isOneWay(incoming, outgoing) }
}

/// Figures of the received sound: how it was put in order and made whole.
public struct PlayoutFigures: Hashable, Sendable {
    /// Packets by their way through the jitter buffer.
    public var packets: JitterBuffer.Counters
    /// Milliseconds of sound that were made up in place of lost and late packets.
    public var concealed: UInt64
    /// Milliseconds that sound waits at present for slower packets.
    public var wait: Int

    /// The figures of one receiver.
    public init(packets: JitterBuffer.Counters, concealed: UInt64, wait: Int) {
        (self.packets, self.concealed, self.wait) = (packets, concealed, wait)
    }

    init(_ receiver: AudioReceiver) { self.init(packets: receiver.counters, concealed: receiver.concealed, wait: receiver.wait) }

    /// These, with the counts of an earlier stretch.
    func after(_ earlier: PlayoutFigures) -> PlayoutFigures {
        PlayoutFigures(packets: packets + earlier.packets, concealed: concealed + earlier.concealed, wait: wait)
    }
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
    /// Too late, or far from the sequence of its source.
    public var outOfSequence: UInt64 = 0
    /// More in a second than a far end may send.
    public var overRate: UInt64 = 0
    /// There is no linked leg, or it is not started, may not send, or sends digits meanwhile.
    public var noReceiver: UInt64 = 0
    /// Not protected by the agreed key: in the clear, damaged, or somebody else's.
    public var forged: UInt64 = 0
    /// Protected, but taken before or too old to tell.
    public var replayed: UInt64 = 0
    /// Connectivity checks that were damaged, not proved, or not to be answered (RFC 8445).
    public var checks: UInt64 = 0
    /// The operating system did not take it, or it could not be protected.
    public var sendFailed: UInt64 = 0

    /// Nothing was refused.
    public init() {}

    /// The sum over all causes.
    public var total: UInt64 {
        notStarted + stranger + malformed + payloadType + outOfSequence + overRate + noReceiver + forged + replayed + checks + sendFailed
    }
}

/// The packets between one `start` and its `stop`.
public struct MediaInterval: Hashable, Sendable {
    /// On the clock of the lane.
    public var started: Instant, stopped: Instant
    /// RTP packets.
    public var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Nil when none did.
    public var firstSent: Instant?, lastSent: Instant?
    /// Nil when none came.
    public var firstReceived: Instant?, lastReceived: Instant?
    /// Whether it could be heard; nil where it ran too briefly to say, and while nothing is due.
    public var incoming: DirectionVerdict?, outgoing: DirectionVerdict?
    /// The quality of the leg from its opening to the stop, earlier intervals included; nil where nothing is measured.
    public var quality: LegQuality?
    /// The last time that a relay had the direction which the leg receives: what `MediaEvent` says of it and of earlier ones is old.
    public var relayed = RelayArming(number: 0)

    /// An interval in which nothing passed.
    public init(started: Instant, stopped: Instant) {
        self.started = started
        self.stopped = stopped
    }
}
