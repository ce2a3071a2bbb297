import Primitives
import Testing

@testable import RTP

@Suite struct RTCPTests {
    static let block = RTCPPacket.ReportBlock(
        ssrc: 2, fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_0005, jitter: 9, lastSenderReport: 10,
        delaySinceSenderReport: 11)

    static let compound: [RTCPPacket] = [
        .senderReport(ssrc: 1, .init(ntp: 0x0102_0304_0506_0708, rtpTimestamp: 3, packets: 4, octets: 5), [block]),
        .sourceDescription([.init(ssrc: 1, cname: "ab")]), .goodbye([1], reason: "bye"),
    ]
    static let compoundBytes: [UInt8] = [
        0x81, 200, 0, 12, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5,
        0, 0, 0, 2, 64, 0xFF, 0xFF, 0xFE, 0, 1, 0, 5, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 11,
        0x81, 202, 0, 3, 0, 0, 0, 1, 1, 2, 0x61, 0x62, 0, 0, 0, 0,
        0x81, 203, 0, 2, 0, 0, 0, 1, 3, 0x62, 0x79, 0x65,
    ]

    @Test func `makes the bytes of RFC 3550 and reads them back`() throws {
        #expect(RTCPPacket.make(Self.compound) == Self.compoundBytes)
        #expect(try parseRTCP(Self.compoundBytes) == Self.compound)
    }

