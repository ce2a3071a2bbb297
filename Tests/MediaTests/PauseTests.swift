import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

/// What a hold, an absence or another codec leaves behind in the numbers, timestamps and figures of a stream: nothing.
@Suite struct PauseTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func bridge(_ first: [NegotiatedCodec], _ second: [NegotiatedCodec]) throws -> (a: MediaLegID, b: MediaLegID) {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: first)
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: second)
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    private mutating func talk(_ packets: Int, _ payloadType: UInt8 = 0, step: UInt32 = 160) {
        for _ in 0..<packets {
            bench.arrive(alice.packet(payloadType, step: step), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
    }

    private enum Hold: CaseIterable { case stopped, inactive, remote }

    private func hold(_ leg: MediaLegID, _ hold: Hold) throws {
        switch hold {
        case .stopped: try bench.engine.stop(leg, at: bench.now)
        case .inactive: try bench.update(leg) { ($0.audio.sends, $0.audio.receives) = (false, false) }
        case .remote: try bench.update(leg) { ($0.audio.sends, $0.audio.remoteHold) = (false, .sendonly) }
        }
    }

    private func resume(_ leg: MediaLegID, _ hold: Hold) throws {
        switch hold {
        case .stopped: try bench.start(leg)
        case .inactive: try bench.update(leg) { ($0.audio.sends, $0.audio.receives) = (true, true) }
        case .remote: try bench.update(leg) { ($0.audio.sends, $0.audio.remoteHold) = (true, .none) }
        }
    }

    @Test(arguments: [Hold.stopped, .inactive])
    private mutating func `a hold of the side that speaks leaves no gap in what the other is sent`(kind: Hold) throws {
        let (a, _) = try bridge([.pcmu()], [.pcmu()])
        talk(3)
        let last = try header(#require(bench.heard(by: bob.address).last))
        try hold(a, kind)
        talk(100)
        #expect(bench.heard(by: bob.address).isEmpty)
        try resume(a, kind)
        talk(3)
        let after = try bench.heard(by: bob.address).map(header)
        #expect(after.map { last.sequence.distance(to: $0.sequence) } == [1, 2, 3])
        #expect(after[0].marker && after[0].timestamp &- last.timestamp == 101 * 160)
    }

    @Test mutating func `what comes while it is not listened to leaves no gap in its echo`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .echo)
        try bench.start(leg)
        talk(3)
        let last = try header(#require(bench.heard(by: alice.address).last))
        try bench.update(leg) { $0.audio.receives = false }
        talk(100)
        #expect(bench.heard(by: alice.address).isEmpty)
        try bench.update(leg) { $0.audio.receives = true }
        talk(3)
        let after = try bench.heard(by: alice.address).map(header)
        #expect(after.map { last.sequence.distance(to: $0.sequence) } == [1, 2, 3])
        #expect(after.first?.marker == true && after[0].timestamp &- last.timestamp == 101 * 160)
    }

    @Test(arguments: Hold.allCases, [true, false])
    private mutating func `what comes during a hold of either side is not missed by who decodes it`(kind: Hold, speakerHolds: Bool) throws {
        let (a, b) = try bridge([.pcma()], [.pcmu()]), held = speakerHolds ? a : b
        talk(50, 8)
        try hold(held, kind)
        talk(30, 8)
        try resume(held, kind)
        talk(50, 8)
        #expect(try #require(bench.statistics(a).playout).packets.lost == 0)
    }

    @Test mutating func `what comes during a hold is not missed in a conference`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .conference(1))
        try bench.start(leg)
        talk(50)
        try hold(leg, .inactive)
        talk(30)
        try resume(leg, .inactive)
        talk(50)
        #expect(try #require(bench.statistics(leg).playout).packets.lost == 0)
    }

    /// A far end whose clock stands still while it is held.
    @Test(arguments: [Hold.stopped, .inactive]) private mutating func `a hold is no jitter`(kind: Hold) throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .silence)
        try bench.start(leg)
        talk(50)
        try hold(leg, kind)
        bench.pass(.seconds(30))
        try resume(leg, kind)
        talk(50)
        let receiving = try bench.statistics(leg).receiving
        #expect(receiving.jitter == 0)
        #expect(try #require(receiving.jitters).greatest == 0)
    }

    @Test(arguments: [MediaSource.tone(.dial), .conference(1)]) func `timestamps have gone on with the clock when the lane was away`(
        source: MediaSource
    ) throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: source)
        try bench.start(leg)
        bench.pass(.milliseconds(90))
        let last = try header(#require(bench.heard(by: alice.address).last)), left = try #require(bench.statistics(leg).lastSent)
        bench.now = left + .seconds(5)
        bench.engine.advance(to: bench.now)
        let next = try header(#require(bench.heard(by: alice.address).first))
        #expect(next.timestamp &- last.timestamp == 40_000 && next.marker)
        #expect(last.sequence.distance(to: next.sequence) == 1)
    }

    // MARK: Clocks

    /// RFC 3550 §5.1: of the payload that is sent, which need not be of the codec that is ours to send.
    @Test mutating func `timestamps go on in the clock of what leaves, and jitter is told in it`() throws {
        let (_, b) = try bridge([.pcma()], [.opus(), .pcma()])
        talk(10, 8)
        let last = try header(#require(bench.heard(by: bob.address).last))
        try bench.engine.stop(b, at: bench.now)
        bench.pass(.seconds(10))
        try bench.start(b)
        talk(1, 8)
        let resumed = try header(#require(bench.heard(by: bob.address).last))
        #expect(resumed.payloadType == 8 && resumed.timestamp &- last.timestamp == 8 * 10_020)

        let block = RTCPPacket.ReportBlock(
            ssrc: last.ssrc, fractionLost: 0, cumulativeLost: 0, highestSequence: 0, jitter: 80, lastSenderReport: 0,
            delaySinceSenderReport: 0)
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, [block])]), from: bob.address, at: 20_002)
        #expect(try bench.statistics(b).sending.jitter == 10)

        try bench.update(b) { $0.source = .tone(.dial) }
        bench.pass(.milliseconds(30))
        let ours = try bench.heard(by: bob.address).map(header)
        #expect(ours.allSatisfy { $0.payloadType == 111 && $0.ssrc == last.ssrc })
        #expect(ours[0].timestamp &- resumed.timestamp == 960 && ours[1].timestamp &- ours[0].timestamp == 960)
    }
    /// RFC 3550 §5.1: also of a codec that is not known here.
    @Test mutating func `sound that is only passed on goes in the clock that its description names`() throws {
        let wide = NegotiatedCodec(codec: Codec(name: "AMR-WB", clockRate: 16_000), receivePayloadType: 98, sendPayloadType: 98)
        let (a, b) = try bridge([.pcmu(), wide], [.pcmu(), wide])
        talk(10, 98, step: 320)
        #expect(try bench.statistics(a).receiving.jitter == 0)
        let last = try header(#require(bench.heard(by: bob.address).last))
        try bench.engine.stop(b, at: bench.now)
        bench.pass(.seconds(10))
        try bench.start(b)
        talk(1, 98, step: 320)
        let resumed = try header(#require(bench.heard(by: bob.address).last))
        #expect(resumed.payloadType == 98 && resumed.timestamp &- last.timestamp == 16 * 10_020)

        let block = RTCPPacket.ReportBlock(
            ssrc: last.ssrc, fractionLost: 0, cumulativeLost: 0, highestSequence: 0, jitter: 160, lastSenderReport: 0,
            delaySinceSenderReport: 0)
        bench.arrive(RTCPPacket.make([.receiverReport(ssrc: 7, [block])]), from: bob.address, at: 20_002)
        #expect(try bench.statistics(b).sending.jitter == 10)
    }
}
