import Primitives

/// One direction of a relay from packet to packet: what `ReceiverStatistics` and `RTPRewriter` keep of its source.
///
/// It moves as a whole to a place that relays ordinary packets by the same rules (the kernel), and back. Meanwhile neither of the two may be
/// given a packet of this direction. Report blocks need their own figures of the interval, which stay where they are.
public struct RelayedStream: Hashable, Sendable {
    /// The part of the statistics; the names are those of RFC 3550 A.1.
    public struct Reception: Hashable, Sendable {
        /// The first sequence number, and the highest, with those passed over.
        public var base: UInt16, highest: UInt16
        /// 65,536 for each wrap of the sequence number.
        public var cycles: UInt32
        /// Packets with copies and with those passed over.
        public var received: Int64
        /// Bits of the last 64 sequence numbers, the newest lowest; and the number of steps there were, up to 32.
        public var window: UInt64, age: UInt8
        /// Packets that came twice, and those lost in a row, up to 32 packets ago.
        public var copies: Int64, missing: UInt32
        /// The transit time of the last packet that was timed; nil before the first.
        public var transit: UInt32?
        /// In sixteenths of a tick; nil before two packets.
        public var jitter: UInt32?
        /// Bursts of losses, and the steps of the transit time in tenths of a millisecond.
        public var bursts: BurstMetrics, jitters: Histogram<UInt32>

        /// All of it.
        public init(
            base: UInt16, highest: UInt16, cycles: UInt32, received: Int64, window: UInt64, age: UInt8, copies: Int64, missing: UInt32,
            transit: UInt32?, jitter: UInt32?, bursts: BurstMetrics, jitters: Histogram<UInt32>
        ) {
            (self.base, self.highest, self.cycles, self.received) = (base, highest, cycles, received)
            (self.window, self.age, self.copies, self.missing) = (window, age, copies, missing)
            (self.transit, self.jitter, self.bursts, self.jitters) = (transit, jitter, bursts, jitters)
        }
    }

    /// The part of the rewriter.
    public struct Source: Hashable, Sendable {
        /// The highest sequence number that was relayed, and the newest timestamp with the time at which it was.
        public var highest: UInt16, timestamp: UInt32, sentAt: Instant
        /// Packets between the first and the highest, up to 100.
        public var span: UInt8
        /// Added to what comes.
        public var sequenceOffset: UInt16, timestampOffset: UInt32

        /// All of it.
        public init(
            highest: UInt16, timestamp: UInt32, sentAt: Instant, span: UInt8, sequenceOffset: UInt16, timestampOffset: UInt32
        ) {
            (self.highest, self.timestamp, self.sentAt, self.span) = (highest, timestamp, sentAt, span)
            (self.sequenceOffset, self.timestampOffset) = (sequenceOffset, timestampOffset)
        }
    }

    /// The source that comes, and the one under which its packets leave.
    public var ssrc: UInt32, sendingSSRC: UInt32
    /// Ticks per second on both sides.
    public var clockRate: UInt32
    /// What the statistics keep, and what the rewriter keeps.
    public var reception: Reception, source: Source
    /// Packets and octets of payload that came and were sent since this value was made.
    public var packets: UInt64 = 0, octets: UInt64 = 0
    /// The last packet among those; nil before the first.
    public var last: Last?

    /// A packet that came and was sent on.
    public struct Last: Hashable, Sendable {
        /// The time of both.
        public var at: Instant
        /// The timestamp under which it left, for sender reports.
        public var sentTimestamp: UInt32
        /// The payload type under which it came, and the octets of its payload.
        public var payloadType: UInt8, octets: UInt32

        /// All of it.
        public init(at time: Instant, sentTimestamp: UInt32, payloadType: UInt8, octets: UInt32) {
            (at, self.sentTimestamp, self.payloadType, self.octets) = (time, sentTimestamp, payloadType, octets)
        }
    }

    /// A stream as it stands.
    public init(ssrc: UInt32, sendingSSRC: UInt32, clockRate: UInt32, reception: Reception, source: Source) {
        (self.ssrc, self.sendingSSRC, self.clockRate) = (ssrc, sendingSSRC, clockRate)
        (self.reception, self.source) = (reception, source)
    }

