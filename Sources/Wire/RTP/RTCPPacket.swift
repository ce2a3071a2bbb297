import Primitives

/// One packet of an RTCP compound (RFC 3550 §6).
public enum RTCPPacket: Hashable, Sendable {
    /// From whoever sends RTP, with what it receives of up to 31 sources (§6.4.1).
    case senderReport(ssrc: UInt32, SenderInfo, [ReportBlock])
    /// From whoever sends no RTP (§6.4.2).
    case receiverReport(ssrc: UInt32, [ReportBlock])
    /// The canonical name of each source (§6.5.1); other items are not kept.
    case sourceDescription([SourceName])
    /// The sources leave (§6.6).
    case goodbye([UInt32], reason: Text?)
    /// Metrics of one end on the sound it received (RFC 3611 §4.7); other blocks of an extended report are not kept.
    case extendedReport(ssrc: UInt32, VoIPMetrics)
    /// A type that we do not use: feedback, application, extended reports without VoIP metrics.
    case other(type: UInt8)

    /// The sender's clocks and counts (§6.4.1).
    public struct SenderInfo: Hashable, Sendable {
        /// 32.32 bits of seconds.
        public var ntp: UInt64
        /// The same moment in the clock of RTP.
        public var rtpTimestamp: UInt32
        /// RTP packets sent since the beginning; wraps.
        public var packets: UInt32
        /// Octets of payload sent since the beginning; wraps.
        public var octets: UInt32

        /// The statements of a sender about itself (§6.4.1).
        public init(ntp: UInt64, rtpTimestamp: UInt32, packets: UInt32, octets: UInt32) {
            (self.ntp, self.rtpTimestamp, self.packets, self.octets) = (ntp, rtpTimestamp, packets, octets)
        }
    }

    /// The view of a receiver of one source (§6.4.1).
    public struct ReportBlock: Hashable, Sendable {
        /// The source whose packets were received.
        public var ssrc: UInt32
        /// Lost since the last report, in 1/256.
        public var fractionLost: UInt8
        /// 24 bits, signed: copies may make it negative.
        public var cumulativeLost: Int32
        /// With the count of turns in the upper 16 bits.
        public var highestSequence: UInt32
        /// In ticks of the codec's clock.
        public var jitter: UInt32
        /// The middle of the last sender report's NTP time, and the time since it came, in 1/65536 s; 0 for none.
        public var lastSenderReport: UInt32
        /// In 1/65536 s; 0 for none.
        public var delaySinceSenderReport: UInt32

        /// The view of a receiver of one source (§6.4.1).
        public init(
            ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, highestSequence: UInt32, jitter: UInt32,
            lastSenderReport: UInt32, delaySinceSenderReport: UInt32
        ) {
            (self.ssrc, self.fractionLost, self.cumulativeLost) = (ssrc, fractionLost, cumulativeLost)
            (self.highestSequence, self.jitter) = (highestSequence, jitter)
            (self.lastSenderReport, self.delaySinceSenderReport) = (lastSenderReport, delaySinceSenderReport)
        }
    }

    /// A source and its canonical name.
    public struct SourceName: Hashable, Sendable {
        /// The source.
        public var ssrc: UInt32
        /// The same for all streams of one end.
        public var cname: Text

        /// A source and its name.
        public init(ssrc: UInt32, cname: Text) { (self.ssrc, self.cname) = (ssrc, cname) }
    }
}