    @Test func `reads other packets, padding, several sources and items that are not names`() throws {
        let bytes: [UInt8] =
            [0x80, 201, 0, 1, 0, 0, 0, 7] + [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]
            + [0x82, 202, 0, 6, 0, 0, 0, 1, 2, 1, 0x78, 1, 1, 0x79, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0]
            + [0xA1, 203, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4]
        #expect(
            try parseRTCP(bytes) == [
                .receiverReport(ssrc: 7, []), .other(type: 206),
                .sourceDescription([.init(ssrc: 1, cname: "y"), .init(ssrc: 2, cname: "")]),
                .goodbye([1], reason: nil),
            ])
    }

    static let bad: [([UInt8], RTCPPacket.ParseError)] = [
        ([], .truncated), ([0x80, 201, 0], .truncated), ([0x80, 201, 0, 2, 0, 0, 0, 1], .truncated),
        ([0x00, 201, 0, 1, 0, 0, 0, 1], .version),
        ([0x81, 201, 0, 1, 0, 0, 0, 1], .malformed), ([0x80, 200, 0, 1, 0, 0, 0, 1], .malformed),
        ([0xA0, 201, 0, 1, 0, 0, 0, 9], .malformed),
        ([0xA0, 201, 0, 1, 0, 0, 0, 0], .malformed), ([0x81, 202, 0, 2, 0, 0, 0, 1, 1, 9, 0, 0], .truncated),
        ([0x82, 203, 0, 1, 0, 0, 0, 1], .malformed),
        ([0x81, 203, 0, 2, 0, 0, 0, 1, 9, 0, 0, 0], .truncated), (compoundBytes + [0x80], .truncated),
        (Array(repeating: [0x80, 206, 0, 0], count: 33).flatMap { $0 }, .tooMany),
    ]

    @Test(arguments: bad)
    func `refuses a compound that does not hold together`(bytes: [UInt8], error: RTCPPacket.ParseError) {
        #expect(throws: error) { try parseRTCP(bytes) }
    }

    @Test(arguments: UInt64(0)..<20)
    func `what is made parses to itself, and damage is an error or a compound`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let packets = (0..<Int.random(in: 1...8, using: &random)).map { _ in Self.packet(&random) }
        let bytes = RTCPPacket.make(packets)
        #expect(try parseRTCP(bytes) == packets)
        var survived = 0
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<3 { damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random) }
            damaged.removeLast(Int.random(in: 0...3, using: &random))
            guard let parsed = try? parseRTCP(damaged) else { continue }
            survived += 1
            #expect(parsed.count <= RTCPPacket.greatestCount)
        }
        #expect(survived < 300)
    }

    private static func packet(_ random: inout SeededRandom) -> RTCPPacket {
        func word() -> UInt32 { UInt32.random(in: 0 ... .max, using: &random) }
        func text() -> Text { Text((0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 32...126, using: &random) }) }
        func block() -> RTCPPacket.ReportBlock {
            .init(
                ssrc: word(), fractionLost: UInt8.random(in: 0...255, using: &random),
                cumulativeLost: Int32.random(in: -0x80_0000...0x7F_FFFF, using: &random), highestSequence: word(), jitter: word(),
                lastSenderReport: word(), delaySinceSenderReport: word())
        }
        let blocks = (0..<Int.random(in: 0...3, using: &random)).map { _ in block() }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return .senderReport(
                ssrc: word(), .init(ntp: UInt64(word()) << 32 | 7, rtpTimestamp: word(), packets: word(), octets: word()), blocks)
        case 1: return .receiverReport(ssrc: word(), blocks)
        case 2: return .sourceDescription(blocks.map { .init(ssrc: $0.ssrc, cname: text()) })
        default: return .goodbye(blocks.map(\.ssrc), reason: Bool.random(using: &random) ? text() : nil)
        }
    }

    @Test func `two sessions learn of each other's losses and of the way between them`() throws {
        var here = RTCPSession(ssrc: 10, cname: "here", clockRate: 8_000, seed: 1, at: .zero)
        var there = RTCPSession(ssrc: 20, cname: "there", clockRate: 8_000, seed: 2, at: .zero)
        let delay = Duration.milliseconds(30)
        var reports = 0
        for packet in 0..<3_000 {
            let now = milliseconds(packet * 20)
            here.sender.sent(UInt32(packet * 160), sequence: UInt16(packet), octets: 160, at: now)
            if packet % 10 != 5 {
                there.receiver.receive(try Packet(sequence: packet, timestamp: UInt32(packet * 160), ssrc: 10).header(), at: now + delay)
            }
            if let report = here.advance(to: now) { _ = try report.withUnsafeBytes { try there.receive($0, at: now + delay) } }
            if let report = there.advance(to: now) {
                reports += 1
                #expect(try report.withUnsafeBytes { try here.receive($0, at: now + delay) } == [.reported])
                #expect(try parseRTCP(report).last == .sourceDescription([.init(ssrc: 20, cname: "there")]))
            }
        }
        #expect(reports >= 8 && reports <= 30)
        #expect(here.sending.packets == 3_000)
        let fraction = try #require(here.sending.lossFraction)
        #expect(abs(fraction - 0.1) < 0.02)
        let trip = try #require(here.roundTrip)
        #expect(abs(trip.wholeMilliseconds - 60) <= 1)
        #expect(there.receiving.lost == 300)
        #expect(here.receiving.lost == nil)
    }

    @Test func `reports as a sender after sending, in this interval or the one before, and says goodbye`() throws {
        var session = RTCPSession(ssrc: 10, cname: "x", clockRate: 8_000, seed: 1, at: .zero)
        #expect(session.advance(to: .zero) == nil)
        var types = [session.advance(to: session.deadline)?[1]]
        session.sender.sent(0, sequence: 0, octets: 160, at: milliseconds(9_000))
        types += [20_000, 40_000, 60_000].map { session.advance(to: milliseconds($0))?[1] }
        #expect(types == [201, 200, 200, 201])
        #expect(try parseRTCP(session.goodbye(at: milliseconds(70_000))).last == .goodbye([10], reason: nil))
        var peer = RTCPSession(ssrc: 11, cname: "y", clockRate: 8_000, seed: 1, at: .zero)
        #expect(try session.goodbye(at: .zero).withUnsafeBytes { try peer.receive($0, at: .zero) } == [.goodbye])
    }

    @Test func `a report answers the sender report of the source that it is about, and of no other`() throws {
        var session = RTCPSession(ssrc: 10, cname: "x", clockRate: 8_000, seed: 1, at: .zero)
        var time = 0
        func answered(_ source: UInt32, reporting reporter: UInt32) throws -> RTCPPacket.ReportBlock? {
            time += 10_000
            session.receiver.receive(try Packet(sequence: 1, ssrc: source).header(), at: milliseconds(time))
            let info = RTCPPacket.SenderInfo(ntp: 0xAA_BBBB_CCCC_DDDD, rtpTimestamp: 0, packets: 1, octets: 1)
            _ = try RTCPPacket.make([.senderReport(ssrc: reporter, info, [])]).withUnsafeBytes {
                try session.receive($0, at: milliseconds(time))
            }
            let report = session.advance(to: milliseconds(time + 1_000))
            guard case .receiverReport(_, let blocks)? = try report.map(parseRTCP)?.first else { return nil }
            return blocks.first
        }
        let same = try #require(try answered(1, reporting: 1))
        #expect(same.ssrc == 1 && same.lastSenderReport == 0xBBBB_CCCC && same.delaySinceSenderReport == 65_536)
        for block in [try answered(1, reporting: 2), try answered(3, reporting: 1)] {
            #expect(block?.lastSenderReport == 0 && block?.delaySinceSenderReport == 0)
        }
    }

    @Test func `intervals are five seconds, spread by the RFC's factor`() {
        var session = RTCPSession(ssrc: 10, cname: "x", clockRate: 8_000, seed: 7, at: .zero)
        #expect((1_026...3_079).contains(Int((session.deadline - .zero).wholeMilliseconds)))
        var intervals: [Int64] = []
        for _ in 0..<300 {
            let due = session.deadline
            #expect(session.advance(to: due) != nil)
            intervals.append((session.deadline - due).wholeMilliseconds)
        }
        #expect(intervals.min()! >= 2_052 && intervals.min()! < 2_300)
        #expect(intervals.max()! <= 6_157 && intervals.max()! > 5_900)
    }
}
