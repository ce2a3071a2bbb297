import Primitives

/// Figures of one direction of a stream, for people.
public struct RTPFigures: Hashable, Sendable {
    /// RTP packets.
    public var packets: UInt64 = 0
    /// Octets of payload.
    public var octets: UInt64 = 0
    /// nil until measured, as all below; for the direction that we send, until the peer has reported.
    public var lost: UInt64?
    /// The number of packets that `lost` is a part of: by the numbers of the packets that came, or by the peer's last report of ours.
    public var expected: UInt64?
    /// 0 to 1, of all that was expected.
    public var lossFraction: Double?
    /// Interarrival jitter in milliseconds (RFC 3550 §6.4.1): at present.
    public var jitter: Double?
    /// Over the whole stream, in milliseconds: of what we receive the steps of the transit time from packet to packet, of what we send the
    /// jitter of each report of the peer's.
    public var jitters: HistogramFigures?
    /// Over the whole stream, in percent: what was lost between one report and the next, ours or the peer's.
    public var losses: HistogramFigures?

    /// Nothing measured.
    public init() {}
}

/// Counts what comes from the peer: extended sequence, loss and jitter by RFC 3550 A.1, A.3 and A.8.
///
/// The first packet is believed at once, for `SourceLatch` has judged its sender; a jump in the sequence is believed when two packets
/// follow each other there. Totals go on over restarts and new SSRCs, report blocks begin anew. A report block counts copies as received
/// (RFC 3550 A.3), `figures` do not.
public struct ReceiverStatistics: Sendable {
    /// Ticks per second of what comes, which need not be those of what we send.
    public private(set) var clockRate: UInt32
    @usableFromInline var packets: UInt64 = 0
    @usableFromInline var octets: UInt64 = 0
    @usableFromInline var epoch: Epoch?
    /// Bursts of losses, 32 packets behind the newest, so that a packet that only came late is no loss.
    public var bursts = BurstMetrics()
    /// Packets of the epochs before this one.
    @usableFromInline var earlierExpected: Int64 = 0
    @usableFromInline var earlierReceived: Int64 = 0
    /// In tenths of a millisecond, and in tenths of a percent.
    @usableFromInline var jitters = Histogram<UInt32>()
    private var losses: Boxed<Histogram<UInt16>>?
    /// Packets of epochs before this one that came twice.
    @usableFromInline var earlierCopies: Int64 = 0
    private var lastReport: (source: UInt32, ntpMiddle: UInt32, cameAt: Instant)?

    /// One source between restarts; the names are those of RFC 3550 A.1.
    @usableFromInline struct Epoch: Sendable {
        @usableFromInline let ssrc: UInt32
        @usableFromInline let baseSequence: UInt16
        @usableFromInline var maxSequence: SequenceNumber
        @usableFromInline var cycles: UInt32 = 0
        @usableFromInline var badSequence: UInt16?
        @usableFromInline var received: Int64 = 0
        /// Bits of the last 64 sequence numbers, set for those that came, the newest lowest; and the number of steps there were, up to 32.
        @usableFromInline var window: UInt64 = 1
        @usableFromInline var age = 0
        @usableFromInline var copies: Int64 = 0
        /// Lost in a row, up to 32 packets ago.
        @usableFromInline var missing = 0
        @usableFromInline var expectedPrior: Int64 = 0
        @usableFromInline var receivedPrior: Int64 = 0
        @usableFromInline var transit: UInt32?
        /// In sixteenths of a tick.
        @usableFromInline var jitter: UInt32 = 0
        @usableFromInline var hasJitter = false

        @inlinable init(_ header: RTPHeader) {
            (ssrc, baseSequence, maxSequence) = (header.ssrc, header.sequence.rawValue, header.sequence)
        }

        @usableFromInline var extendedMaximum: UInt32 { cycles &+ UInt32(maxSequence.rawValue) }
        @usableFromInline var expected: Int64 { Int64(extendedMaximum) - Int64(baseSequence) + 1 }
    }

    /// - Parameter clockRate: of RTP timestamps, in Hz.
    public init(clockRate: UInt32) { self.clockRate = clockRate }

    /// The next packet has this clock (RFC 7160): what was measured goes on in its ticks.
    @inlinable public mutating func turn(to rate: UInt32) { if rate != clockRate { change(clockRate: rate) } }

