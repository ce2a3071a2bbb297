import Primitives
import Testing

@testable import RTP

@Suite struct StatisticsTests {
    /// A stream with loss, copies and reordering, counted the slow way.
    @Test(arguments: UInt64(0)..<30)
    func `counts as a list of everything would`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let first = Int.random(in: 60_000..<70_000, using: &random)
        var sequences = Array(first..<first + 20_000)
        sequences.removeAll { $0 != first && Int.random(in: 0..<20, using: &random) == 0 }
        for place in sequences.indices.dropFirst(11) where Int.random(in: 0..<20, using: &random) == 0 {
            sequences.swapAt(place, place - Int.random(in: 1...10, using: &random))
        }
        for place in sequences.indices.reversed() where Int.random(in: 0..<50, using: &random) == 0 {
            sequences.insert(sequences[place], at: place)
        }
        var statistics = ReceiverStatistics(clockRate: 8_000)
        for (place, sequence) in sequences.enumerated() {
            statistics.receive(try Packet(sequence: sequence).header(), at: milliseconds(place * 20))
        }
        let expected = sequences.max()! - first + 1
        let lost = expected - sequences.count
        let made = statistics.reportBlock(at: .zero)
        let block = try #require(made)
        #expect(Int(block.highestSequence) == sequences.max()! - (first >= 65_536 ? 65_536 : 0))
        #expect(Int(block.cumulativeLost) == lost)
        #expect(Int(block.fractionLost) == max(0, lost * 256 / expected))
        #expect(statistics.figures.packets == UInt64(sequences.count))
        #expect(statistics.figures.octets == UInt64(sequences.count * 3))
        #expect(statistics.figures.lost == UInt64(expected - Set(sequences).count), "a copy is not a packet more")
        #expect(statistics.figures.expected == UInt64(expected))
    }

    @Test(arguments: UInt64(0)..<10)
    func `jitter is that of the formula`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var statistics = ReceiverStatistics(clockRate: 8_000)
        var (jitter, lastTransit) = (0.0, Double?.none)
        for packet in 0..<500 {
            let arrival = packet * 20 + Int.random(in: 0...15, using: &random)
            statistics.receive(try Packet(sequence: packet, timestamp: UInt32(packet * 160)).header(), at: milliseconds(arrival))
            let transit = Double(arrival * 8 - packet * 160)
            if let last = lastTransit { jitter += (abs(transit - last) - jitter) / 16 }
            lastTransit = transit
        }
        let measured = try #require(statistics.figures.jitter)
        #expect(abs(measured - jitter / 8) < 0.2)
        #expect(measured > 1)
    }

    @Test func `jitter is measured by the clock of what comes, also where that changes`() throws {
        var statistics = ReceiverStatistics(clockRate: 48_000)
        for packet in 0..<405 {
            let rate: UInt32 = packet / 100 % 2 == 0 ? 8_000 : 48_000, timestamp = rate * 1_000 + UInt32(packet) * rate / 50
            statistics.turn(to: rate)
            statistics.receive(try Packet(sequence: packet, timestamp: timestamp).header(), at: milliseconds(packet * 20 + packet % 2 * 8))
        }
        let jitter = try #require(statistics.figures.jitter)
        #expect((7...9).contains(jitter), "\(jitter)")
        let made = statistics.reportBlock(at: .zero)
        #expect(try (56...72).contains(#require(made).jitter), "in ticks of the clock that it has now")
    }

    @Test func `jitter survives the wrap of timestamps and leaves events out`() throws {
        var statistics = ReceiverStatistics(clockRate: 8_000)
        for packet in 0..<100 {
            let timestamp = UInt32.max - 4_000 &+ UInt32(packet * 160)
            statistics.receive(try Packet(sequence: packet, timestamp: timestamp).header(), at: milliseconds(packet * 20))
        }
        #expect(statistics.figures.jitter == 0)
        for packet in 100..<120 {
            statistics.receive(try Packet(sequence: packet, timestamp: 9).header(), timed: false, at: milliseconds(packet * 20))
        }
        #expect(statistics.figures.jitter == 0)
        #expect(statistics.figures.packets == 120)
    }

    @Test func `nothing is known before it is measured`() throws {
        var statistics = ReceiverStatistics(clockRate: 8_000)
        #expect(statistics.figures == RTPFigures())
        #expect(statistics.reportBlock(at: .zero) == nil)
        statistics.receive(try Packet(sequence: 1).header(), at: .zero)
        #expect(statistics.figures.lost == 0)
        #expect(statistics.figures.jitter == nil)
        #expect(SenderStatistics(clockRate: 8_000).figures.lost == nil)
    }

    @Test func `a stray packet is not counted, a restart is, and totals go on`() throws {
        var statistics = ReceiverStatistics(clockRate: 8_000)
        func receive(_ sequences: [Int], ssrc: UInt32 = 1) throws {
            for sequence in sequences { statistics.receive(try Packet(sequence: sequence, ssrc: ssrc).header(), at: .zero) }
        }
        try receive([1, 2, 4])
        try receive([30_000])
        try receive([5])
        #expect(statistics.figures.packets == 4)
        try receive([50_000, 50_001, 50_003])
        #expect(statistics.figures.packets == 6, "the first of the restart only served to be believed")
        #expect(statistics.figures.lost == 2)
        #expect(statistics.reportBlock(at: .zero)?.cumulativeLost == 1)
        try receive([7, 9], ssrc: 2)
        #expect(statistics.figures.packets == 8)
        #expect(statistics.figures.lost == 3)
        #expect(statistics.figures.expected == 11 && abs(statistics.figures.lossFraction! - 3.0 / 11) < 1e-9)
    }

    @Test func `a report's fraction is of the interval alone`() throws {
        var statistics = ReceiverStatistics(clockRate: 8_000)
        for sequence in 0..<100 where sequence % 2 == 0 { statistics.receive(try Packet(sequence: sequence).header(), at: .zero) }
        #expect(statistics.reportBlock(at: .zero)?.fractionLost == UInt8(49 * 256 / 99))
        for sequence in 99..<200 { statistics.receive(try Packet(sequence: sequence).header(), at: .zero) }
        let block = statistics.reportBlock(at: .zero)
        #expect(block?.fractionLost == 0)
        #expect(block?.cumulativeLost == 49)
    }

    /// RFC 3550 §6.4.1, figure 2.
    @Test func `the round trip is the RFC's own example`() {
        var sender = SenderStatistics(clockRate: 8_000)
        let block = RTCPPacket.ReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: 0, highestSequence: 0, jitter: 80, lastSenderReport: 0xB705_2000,
            delaySinceSenderReport: 0x0005_4000)
        sender.receive(block, at: milliseconds(46_864_500))
        #expect(sender.roundTrip == .milliseconds(6_125))
        #expect(sender.figures.jitter == 10)
    }

    @Test func `a report that waited says what was lost, and measures no round trip`() {
        var sender = SenderStatistics(clockRate: 8_000)
        for number in 0..<200 { sender.sent(0, sequence: UInt16(number), octets: 160, at: .zero) }
        let block = RTCPPacket.ReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: 10, highestSequence: 159, jitter: 80, lastSenderReport: 0xB705_2000,
            delaySinceSenderReport: 0x0005_4000)
        sender.receive(block, at: nil)
        #expect(sender.figures.lost == 10 && sender.figures.expected == 160 && sender.figures.lossFraction == 0.0625)
        #expect(sender.roundTrip == nil && sender.roundTripDistribution == nil)
    }

    static let nonsense: [(UInt32, UInt32)] = [(0, 0), (0xB710_8000, 0x1_0000), (0xB712_0000, 0), (0x0000_0001, 0), (.max, .max)]

    @Test(arguments: nonsense)
    func `a round trip that cannot be is none`(lastReport: UInt32, delay: UInt32) {
        var sender = SenderStatistics(clockRate: 8_000)
        let block = RTCPPacket.ReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: -5, highestSequence: 0, jitter: 0, lastSenderReport: lastReport,
            delaySinceSenderReport: delay)
        sender.receive(block, at: milliseconds(46_864_500))
        #expect(sender.roundTrip == nil)
        #expect(sender.figures.lost == 0)
    }
}
