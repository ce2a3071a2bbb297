import Primitives

/// One outgoing RTP stream that stays whole whatever feeds it: relayed packets of changing sources, or packets made here.
///
/// It has an SSRC, a first sequence number and a first timestamp of its own (RFC 3550 §5.1). Of one source it keeps
/// losses as gaps, and the order and the copies as they come: the far end's jitter buffer and statistics see what the
/// network did. When the source changes, restarts or was paused, the sequence goes on by one, timestamps advance by
/// the time that passed, and the first packet carries the marker.
///
/// Works in the packet's own memory and allocates nothing.
public struct RTPRewriter: Sendable {
    /// The result for a packet.
    public enum Outcome: Hashable, Sendable {
        /// The packet was rewritten and is to be sent.
        case rewritten
        /// Its payload type has no number on this side.
        case unmapped
        /// It was sent before the source's first packet here, so its place is taken.
        case stale
        /// Far from the source's sequence. Taken as a restart when the next one follows it (RFC 3550 A.1).
        case strayed
    }

    /// The plausible step forward and back in one source's sequence (RFC 3550 A.1: MAX_DROPOUT, MAX_MISORDER).
    @usableFromInline static let greatestGap = 3_000
    @usableFromInline static let greatestLateness = 100
    /// Seconds by which timestamps may differ from the time that passed before they count as a new base.
    @usableFromInline static let timestampTolerance: Int64 = 10

    /// The source that packets leave under.
    public let ssrc: UInt32
    /// Ticks per second of the clock of the codec that leaves.
    public internal(set) var clockRate: UInt32

    /// The highest sequence number that was sent, and the newest timestamp with the time at which it was.
    @usableFromInline var lastSequence: UInt16
    @usableFromInline var lastTimestamp: UInt32
    @usableFromInline var lastSentAt: Instant?
    @usableFromInline var feed = Feed.none
    /// Silence was left out before the next packet that is made here.
    @usableFromInline var isSilent = false
    /// The sequence number with which a source that strayed would go on.
    @usableFromInline var suspect: UInt16?
    /// The payload types that come, and the numbers under which they leave.
    public var payloadTypes: PayloadTypeMap

    @usableFromInline enum Feed: Sendable {
        case none
        case source(Source)
        /// Packets made here, and the ticks that the last one lasts.
        case originated(UInt32)
    }

    @usableFromInline struct Source: Sendable {
        @usableFromInline var ssrc: UInt32
        @usableFromInline var highest: SequenceNumber
        /// Packets between the first one of this source and the highest, which late ones may still fill.
        @usableFromInline var span = 0
        @usableFromInline var timestamp: UInt32
        @usableFromInline var sequenceOffset: UInt16
        @usableFromInline var timestampOffset: UInt32

        @inlinable init(_ header: RTPHeader, sequence: UInt16, timestamp: UInt32) {
            (ssrc, highest, self.timestamp) = (header.ssrc, header.sequence, header.timestamp)
            sequenceOffset = sequence &- header.sequence.rawValue
            timestampOffset = timestamp &- header.timestamp
        }
    }

    /// - Parameters:
    ///   - sequence: of the first packet.
    ///   - timestamp: of the first packet.
    public init(ssrc: UInt32, sequence: UInt16, timestamp: UInt32, clockRate: UInt32, payloadTypes: PayloadTypeMap = .identity) {
        (self.ssrc, self.clockRate, self.payloadTypes) = (ssrc, clockRate, payloadTypes)
        (lastSequence, lastTimestamp) = (sequence &- 1, timestamp)
    }

    /// A stream with random beginnings (RFC 3550 §5.1), in the lower half of the sequence: who joins an encrypted stream late could not
    /// know that it had wrapped already (RFC 3711 §3.3.1).
    public init(clockRate: UInt32, payloadTypes: PayloadTypeMap = .identity, using random: inout some RandomNumberGenerator) {
        // Bits as they are: a random number of a range costs as much as all the rest of a leg where the type of the source is not known.
        self.init(
            ssrc: max(1, UInt32(truncatingIfNeeded: random.next())), sequence: UInt16(truncatingIfNeeded: random.next()) >> 1,
            timestamp: UInt32(truncatingIfNeeded: random.next()), clockRate: clockRate, payloadTypes: payloadTypes)
    }