    @usableFromInline mutating func change(clockRate rate: UInt32) {
        if let jitter = epoch?.jitter { epoch?.jitter = UInt32(clamping: UInt64(jitter) * UInt64(rate) / UInt64(max(1, clockRate))) }
        epoch?.transit = nil
        clockRate = rate
    }

    /// Counts one packet. `timed` is false for packets whose timestamp is not the time of their making (telephone-event).
    @inlinable public mutating func receive(_ header: RTPHeader, timed: Bool = true, at now: Instant) {
        if epoch == nil || epoch?.ssrc != header.ssrc { begin(header) }
        guard updateSequence(header) else { return }
        packets += 1
        octets += UInt64(header.payloadCount)
        epoch?.received += 1
        if timed { updateJitter(header, at: now) }
    }

    /// Notes a packet of the present source that came and is not used, as while a call is held: it is no loss, and is not counted. The
    /// first of a source is none of those.
    @inlinable public mutating func passOver(_ header: RTPHeader) {
        guard let ssrc = epoch?.ssrc, ssrc == header.ssrc, updateSequence(header) else { return }
        epoch?.received += 1
    }

    /// Begins the measure of transit times anew: a sender's clock may stand still while it is held.
    public mutating func rest() { epoch?.transit = nil }

    /// RFC 3550 A.1; false for a packet that is not believed.
    @inlinable mutating func updateSequence(_ header: RTPHeader) -> Bool {
        guard let current = epoch else { return false }
        let ahead = header.sequence.rawValue &- current.maxSequence.rawValue
        if ahead < 3_000 {
            if header.sequence.rawValue < current.maxSequence.rawValue { epoch?.cycles &+= 65_536 }
            epoch?.maxSequence = header.sequence
            epoch?.badSequence = nil
            if ahead == 0 { if current.received > 0 { epoch?.copies += 1 } } else { step(Int(ahead)) }
        } else if ahead <= 65_436 {
            guard current.badSequence == header.sequence.rawValue else {
                epoch?.badSequence = header.sequence.rawValue &+ 1
                return false
            }
            begin(header)
        } else {
            noteBehind(Int(current.maxSequence.rawValue &- header.sequence.rawValue))
        }
        return true
    }

    /// The newest is so many further on: what leaves the younger half of the window has come, or has not.
    @inlinable mutating func step(_ count: Int) {
        guard var current = epoch else { return }
        for _ in 0..<count {
            if current.age == 32 {
                if current.window >> 31 & 1 == 0 {
                    current.missing += 1
                } else {
                    bursts.receive(lostBefore: current.missing)
                    current.missing = 0
                }
            } else {
                current.age += 1
            }
            current.window <<= 1
        }
        current.window |= 1
        epoch = current
    }

    @inlinable mutating func noteBehind(_ distance: Int) {
        guard distance < 64, let window = epoch?.window else { return }
        if window >> UInt64(distance) & 1 == 1 { epoch?.copies += 1 } else { epoch?.window |= 1 << UInt64(distance) }
    }

    /// RFC 3550 A.8, with its integers.
    @inlinable mutating func updateJitter(_ header: RTPHeader, at now: Instant) {
        let transit = now.ticks(clockRate) &- header.timestamp
        if let last = epoch?.transit, let jitter = epoch?.jitter {
            let difference = UInt32(timestampDistance(from: last, to: transit).magnitude)
            epoch?.jitter = jitter &+ difference &- ((jitter &+ 8) >> 4)
            epoch?.hasJitter = true
            jitters.note(UInt32(truncatingIfNeeded: min(UInt64(difference) * 10_000 / UInt64(max(1, clockRate)), 1 << 20)))
        }
        epoch?.transit = transit
    }

    @usableFromInline mutating func begin(_ header: RTPHeader) {
        if let epoch {
            earlierExpected += epoch.expected
            earlierReceived += epoch.received
            earlierCopies += epoch.copies
        }
        epoch = Epoch(header)
    }

    /// Remembers a report of the peer's for the round trip that the peer measures.
    mutating func receive(_ report: RTCPPacket.SenderInfo, from source: UInt32, at now: Instant) {
        lastReport = (source, UInt32(truncatingIfNeeded: report.ntp >> 16), now)
    }

