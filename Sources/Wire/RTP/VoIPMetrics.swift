import Primitives

/// Metrics of one end on the sound it received: the VoIP metrics block of an extended report (RFC 3611 §4.7).
public struct VoIPMetrics: Hashable, Sendable {
    /// The source of the sound.
    public var ssrc: UInt32
    /// 0 to 1, as all rates and densities here, in steps of 1/256: never came, and came too late.
    public var lossRate: Double, discardRate: Double
    /// The share of packets within bursts, and between them, that were lost or discarded.
    public var burstDensity: Double, gapDensity: Double
    /// Milliseconds, at most 65,535.
    public var burstDuration = 0, gapDuration = 0, roundTrip = 0, endSystemDelay = 0
    /// 0 to 100; nil when not measured.
    public var rFactor: Int?
    /// 1 to 5 in tenths, of listening and of conversation; nil when not measured.
    public var listening: Double?, conversation: Double?
    /// The delay of the jitter buffer in milliseconds: at present, as it came to be, and the most that it may become.
    public var bufferNominal = 0, bufferMaximum = 0, bufferLimit = 0

    static let words: UInt16 = 8

    /// Rates and densities from 0 to 1.
    public init(ssrc: UInt32, lossRate: Double = 0, discardRate: Double = 0, burstDensity: Double = 0, gapDensity: Double = 0) {
        (self.ssrc, self.lossRate, self.discardRate) = (ssrc, lossRate, discardRate)
        (self.burstDensity, self.gapDensity) = (burstDensity, gapDensity)
    }

    /// The 32 bytes behind the block's header. Levels and echo are not measured here (127); the configuration says that losses are
    /// concealed well and that the jitter buffer adapts.
    var bytes: [UInt8] {
        func part(_ value: Double) -> UInt8 { UInt8(min(max(value, 0) * 256, 255)) }
        func half(_ value: Int) -> [UInt8] {
            [UInt8(truncatingIfNeeded: min(max(value, 0), 65_535) >> 8), UInt8(truncatingIfNeeded: min(max(value, 0), 65_535))]
        }
        func tenths(_ score: Double?) -> UInt8 { score.map { UInt8(min(max($0 * 10, 10), 50).rounded()) } ?? 127 }
        var bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ssrc >> $0) }
        bytes += [part(lossRate), part(discardRate), part(burstDensity), part(gapDensity)]
        bytes += half(burstDuration) + half(gapDuration) + half(roundTrip) + half(endSystemDelay)
        bytes += [127, 127, 127, UInt8(BurstMetrics.gmin)]
        bytes += [rFactor.map { UInt8(min(max($0, 0), 100)) } ?? 127, 127, tenths(listening), tenths(conversation)]
        bytes += [0b1011_0000, 0] + half(bufferNominal) + half(bufferMaximum) + half(bufferLimit)
        return bytes
    }

    /// A score out of its range counts as not measured (RFC 3611 §4.7.5).
    init(_ ssrc: UInt32, reading body: UnsafeRawBufferPointer) {
        func part(_ offset: Int) -> Double { Double(body[offset]) / 256 }
        func half(_ offset: Int) -> Int { Int(body.bigEndian16(at: offset)) }
        func tenths(_ offset: Int) -> Double? { (10...50).contains(body[offset]) ? Double(body[offset]) / 10 : nil }
        self.init(ssrc: ssrc, lossRate: part(0), discardRate: part(1), burstDensity: part(2), gapDensity: part(3))
        (burstDuration, gapDuration, roundTrip, endSystemDelay) = (half(4), half(6), half(8), half(10))
        rFactor = body[16] <= 100 ? Int(body[16]) : nil
        (listening, conversation) = (tenths(18), tenths(19))
        (bufferNominal, bufferMaximum, bufferLimit) = (half(22), half(24), half(26))
    }
}