    /// The state after an ordinary packet of a source that both know; nil where one of them waits to see whether a jump is true, has another
    /// source, or runs in another clock.
    public init?(_ statistics: ReceiverStatistics, _ rewriter: RTPRewriter) {
        guard let epoch = statistics.epoch, epoch.badSequence == nil, case .source(let source) = rewriter.feed, rewriter.suspect == nil,
            source.ssrc == epoch.ssrc, statistics.clockRate == rewriter.clockRate, let sentAt = rewriter.lastSentAt
        else { return nil }
        (ssrc, sendingSSRC, clockRate) = (epoch.ssrc, rewriter.ssrc, rewriter.clockRate)
        reception = Reception(
            base: epoch.baseSequence, highest: epoch.maxSequence.rawValue, cycles: epoch.cycles, received: epoch.received,
            window: epoch.window, age: UInt8(epoch.age), copies: epoch.copies, missing: UInt32(clamping: epoch.missing),
            transit: epoch.transit, jitter: epoch.hasJitter ? epoch.jitter : nil, bursts: statistics.bursts, jitters: statistics.jitters)
        self.source = Source(
            highest: source.highest.rawValue, timestamp: source.timestamp, sentAt: sentAt, span: UInt8(source.span),
            sequenceOffset: source.sequenceOffset, timestampOffset: source.timestampOffset)
    }
}

extension ReceiverStatistics {
    /// Goes on where that stream stands, whose beginning was taken from here. Nothing happens where the source has changed since.
    public mutating func resume(from stream: RelayedStream) {
        guard var current = epoch, current.ssrc == stream.ssrc, current.baseSequence == stream.reception.base else { return }
        let reception = stream.reception
        (current.maxSequence, current.cycles, current.badSequence) = (SequenceNumber(reception.highest), reception.cycles, nil)
        (current.received, current.copies, current.missing) = (reception.received, reception.copies, Int(reception.missing))
        (current.window, current.age, current.transit) = (reception.window, Int(reception.age), reception.transit)
        (current.jitter, current.hasJitter) = (reception.jitter ?? current.jitter, reception.jitter != nil)
        (epoch, bursts, jitters) = (current, reception.bursts, reception.jitters)
        packets += stream.packets
        octets += stream.octets
    }
}

extension RTPRewriter {
    /// Goes on where that stream stands, whose beginning was taken from here. Nothing happens where something else was sent since.
    public mutating func resume(from stream: RelayedStream) {
        guard case .source(var source) = feed, source.ssrc == stream.ssrc, source.sequenceOffset == stream.source.sequenceOffset else {
            return
        }
        (source.highest, source.span) = (SequenceNumber(stream.source.highest), Int(stream.source.span))
        source.timestamp = stream.source.timestamp
        (feed, suspect, lastSentAt) = (.source(source), nil, stream.source.sentAt)
        lastSequence = stream.source.highest &+ source.sequenceOffset
        lastTimestamp = stream.source.timestamp &+ source.timestampOffset
    }
}

extension SenderStatistics {
    /// Counts what that stream sent.
    public mutating func resume(from stream: RelayedStream) {
        packets += stream.packets
        octets += stream.octets
        if let last = stream.last { self.last = (last.sentTimestamp, last.at) }
    }
}

extension BurstMetrics {
    /// All counts, in an order of their own: packets since the last loss and the losses of the burst, the transitions of RFC 3611 A.2 (11, 13,
    /// 14, 22, 23, 33), stretches, losses and packets.
    public var counts: InlineArray<11, Int64> {
        get { [since, run, c11, c13, c14, c22, c23, c33, stretches, losses, packets] }
        set {
            (since, run, c11, c13, c14, c22) = (newValue[0], newValue[1], newValue[2], newValue[3], newValue[4], newValue[5])
            (c23, c33, stretches, losses, packets) = (newValue[6], newValue[7], newValue[8], newValue[9], newValue[10])
        }
    }
}
