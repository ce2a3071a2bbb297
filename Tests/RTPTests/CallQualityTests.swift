import Primitives
import RTP
import Testing

@Suite struct CallQualityTests {
    /// R and MOS of G.107 for G.711 with concealment and random loss, computed by hand: 93.2 − 95 · p / (p + 25.1).
    @Test(arguments: [
        (0.0, 93.2, 4.41), (0.01, 89.56, 4.328), (0.02, 86.19, 4.235), (0.05, 77.42, 3.93), (0.1, 66.14, 3.41), (0.2, 51.07, 2.63),
    ])
    func `falls with loss as G 107 says`(loss: Double, factor: Double, score: Double) throws {
        let quality = try #require(CallQuality(.g711, loss: loss, delay: nil))
        #expect(abs(quality.rFactor - factor) < 0.02)
        #expect(abs(quality.meanOpinionScore - score) < 0.01, "\(quality)")
    }

    @Test(arguments: [(0, 93.2), (100, 90.8), (177, 88.95), (400, 59.1)])
    func `falls with delay, and steeply beyond 177 ms`(milliseconds: Int, factor: Double) throws {
        let quality = try #require(CallQuality(.g711, loss: 0, delay: .milliseconds(milliseconds)))
        #expect(abs(quality.rFactor - factor) < 0.1, "\(quality)")
    }

    @Test func `is not there before anything was measured, and never beyond its scale`() throws {
        #expect(CallQuality(.opus, loss: nil, delay: .milliseconds(20)) == nil)
        let worst = try #require(CallQuality(.g711, loss: 1, delay: .seconds(10)))
        #expect(worst.rFactor == 0 && worst.meanOpinionScore == 1)
        let robust = try #require(CallQuality(.opus, loss: 0.1, delay: nil)),
            bare = try #require(CallQuality(.opusWithoutCorrection, loss: 0.1, delay: nil))
        #expect(robust.rFactor > bare.rFactor)
        #expect(
            try #require(CallQuality(.g711, loss: 0.1, burstRatio: 3, delay: nil)).rFactor
                < #require(CallQuality(.g711, loss: 0.1, delay: nil)).rFactor)
    }

    @Test func `losses one by one are a gap, losses together a burst`() throws {
        var single = BurstMetrics(), together = BurstMetrics()
        for _ in 0..<50 {
            for packet in 0..<40 { single.receive(lostBefore: packet == 0 ? 1 : 0) }
            for packet in 0..<36 { together.receive(lostBefore: packet < 4 ? 1 : 0) }
        }
        let gaps = try #require(single.figures), bursts = try #require(together.figures)
        #expect(gaps.burstLength < 2 && abs(gaps.gapDensity - 1 / 41) < 0.005, "\(gaps)")
        #expect(bursts.burstDensity > 0.4 && (5...9).contains(bursts.burstLength), "\(bursts)")
        #expect(BurstMetrics().figures == nil && BurstMetrics().burstRatio == 1)
        var runs = BurstMetrics()
        for packet in 0..<1_000 { runs.receive(lostBefore: packet % 50 == 0 ? 5 : 0) }
        #expect(runs.burstRatio > 4)
    }

    @Test func `an extended report says it in the bytes of RFC 3611, and is read back`() throws {
        var metrics = VoIPMetrics(ssrc: 0x0102_0304, lossRate: 0.125, discardRate: 0.25, burstDensity: 0.5, gapDensity: 0.0625)
        (metrics.burstDuration, metrics.gapDuration, metrics.roundTrip, metrics.endSystemDelay) = (80, 2_000, 45, 40)
        (metrics.rFactor, metrics.listening, metrics.conversation) = (87, 4.2, 4.1)
        (metrics.bufferNominal, metrics.bufferMaximum, metrics.bufferLimit) = (40, 60, 200)
        let bytes = RTCPPacket.make([.extendedReport(ssrc: 9, metrics)])
        #expect(
            bytes == [
                0x80, 207, 0, 10, 0, 0, 0, 9, 7, 0, 0, 8, 1, 2, 3, 4, 32, 64, 128, 16, 0, 80, 0x07, 0xD0, 0, 45, 0, 40, 127, 127, 127, 16,
                87, 127, 42, 41,
                0xB0, 0, 0, 40, 0, 60, 0, 200,
            ])
        #expect(try bytes.withUnsafeBytes { try RTCPPacket.parse($0) } == [.extendedReport(ssrc: 9, metrics)])
        let other: [UInt8] = [0x80, 207, 0, 3, 0, 0, 0, 9, 4, 0, 0, 1, 0, 0, 0, 1]
        #expect(try other.withUnsafeBytes { try RTCPPacket.parse($0) } == [.other(type: 207)])
        #expect(throws: RTCPPacket.ParseError.self) { try Array(bytes.dropLast(4)).withUnsafeBytes { try RTCPPacket.parse($0) } }
    }

    /// Found by `scripts/fuzz`: a peer claimed a MOS of 2,500 hundredths.
    @Test func `scores out of their range count as not measured`() throws {
        var metrics = VoIPMetrics(ssrc: 1)
        (metrics.rFactor, metrics.listening, metrics.conversation) = (93, 4.4, 4.3)
        var bytes = RTCPPacket.make([.extendedReport(ssrc: 9, metrics)])
        // The headers of packet and block, with their SSRCs, are sixteen bytes.
        (bytes[16 + 16], bytes[16 + 18], bytes[16 + 19]) = (101, 255, 9)
        (metrics.rFactor, metrics.listening, metrics.conversation) = (nil, nil, nil)
        #expect(try bytes.withUnsafeBytes { try RTCPPacket.parse($0) } == [.extendedReport(ssrc: 9, metrics)])
    }
}