    /// The block about the present source, whose loss interval then begins anew (RFC 3550 A.3); nil before any packet.
    mutating func reportBlock(at now: Instant) -> RTCPPacket.ReportBlock? {
        guard var current = epoch else { return nil }
        let lost = current.expected - current.received
        let expectedInterval = current.expected - current.expectedPrior
        let lostInterval = expectedInterval - (current.received - current.receivedPrior)
        (current.expectedPrior, current.receivedPrior) = (current.expected, current.received)
        epoch = current
        let answered = lastReport.flatMap { $0.source == current.ssrc ? $0 : nil }
        if expectedInterval > 0 { losses.note(UInt32(max(0, lostInterval) * 1_000 / expectedInterval)) }
        return RTCPPacket.ReportBlock(
            ssrc: current.ssrc,
            fractionLost: expectedInterval <= 0 || lostInterval <= 0 ? 0 : UInt8(min(lostInterval * 256 / expectedInterval, 255)),
            cumulativeLost: Int32(min(max(lost, -0x80_0000), 0x7F_FFFF)), highestSequence: current.extendedMaximum,
            jitter: current.jitter >> 4, lastSenderReport: answered?.ntpMiddle ?? 0,
            delaySinceSenderReport: answered.map { now.ticks(65_536, since: $0.cameAt) } ?? 0)
    }

    /// Everything since the beginning.
    public var figures: RTPFigures {
        var figures = RTPFigures()
        (figures.packets, figures.octets) = (packets, octets)
        guard let epoch else { return figures }
        let expected = earlierExpected + epoch.expected
        let lost = max(0, expected - (earlierReceived - earlierCopies) - (epoch.received - epoch.copies))
        (figures.lost, figures.expected) = (UInt64(lost), UInt64(max(0, expected)))
        figures.lossFraction = expected > 0 ? Double(lost) / Double(expected) : 0
        if epoch.hasJitter { figures.jitter = Double(epoch.jitter) / 16 * 1_000 / Double(clockRate) }
        (figures.jitters, figures.losses) = (HistogramFigures(jitters, unit: 0.1), losses?.figures)
        return figures
    }

    /// The source that is counted, and its highest number; nil before any packet.
    public var newest: NewestPacket? { epoch.map { NewestPacket(ssrc: $0.ssrc, sequence: $0.maxSequence) } }

    /// Goes on as a copy of these does that has counted packets meanwhile. The reports are made and taken here, and stay.
    public mutating func goOn(as other: ReceiverStatistics) {
        let (lastReport, losses, prior) = (lastReport, losses, epoch)
        self = other
        (self.lastReport, self.losses) = (lastReport, losses)
        guard let prior else { return }
        epoch?.expectedPrior = prior.expectedPrior
        epoch?.receivedPrior = prior.receivedPrior
    }

    /// Goes on where the statistics of another clock rate ended.
    mutating func take(over earlier: ReceiverStatistics) { (jitters, losses) = (earlier.jitters, earlier.losses) }
}

/// Counts what we send, and keeps what the peer reports of it.
public struct SenderStatistics: Sendable {
    /// Ticks per second of the clock of the codec that leaves.
    public private(set) var clockRate: UInt32
    @usableFromInline var packets: UInt64 = 0
    @usableFromInline var octets: UInt64 = 0
    @usableFromInline var last: (timestamp: UInt32, at: Instant)?
    private var report: RTCPPacket.ReportBlock?
    /// The sequence number of the first packet. What was lost is a part of all numbers since then: a relay skips those that it never got.
    @usableFromInline var first: UInt16?
    /// From the last report of the peer's that had one of ours to answer.
    public private(set) var roundTrip: Duration?
    /// In tenths of a millisecond, of a percent, and of a millisecond again.
    private var jitters: Boxed<Histogram<UInt16>>?, losses: Boxed<Histogram<UInt16>>?, roundTrips: Boxed<Histogram<UInt16>>?

    /// - Parameter clockRate: of RTP timestamps, in Hz.
    public init(clockRate: UInt32) { self.clockRate = clockRate }

    /// Sets the clock rate: the next packets leave in the clock of another codec (RFC 7160).
    public mutating func turn(to rate: UInt32) { clockRate = rate }

    /// Goes on as a copy of these does that has counted packets meanwhile. The reports are taken here, and stay.
    public mutating func goOn(as other: SenderStatistics) {
        (packets, octets, last, first) = (other.packets, other.octets, other.last, other.first)
    }

