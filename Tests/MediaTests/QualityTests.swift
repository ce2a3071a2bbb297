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
        let told = try reports(to: alice.address).joined().compactMap { packet -> VoIPMetrics? in if case .extendedReport(_, let metrics) = packet { metrics } else { nil } }
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
            ssrc: ssrc, fractionLost: 26, cumulativeLost: 15, highestSequence: 150, jitter: 80, lastSenderReport: 0, delaySinceSenderReport: 0)
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
}
