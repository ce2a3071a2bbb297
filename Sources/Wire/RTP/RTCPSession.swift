import Primitives

/// The RTCP of one leg: statistics both ways, and when to report them (RFC 3550 §6).
///
/// Two parties and 5 s: the interval is §6.2's minimum with §6.3.1's randomisation (× 0.5 to 1.5, ÷ e − 3/2), halved
/// before the first report. The bandwidth rules are left out, for with two members they never ask for more than the
/// minimum. RTP itself is `receiver.receive` and `sender.sent`, on the packet's path.
public struct RTCPSession: Sendable {
    /// Events from the peer, beside the figures.
    public enum Output: Hashable, Sendable {
        /// The peer leaves. The call does not end by this, SIP does that.
        case goodbye
        /// The peer's view of what we send, newly come: see `sending` and `roundTrip`.
        case reported
    }

    // First the fields that each packet touches.
    /// Statistics of the packets that come; the owner brings every RTP packet to it.
    public var receiver: ReceiverStatistics
    /// Statistics of the packets that leave; the owner tells it of every RTP packet.
    public var sender: SenderStatistics
    /// The source that our reports are from.
    public let ssrc: UInt32
    /// Our canonical name (RFC 3550 §6.5.1).
    public let cname: Text
    /// When `advance` makes the next report.
    public private(set) var deadline: Instant
    /// The peer takes packets that are no compounds (RFC 5506): our name is then left out of two reports in three.
    public var reducesSize = false
    private var reports = 0
    /// The last metrics of the peer on our stream.
    public var peerMetrics: VoIPMetrics? { extended?.value }
    private var extended: Boxed<VoIPMetrics>?
    private var random: SeededRandom
    /// The numbers of packets sent at the last report, and at the one before.
    private var reportedPackets: (last: UInt64, before: UInt64) = (0, 0)

    /// - Parameters:
    ///   - ssrc: of the stream that we send, as `RTPRewriter` has it.
    ///   - cname: at most 255 bytes; random per session, so that it tells nothing of us (RFC 7022).
    ///   - seed: for the intervals.
    public init(ssrc: UInt32, cname: Text, clockRate: UInt32, seed: UInt64, at now: Instant) {
        (self.ssrc, self.cname) = (ssrc, cname)
        receiver = ReceiverStatistics(clockRate: clockRate)
        sender = SenderStatistics(clockRate: clockRate)
        random = SeededRandom(seed: seed)
        deadline = now
        deadline = now + interval(minimum: .milliseconds(2_500))
    }

    /// The session of the stream that follows at another clock rate: what was measured goes on, in time and not in ticks.
    public mutating func take(over earlier: RTCPSession) {
        receiver.take(over: earlier.receiver)
        sender.take(over: earlier.sender)
    }

    /// By the last report that told; nil before there was one.
    public var roundTrip: Duration? { sender.roundTrip }
    /// All of them, in milliseconds; nil before the first.
    public var roundTrips: HistogramFigures? { sender.roundTripDistribution }
    /// Figures of the packets that came from the peer.
    public var receiving: RTPFigures { receiver.figures }
    /// Figures of the packets that we sent, with the loss and jitter that the peer reported.
    public var sending: RTPFigures { sender.figures }

    /// The compound that is due: SR or RR, and SDES; nil before `deadline`. After a late call the next is a whole interval away.
    ///
    /// - Parameter metrics: what it says of the sound that came (RFC 3611), nil for nothing; the SSRC is filled in.
    public mutating func advance(to now: Instant, metrics: VoIPMetrics? = nil) -> [UInt8]? {
        guard now >= deadline else { return nil }
        deadline = now + interval(minimum: .seconds(5))
        defer { reports += 1 }
        // A compound now and then tells whose reports these are (RFC 5506 §4.1).
        guard reducesSize, !reports.isMultiple(of: 3) else { return RTCPPacket.make(report(metrics, at: now)) }
        return RTCPPacket.make(report(metrics, at: now).filter { if case .sourceDescription = $0 { false } else { true } })
    }

    /// The last compound, with BYE (RFC 3550 §6.6). It is sent at once: with two members there is no flood to avoid.
    public mutating func goodbye(at now: Instant, metrics: VoIPMetrics? = nil) -> [UInt8] {
        RTCPPacket.make(report(metrics, at: now) + [.goodbye([ssrc], reason: nil)])
    }

    /// Takes a datagram of the peer's; one that is no good RTCP is an error and changes nothing.
    ///
    /// - Parameter waited: it was not taken when it came, and measures no round trip.
    public mutating func receive(
        _ datagram: UnsafeRawBufferPointer, waited: Bool = false, at now: Instant
    ) throws(RTCPPacket.ParseError) -> [Output] {
        var outputs: [Output] = []
        for packet in try RTCPPacket.parse(datagram) {
            switch packet {
            case .senderReport(let source, let info, let blocks):
                receiver.receive(info, from: source, at: now)
                outputs += take(blocks, at: waited ? nil : now)
            case .receiverReport(_, let blocks): outputs += take(blocks, at: waited ? nil : now)
            case .goodbye: outputs.append(.goodbye)
            case .extendedReport(_, let metrics): if metrics.ssrc == ssrc { extended = Boxed(metrics) }
            case .sourceDescription, .other: break
            }
        }
        return outputs
    }

    private mutating func take(_ blocks: [RTCPPacket.ReportBlock], at now: Instant?) -> [Output] {
        guard let block = blocks.first(where: { $0.ssrc == ssrc }) else { return [] }
        sender.receive(block, at: now)
        return [.reported]
    }

    /// A sender report only when something was sent since the last one or in the interval before that, else a receiver report (RFC 3550
    /// §6.4).
    private mutating func report(_ metrics: VoIPMetrics?, at now: Instant) -> [RTCPPacket] {
        let blocks = receiver.reportBlock(at: now).map { [$0] } ?? []
        let names = RTCPPacket.sourceDescription([.init(ssrc: ssrc, cname: cname)])
        defer { reportedPackets = (sender.packets, reportedPackets.last) }
        guard sender.packets > reportedPackets.before, let info = sender.senderInfo(at: now) else {
            return [.receiverReport(ssrc: ssrc, blocks), names] + extendedReport(metrics, of: blocks.first?.ssrc)
        }
        return [.senderReport(ssrc: ssrc, info, blocks), names] + extendedReport(metrics, of: blocks.first?.ssrc)
    }

    private func extendedReport(_ metrics: VoIPMetrics?, of source: UInt32?) -> [RTCPPacket] {
        guard var metrics, let source else { return [] }
        metrics.ssrc = source
        return [.extendedReport(ssrc: ssrc, metrics)]
    }

    private mutating func interval(minimum: Duration) -> Duration {
        let factor = Double.random(in: 0.5...1.5, using: &random) / 1.21828
        return .nanoseconds(Int64(Double(minimum.wholeNanoseconds) * factor))
    }
}