    /// Counts one packet as it leaves. `timed` as in `ReceiverStatistics`.
    @inlinable public mutating func sent(_ timestamp: UInt32, sequence: UInt16, octets count: Int, timed: Bool = true, at now: Instant) {
        packets += 1
        octets += UInt64(count)
        if first == nil { first = sequence }
        if timed || last == nil { last = (timestamp, now) }
    }

    /// The present time on both clocks (RFC 3550 §6.4.1); nil before any packet.
    func senderInfo(at now: Instant) -> RTCPPacket.SenderInfo? {
        guard let last else { return nil }
        return RTCPPacket.SenderInfo(
            ntp: now.ntp, rtpTimestamp: last.timestamp &+ now.ticks(clockRate, since: last.at),
            packets: UInt32(truncatingIfNeeded: packets),
            octets: UInt32(truncatingIfNeeded: octets))
    }

    /// Takes the peer's report on our stream; the round trip is A − LSR − DLSR (RFC 3550 §6.4.1), where A is known.
    mutating func receive(_ block: RTCPPacket.ReportBlock, at now: Instant?) {
        report = block
        jitters.note(UInt32(min(UInt64(block.jitter) * 10_000 / UInt64(max(1, clockRate)), 1 << 20)))
        losses.note(UInt32(block.fractionLost) * 1_000 / 256)
        guard let now, block.lastSenderReport != 0 else { return }
        let middle = UInt32(truncatingIfNeeded: now.ntp >> 16)
        let trip = Int32(bitPattern: middle &- block.lastSenderReport &- block.delaySinceSenderReport)
        // A peer's clock drifts, so a very short trip may come out a little below nothing.
        guard trip >= -655, trip < 60 << 16 else { return }
        roundTrip = .nanoseconds(Int64(max(0, trip)) * 1_000_000_000 / 65_536)
        roundTrips.note(UInt32(Int64(max(0, trip)) * 10_000 / 65_536))
    }

    /// The loss between the last report and the one before, in percent, rounded up; nil before the first.
    public var lastLossPercent: Int? { report.map { (Int($0.fractionLost) * 100 + 255) / 256 } }

    /// All round trips that were measured, in milliseconds; nil before the first.
    public var roundTripDistribution: HistogramFigures? { roundTrips?.figures }

    /// Goes on where the statistics of another clock rate ended.
    mutating func take(over earlier: SenderStatistics) {
        (jitters, losses, roundTrips, roundTrip) = (earlier.jitters, earlier.losses, earlier.roundTrips, earlier.roundTrip)
    }

    /// Sequence numbers up to the highest that the peer has seen; all packets where it counts from somewhere else.
    private func expected(_ report: RTCPPacket.ReportBlock) -> Int64 {
        let span = Int64(report.highestSequence) - Int64(first ?? 0) + 1
        return span > 0 && span < 1 << 31 ? span : max(1, Int64(packets))
    }

    /// Figures of the packets that were sent, and of the peer's reports on them.
    public var figures: RTPFigures {
        var figures = RTPFigures()
        (figures.packets, figures.octets) = (packets, octets)
        guard let report else { return figures }
        let lost = max(0, report.cumulativeLost), expected = expected(report)
        (figures.lost, figures.expected) = (UInt64(lost), UInt64(expected))
        figures.lossFraction = min(1, Double(lost) / Double(expected))
        figures.jitter = Double(report.jitter) * 1_000 / Double(clockRate)
        (figures.jitters, figures.losses) = (jitters?.figures, losses?.figures)
        return figures
    }
}

/// Values that come with a report every five seconds: their memory comes with the first.
extension Optional where Wrapped == Boxed<Histogram<UInt16>> {
    fileprivate mutating func note(_ value: UInt32) {
        var spread = self?.value ?? Histogram()
        spread.note(value)
        self = Boxed(spread)
    }
}

extension Boxed where Value == Histogram<UInt16> {
    fileprivate var figures: HistogramFigures? { HistogramFigures(value, unit: 0.1) }
}

extension Instant {
    /// As an NTP timestamp: 32.32 bits of seconds. Of this machine's uptime and not of the day, which RFC 3550 §6.4.1
    /// allows; only differences of it mean something.
    var ntp: UInt64 {
        let seconds = nanoseconds / 1_000_000_000
        return seconds << 32 | (nanoseconds % 1_000_000_000) << 32 / 1_000_000_000
    }
}
