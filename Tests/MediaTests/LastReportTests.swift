import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

/// What the far end says last of what it received, and the quality of both directions when a leg stops.
@Suite struct LastReportTests {
    private let bench = Bench()
    private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)

    /// Where RTCP comes from, and to which port of ours.
    private func places(_ mux: Bool) -> (from: SocketAddress, port: UInt16) {
        mux ? (far.address, 20_000) : (SocketAddress(far.address.address, port: 4_001), 20_001)
    }

    /// A receiver report with BYE, of the stream that the far end has heard from us.
    private func goodbye(lost: Int32, of packets: UInt32, after answered: UInt32 = 0) throws -> [UInt8] {
        let first = try header(#require(bench.network.sent.first { isRTP($0.bytes) }).bytes)
        let block = RTCPPacket.ReportBlock(
            ssrc: first.ssrc, fractionLost: 0, cumulativeLost: lost, highestSequence: UInt32(first.sequence.rawValue) + packets - 1,
            jitter: 80, lastSenderReport: answered, delaySinceSenderReport: 0)
        let names = RTCPPacket.sourceDescription([.init(ssrc: far.ssrc, cname: "far")])
        return RTCPPacket.make([.receiverReport(ssrc: far.ssrc, [block]), names, .goodbye([far.ssrc], reason: nil)])
    }

    private func open(mux: Bool) throws -> MediaLegID {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial), mux: mux)
        try bench.start(leg)
        bench.pass(.milliseconds(1_990))
        return leg
    }

    /// Signalling may be faster than the media lane: the BYE of the call was read first.
    @Test(arguments: [true, false]) func `a report that waits when the leg is stopped is the last one`(mux: Bool) throws {
        let leg = try open(mux: mux), places = places(mux)
        bench.network.put(try goodbye(lost: 25, of: 100, after: 0x1234), from: places.from, to: bench.address(places.port))
        let interval = try bench.engine.stop(leg, ending: true, at: bench.now)
        let sending = try #require(interval.quality).sending
        #expect(sending.lost == 25 && sending.expected == 100 && sending.loss == 2_500 && sending.jitter == 10_000)
        let figures = try bench.engine.close(leg)
        #expect(figures.sending.lost == 25 && figures.roundTrip == nil, "nobody knows when it came")
        #expect(figures.refused.total == 0)
    }

    @Test(arguments: [true, false]) func `a far end reports on while its leg is stopped`(mux: Bool) throws {
        let leg = try open(mux: mux), places = places(mux)
        try bench.engine.stop(leg, at: bench.now)
        bench.arrive(try goodbye(lost: 10, of: 100), from: places.from, at: places.port)
        bench.arrive(try goodbye(lost: 99, of: 100), from: SocketAddress("203.0.113.9:9999")!, at: places.port)
        #expect(try bench.statistics(leg).sending.lost == 10)
        try bench.engine.deactivate(leg)
        bench.arrive(try goodbye(lost: 11, of: 100), from: places.from, at: places.port)
        let figures = try bench.engine.close(leg)
        #expect(figures.sending.lost == 11 && figures.refused.notStarted == 0)
        // Where they share a port, it is locked to the far end.
        #expect(figures.refused.stranger == (mux ? 0 : 1))
    }

    @Test func `before the first start nothing is taken`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, [])]), from: far.address, at: 20_000)
        #expect(try bench.statistics(leg).refused.notStarted == 1)
    }

    @Test mutating func `the quality of each direction is that of its receiver, over all intervals`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        for stretch in 0..<2 {
            try bench.start(leg)
            for number in 0..<100 {
                let packet = far.packet(0)
                if number == 0 || number % 10 > 0 { bench.arrive(packet, from: far.address, at: 20_000) }
                bench.pass(.milliseconds(20))
            }
            if stretch == 1 { bench.arrive(try goodbye(lost: 8, of: 200), from: far.address, at: 20_000) }
            let quality = try #require(try bench.engine.stop(leg, at: bench.now).quality)
            let lost = UInt64(9 * (stretch + 1)), expected = UInt64(100 * (stretch + 1))
            #expect(quality.receiving.lost == lost && quality.receiving.expected == expected && quality.receiving.loss == 900)
            let score = try #require(CallQuality(.g711, loss: 0.09, delay: nil)).meanOpinionScore
            #expect(quality.receiving.score == Int((score * 100).rounded()))
            #expect(quality.sending.lost == (stretch == 0 ? nil : 8) && quality.sending.loss == (stretch == 0 ? nil : 400))
            #expect((quality.sending.score == nil) == (stretch == 0) && quality.roundTrip == nil)
        }
    }

    @Test func `what was not measured is no figure`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence)
        try bench.start(leg)
        bench.pass(.seconds(3))
        let quality = try #require(try bench.engine.stop(leg, at: bench.now).quality)
        #expect(quality == LegQuality(MediaStatistics()) && quality.receiving.score == nil && quality.sending.loss == nil)
    }

    /// Nothing is known of how a codec stands losses that is only passed on.
    @Test mutating func `a codec that is unknown here has no score`() throws {
        let codec = NegotiatedCodec(codec: Codec(name: "G729", clockRate: 8_000), receivePayloadType: 18, sendPayloadType: 18)
        let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [codec])
        try bench.start(leg)
        for _ in 0..<10 { bench.arrive(far.packet(18, Array(repeating: 1, count: 20)), from: far.address, at: 20_000) }
        let quality = try #require(try bench.engine.stop(leg, at: bench.now).quality)
        #expect(quality.receiving.loss == 0 && quality.receiving.score == nil)
    }
}