    /// A new stream from here on, of another source with random beginnings, as another clock needs one (RFC 7160 §4.1).
    public mutating func renew(clockRate: UInt32, using random: inout some RandomNumberGenerator) {
        self = RTPRewriter(clockRate: clockRate, payloadTypes: payloadTypes, using: &random)
    }

    /// Held, or the far end of the relay changes: whatever comes next is a new beginning in the same stream.
    public mutating func pause() {
        feed = .none
        suspect = nil
    }

    /// Whether what left last was relayed from that source: what comes of it next keeps its place behind it.
    public func follows(_ ssrc: UInt32) -> Bool { if case .source(let source) = feed { source.ssrc == ssrc } else { false } }

    /// The source that is relayed, and its highest number; nil while none is.
    public var newest: NewestPacket? {
        if case .source(let source) = feed { NewestPacket(ssrc: source.ssrc, sequence: source.highest) } else { nil }
    }

    /// Whether a packet has the number behind the highest of the source that is relayed.
    @inlinable public func isNext(_ header: RTPHeader) -> Bool {
        guard case .source(let source) = feed, source.ssrc == header.ssrc else { return false }
        return source.highest.distance(to: header.sequence) == 1
    }

    /// Whether a packet goes on with the source that is relayed, for this stream and for `ReceiverStatistics`: no other source, no restart, no
    /// place that is taken, no new base of timestamps.
    @inlinable public func goesOn(with header: RTPHeader, at now: Instant) -> Bool {
        guard case .source(let source) = feed, source.ssrc == header.ssrc else { return false }
        let step = source.highest.distance(to: header.sequence)
        // Of the bounds of the two the narrower ones.
        guard step > 0 else { return step > -Self.greatestLateness && -step <= source.span }
        let ahead = timestampDistance(from: source.timestamp, to: header.timestamp)
        let tolerance = Self.timestampTolerance * Int64(clockRate)
        return step < Self.greatestGap && ahead >= -tolerance && ahead <= Int64(now.ticks(clockRate, since: lastSentAt ?? now)) + tolerance
    }

    /// Sets the clock rate: the next packets leave in the clock of another codec (RFC 7160).
    public mutating func turn(to rate: UInt32) { clockRate = rate }

    /// Makes a source's packet one of this stream, in place. `header` is what was parsed from the same packet.
    @inlinable public mutating func rewrite(_ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, at now: Instant) -> Outcome {
        guard let payloadType = payloadTypes[header.payloadType] else { return .unmapped }
        guard case .source(var source) = feed, source.ssrc == header.ssrc else {
            write(begin(header, at: now), payloadType, marker: true, to: packet, header)
            return .rewritten
        }
        var marker = header.marker
        let step = source.highest.distance(to: header.sequence)
        if step > 0, step <= Self.greatestGap {
            advance(&source, to: header, step: step, marker: &marker, at: now)
            feed = .source(source)
            suspect = nil
        } else if step > 0 || step < -Self.greatestLateness {
            guard suspect == header.sequence.rawValue else {
                suspect = header.sequence.rawValue &+ 1
                return .strayed
            }
            source = begin(header, at: now)
            marker = true
        } else if -step > source.span {
            return .stale
        }
        write(source, payloadType, marker: marker, to: packet, header)
        return .rewritten
    }

    /// The header of the next packet made here, which lasts `samples` ticks.
    ///
    /// Timestamps follow one another without a gap until `pause`, a relayed packet or an event comes between.
    public mutating func originate(payloadType: UInt8, samples: UInt32, payloadCount: Int = 0, at now: Instant) -> RTPHeader {
        var timestamp = timestampNow(now)
        var marker = true
        if case .originated(let lasting) = feed { (timestamp, marker) = (lastTimestamp &+ lasting, isSilent) }
        (feed, isSilent) = (.originated(samples), false)
        lastTimestamp = timestamp
        lastSentAt = now
        return next(payloadType, timestamp: timestamp, marker: marker, payloadCount)
    }

    /// The header of a packet of comfort noise, which says how the silence sounds that begins or goes on (RFC 3389): sound after it carries
    /// the marker.
    public mutating func originateNoise(payloadType: UInt8, samples: UInt32, payloadCount: Int = 0, at now: Instant) -> RTPHeader {
        var header = originate(payloadType: payloadType, samples: samples, payloadCount: payloadCount, at: now)
        (header.marker, isSilent) = (false, true)
        return header
    }

