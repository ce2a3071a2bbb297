import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct QualityTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func reports(to far: SocketAddress) throws -> [[RTCPPacket]] {
        try bench.network.take(to: far).filter { !isRTP($0) }.map { bytes in try bytes.withUnsafeBytes { try RTCPPacket.parse($0) } }
    }

    private mutating func talk(seconds: Int, lost: (Int) -> Bool = { _ in false }) {
        for number in 0..<seconds * 50 {
            let packet = alice.packet(0)
            if !lost(number) { bench.arrive(packet, from: alice.address, at: 20_000) }
            bench.pass(.milliseconds(20))
        }
    }

    @Test mutating func `nothing is filled in before it was measured`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .echo)
        try bench.start(leg)
        bench.pass(.seconds(20))
        let figures = try bench.statistics(leg)
        #expect(figures.sendingQuality == nil && figures.receivingQuality == nil && figures.roundTrip == nil)
        #expect(figures.receiving.lost == nil && figures.receiving.jitter == nil && figures.playout == nil && figures.peerMetrics == nil)
        #expect(try reports(to: alice.address).joined().allSatisfy { if case .extendedReport = $0 { false } else { true } })
    }

    @Test(arguments: [0, 5, 10, 20])
    mutating func `a score falls with the loss there was, here and in what the far end is told`(percent: Int) throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .echo)
        try bench.start(leg)
        talk(seconds: 60) { $0 % 100 < percent && $0 % 2 == 0 || $0 % 100 >= 100 - percent && $0 % 2 == 0 }
        let figures = try bench.statistics(leg)
        let loss = try #require(figures.receiving.lossFraction), quality = try #require(figures.receivingQuality)
        #expect(abs(loss - Double(percent) / 100) < 0.005)
        #expect(quality == CallQuality(.g711, loss: loss, delay: nil))
        let told = try reports(to: alice.address).joined().compactMap { packet -> VoIPMetrics? in
            if case .extendedReport(_, let metrics) = packet { metrics } else { nil }
        }
        let last = try #require(told.last)
        #expect(last.ssrc == alice.ssrc && abs(last.lossRate - loss) < 0.01)
        #expect(abs(Double(try #require(last.rFactor)) - quality.rFactor) < 2)
    }

    @Test mutating func `the last packet of a leg is a BYE, after all RTP, and a hold is no end`() throws {
        for mux in [true, false] {
            let id: UInt64 = mux ? 1 : 2, port: UInt16 = mux ? 20_000 : 20_010
            let far = mux ? alice.address : bob.address
            let leg = try bench.open(id, port: port, far: far, source: .tone(.dial), mux: mux)
            try bench.start(leg)
            bench.pass(.seconds(2))
            try bench.engine.stop(leg, at: bench.now)
            let end = mux ? far : SocketAddress(far.address, port: far.port + 1)
            #expect(try reports(to: end).joined().allSatisfy { if case .goodbye = $0 { false } else { true } })
            try bench.start(leg)
            bench.pass(.seconds(2))
            try bench.engine.stop(leg, ending: true, at: bench.now)
            let last = try #require(bench.network.sent.last)
            #expect(last.to == end && !isRTP(last.bytes))
            let packets = try last.bytes.withUnsafeBytes { try RTCPPacket.parse($0) }
            guard case .goodbye(let sources, _)? = packets.last else { Issue.record("\(packets)"); continue }
            #expect(sources.count == 1)
            try bench.engine.close(leg)
        }
    }

    @Test func `a leg on which nothing passed says no goodbye`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .silence)
        try bench.start(leg)
        try bench.engine.stop(leg, ending: true, at: bench.now)
        #expect(bench.network.sent.isEmpty)
    }

    @Test mutating func `what the far end reports is the quality of what we send`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .tone(.dial))
        try bench.start(leg)
        bench.pass(.seconds(3))
        let ssrc = try header(#require(bench.heard(by: alice.address).first)).ssrc
        let block = RTCPPacket.ReportBlock(
            ssrc: ssrc, fractionLost: 26, cumulativeLost: 15, highestSequence: 150, jitter: 80, lastSenderReport: 0,
            delaySinceSenderReport: 0)
        var metrics = VoIPMetrics(ssrc: ssrc)
        metrics.rFactor = 66
        // A reduced-size packet first (RFC 5506), then a compound.
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, [block])]), from: alice.address, at: 20_000)
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, []), .extendedReport(ssrc: 7, metrics)]), from: alice.address, at: 20_000)
        let figures = try bench.statistics(leg)
        #expect(figures.sending.lost == 15 && figures.peerMetrics?.rFactor == 66)
        #expect(try #require(figures.sendingQuality).meanOpinionScore < 3.6)
        #expect(figures.refused.total == 0)
    }

    /// Of what was sent, as before: what was lost is a part of it.
    @Test func `what the far end lost stays the same part of what was sent when the stream gives way to another`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .tone(.dial))
        try bench.start(leg)
        bench.pass(.milliseconds(1_990))
        let first = try header(#require(bench.heard(by: alice.address).first))
        let block = RTCPPacket.ReportBlock(
            ssrc: first.ssrc, fractionLost: 128, cumulativeLost: 50, highestSequence: UInt32(first.sequence.rawValue) + 99, jitter: 0,
            lastSenderReport: 0, delaySinceSenderReport: 0)
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, [block])]), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).sending.lossFraction == 0.5)
        try bench.update(leg) { $0.audio.codecs = [.opus()] }
        bench.pass(.milliseconds(2_000))
        let figures = try bench.statistics(leg).sending
        #expect(figures.packets == 200 && figures.lost == 50 && figures.lossFraction == 0.25)
    }

    @Test(arguments: [true, false]) mutating func `reports leave our name out, but now and then, for a far end that takes it`(reduced: Bool)
        throws
    {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .echo)
        try bench.update(leg) { $0.audio.reducedSizeRTCP = reduced }
        try bench.start(leg)
        talk(seconds: 60)
        let named = try reports(to: alice.address).map { $0.contains { if case .sourceDescription = $0 { true } else { false } } }
        #expect(named.count >= 8 && named[0] && named.count { $0 } == (reduced ? (named.count + 2) / 3 : named.count))
    }

    @Test mutating func `Opus guards against the loss that the far end reports, and against none before`() throws {
        let codec = NegotiatedCodec(
            codec: Codec(name: "opus", clockRate: 48_000, channels: 2, fmtp: "useinbandfec=1"), receivePayloadType: 111,
            sendPayloadType: 111)
        let leg = try bench.open(
            1, port: 20_000, far: alice.address, codecs: [codec],
            source: .samples(SoundSignature(run: 1, call: 2, side: .caller).samples(), sampleRate: 8_000, loops: true))
        try bench.start(leg)
        // A packet with a copy of the sound before it gives more than silence when that is lost (RFC 6716 §2.1.7).
        func copies(in packets: [[UInt8]]) throws -> Double {
            var loud = 0
            for packet in packets.suffix(100) {
                let decoder = try FrameDecoder(.opus, sampleRate: 16_000), bytes = try payload(packet)
                var samples = [Int16](repeating: 0, count: decoder.largestOutput), room = samples.mutableSpan
                let count = try decoder.recover(320, from: bytes.span, into: &room)
                if LevelMeter.level(of: samples.span.extracting(0..<count)) > -50 { loud += 1 }
            }
            return Double(loud) / 100
        }
        bench.pass(.seconds(4))
        let before = bench.heard(by: alice.address), ssrc = try header(before[0]).ssrc
        #expect(try copies(in: before) < 0.1)
        let block = RTCPPacket.ReportBlock(
            ssrc: ssrc, fractionLost: 51, cumulativeLost: 40, highestSequence: 200, jitter: 0, lastSenderReport: 0,
            delaySinceSenderReport: 0)
        bench.arrive(
            RTCPPacket.make([.receiverReport(ssrc: 7, [block]), .sourceDescription([.init(ssrc: 7, cname: "far")])]), from: alice.address,
            at: 20_000)
        bench.pass(.seconds(4))
        #expect(try copies(in: bench.heard(by: alice.address)) > 0.5)
    }
}