    /// Silence of so many ticks is not sent (DTX): timestamps go on, and the next packet made here carries the marker (RFC 3551 §4.1).
    public mutating func leaveOut(samples: UInt32, at now: Instant) {
        guard case .originated(let lasting) = feed else { return }
        lastTimestamp &+= lasting
        lastSentAt = now
        (feed, isSilent) = (.originated(samples), true)
    }

    /// Returns the present time of this stream's clock: the timestamp for an event that begins now (RFC 4733 §2.2.1).
    public mutating func beginEvent(at now: Instant) -> UInt32 {
        if case .originated(let lasting) = feed { lastTimestamp &+= lasting } else { lastTimestamp = timestampNow(now) }
        lastSentAt = now
        pause()
        return lastTimestamp
    }

    /// The header of the next packet of an event; `timestamp` is what `beginEvent` gave. Sound after it is a new beginning.
    public mutating func originateEvent(payloadType: UInt8, timestamp: UInt32, marker: Bool, at now: Instant) -> RTPHeader {
        pause()
        return next(payloadType, timestamp: timestamp, marker: marker, TelephoneEvent.size)
    }

    private mutating func next(_ payloadType: UInt8, timestamp: UInt32, marker: Bool, _ payloadCount: Int) -> RTPHeader {
        lastSequence &+= 1
        suspect = nil
        return RTPHeader(
            payloadType: payloadType, sequence: SequenceNumber(lastSequence), timestamp: timestamp, ssrc: ssrc, marker: marker,
            payloadCount: payloadCount)
    }

    /// The last timestamp and the time since then; at least one tick, so that no two beginnings share one.
    @usableFromInline func timestampNow(_ now: Instant) -> UInt32 {
        guard let lastSentAt else { return lastTimestamp }
        return lastTimestamp &+ max(1, now.ticks(clockRate, since: lastSentAt))
    }

    @usableFromInline mutating func begin(_ header: RTPHeader, at now: Instant) -> Source {
        lastTimestamp = timestampNow(now)
        lastSentAt = now
        lastSequence &+= 1
        let source = Source(header, sequence: lastSequence, timestamp: lastTimestamp)
        feed = .source(source)
        suspect = nil
        return source
    }

    @inlinable mutating func advance(_ source: inout Source, to header: RTPHeader, step: Int, marker: inout Bool, at now: Instant) {
        source.highest = header.sequence
        source.span = min(source.span + step, Self.greatestLateness)
        lastSequence = header.sequence.rawValue &+ source.sequenceOffset
        let ahead = timestampDistance(from: source.timestamp, to: header.timestamp)
        let tolerance = Self.timestampTolerance * Int64(clockRate)
        let elapsed = Int64(now.ticks(clockRate, since: lastSentAt ?? now))
        if ahead < -tolerance || ahead > elapsed + tolerance {
            source.timestampOffset = timestampNow(now) &- header.timestamp
            marker = true
        } else if ahead <= 0 {
            return   // an event's packets keep its first timestamp (RFC 4733 §2.2.1)
        }
        source.timestamp = header.timestamp
        lastTimestamp = header.timestamp &+ source.timestampOffset
        lastSentAt = now
    }

    @inlinable func write(
        _ source: Source, _ payloadType: UInt8, marker: Bool, to packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader
    ) {
        precondition(packet.count >= RTPHeader.fixedSize, "no RTP packet")
        var outgoing = header
        outgoing.payloadType = payloadType
        outgoing.marker = marker
        outgoing.sequence = header.sequence &+ source.sequenceOffset
        outgoing.timestamp = header.timestamp &+ source.timestampOffset
        outgoing.ssrc = ssrc
        outgoing.overwriteFields(of: packet)
    }
}

/// The newest packet of a source.
public struct NewestPacket: Hashable, Sendable {
    /// The source.
    public var ssrc: UInt32
    /// The highest number that came.
    public var sequence: SequenceNumber

    /// - Parameter sequence: the highest.
    public init(ssrc: UInt32, sequence: SequenceNumber) { (self.ssrc, self.sequence) = (ssrc, sequence) }
}
