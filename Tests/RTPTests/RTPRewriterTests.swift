import Primitives
import Testing

@testable import RTP

@Suite struct RTPRewriterTests {
    static func stream(_ sequence: UInt16 = 100, payloadTypes: PayloadTypeMap = .identity) -> RTPRewriter {
        RTPRewriter(ssrc: 0xABCD, sequence: sequence, timestamp: 5_000, clockRate: 8_000, payloadTypes: payloadTypes)
    }

    @Test func `gives its own identity and keeps all else of a packet`() throws {
        var map = PayloadTypeMap()
        map[96] = 111
        var stream = Self.stream(payloadTypes: map)
        let extended = Packet([0xB1, 96, 0, 7, 0, 0, 0, 9, 1, 1, 1, 1, 2, 2, 2, 2, 0xBE, 0xDE, 0, 1, 5, 6, 7, 8, 42, 43, 0, 2])
        let sent = try #require(try stream.relay(extended, at: .zero))
        #expect(
            sent.bytes == [
                0xB1, 0x80 | 111, 0, 100, 0, 0, 0x13, 0x88, 0, 0, 0xAB, 0xCD, 2, 2, 2, 2, 0xBE, 0xDE, 0, 1, 5, 6, 7, 8, 42, 43, 0, 2,
            ])
        #expect(try stream.outcome(Packet(type: 0, sequence: 8, ssrc: 0x0101_0101)) == .unmapped)
    }

    @Test func `keeps gaps, order and copies of one source, over the wrap of its numbers`() throws {
        var stream = Self.stream(65_530)
        let sequences = [65_500, 65_501, 65_504, 65_503, 65_503, 65_510, 65_540, 65_539, 65_541]
        let sent = try sequences.map {
            try stream.relay(Packet(sequence: $0, timestamp: UInt32($0) * 160), at: milliseconds(($0 - 65_500) * 20))
        }
        let headers = try sent.map { try #require(try $0?.header()) }
        #expect(headers.map { Int($0.sequence.rawValue) } == sequences.map { ($0 + 30) % 65_536 })
        #expect(headers.map(\.timestamp) == sequences.map { UInt32(5_000 + ($0 - 65_500) * 160) })
        #expect(headers.map(\.marker) == [true] + Array(repeating: false, count: 8))
    }

    @Test func `a new source goes on where the last one was, after the time that passed`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 10, timestamp: 1_000), at: .zero)
        _ = try stream.relay(Packet(sequence: 12, timestamp: 1_320), at: milliseconds(40))
        let first = try #require(try stream.relay(Packet(sequence: 9_000, timestamp: 77, ssrc: 2), at: milliseconds(140)))
        let next = try #require(try stream.relay(Packet(sequence: 9_001, timestamp: 237, ssrc: 2), at: milliseconds(160)))
        #expect(try first.header() == Packet(sequence: 103, timestamp: 5_320 + 800, ssrc: 0xABCD, marker: true).header())
        #expect(try next.header() == Packet(sequence: 104, timestamp: 5_320 + 960, ssrc: 0xABCD).header())
    }

    @Test func `packets from before a source's first are not let in among others' numbers`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 10), at: .zero)
        _ = try stream.relay(Packet(sequence: 50, ssrc: 2), at: milliseconds(20))
        #expect(try stream.outcome(Packet(sequence: 49, ssrc: 2)) == .stale)
        #expect(try stream.outcome(Packet(sequence: 50, ssrc: 2)) == .rewritten)
        #expect(try stream.relay(Packet(sequence: 52, ssrc: 2), at: milliseconds(40))?.header().sequence.rawValue == 103)
        #expect(try stream.relay(Packet(sequence: 51, ssrc: 2), at: milliseconds(40))?.header().sequence.rawValue == 102)
    }

    @Test func `after a pause time has passed and the marker is set`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 10, timestamp: 800), at: .zero)
        stream.pause()
        let resumed = try #require(try stream.relay(Packet(sequence: 700, timestamp: 81_000), at: milliseconds(10_000)))
        #expect(try resumed.header() == Packet(sequence: 101, timestamp: 85_000, ssrc: 0xABCD, marker: true).header())
    }

    @Test(arguments: [(3_000, true), (3_002, false), (32_000, false), (-101, false), (-30_000, false)])
    func `a far jump is believed when two packets follow each other there`(jump: Int, atOnce: Bool) throws {
        var stream = Self.stream()
        for sequence in 40_000...40_200 { _ = try stream.relay(Packet(sequence: sequence, timestamp: 0), at: .zero) }
        let target = 40_200 + jump
        #expect(try stream.outcome(Packet(sequence: target)) == (atOnce ? .rewritten : .strayed))
        guard !atOnce else { return }
        #expect(
            try stream.relay(Packet(sequence: 40_201), at: .zero)?.header().sequence.rawValue == 301, "one stray packet changes nothing")
        #expect(try stream.outcome(Packet(sequence: target)) == .strayed)
        let believed = try #require(try stream.relay(Packet(sequence: target + 1), at: milliseconds(20)))
        #expect(try believed.header().sequence.rawValue == 302)
        #expect(try believed.header().marker)
    }

    @Test func `a new base of timestamps in the same source does not reach the far end`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 1, timestamp: 1_000), at: .zero)
        let jumped = try #require(try stream.relay(Packet(sequence: 3, timestamp: 3_000_000_000), at: milliseconds(40)))
        #expect(try jumped.header() == Packet(sequence: 102, timestamp: 5_320, ssrc: 0xABCD, marker: true).header())
        let next = try #require(try stream.relay(Packet(sequence: 4, timestamp: 3_000_000_160), at: milliseconds(60)))
        #expect(try next.header() == Packet(sequence: 103, timestamp: 5_480, ssrc: 0xABCD).header())
    }

    @Test func `a long silence within one source is time, not a new base`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 1, timestamp: 0), at: .zero)
        let later = try #require(try stream.relay(Packet(sequence: 2, timestamp: 480_000), at: milliseconds(60_000)))
        #expect(try later.header() == Packet(sequence: 101, timestamp: 485_000, ssrc: 0xABCD).header())
    }

    @Test func `the packets of an event keep one timestamp through the relay`() throws {
        var stream = Self.stream()
        _ = try stream.relay(Packet(sequence: 1, timestamp: 160), at: .zero)
        let event = try (2...20).map {
            try stream.relay(Packet(type: 101, sequence: $0, timestamp: 320), at: milliseconds($0 * 20))?.header().timestamp
        }
        #expect(Set(event) == [5_160])
        #expect(try stream.relay(Packet(sequence: 21, timestamp: 160 * 21), at: milliseconds(420))?.header().timestamp == 5_000 + 160 * 20)
    }

    @Test func `packets made here follow one another, and sources follow them`() throws {
        var stream = Self.stream()
        let tone = (0..<3).map { stream.originate(payloadType: 0, samples: 160, payloadCount: 160, at: milliseconds($0 * 23)) }
        #expect(tone.map(\.sequence.rawValue) == [100, 101, 102])
        #expect(tone.map(\.timestamp) == [5_000, 5_160, 5_320])
        #expect(tone.map(\.marker) == [true, false, false])
        let event = stream.beginEvent(at: milliseconds(66))
        #expect(event == 5_480)
        let keyed = (0..<2).map {
            stream.originateEvent(payloadType: 101, timestamp: event, marker: $0 == 0, at: milliseconds(66 + $0 * 20))
        }
        #expect(keyed.map(\.timestamp) == [5_480, 5_480])
        #expect(keyed.map(\.sequence.rawValue) == [103, 104])
        let relayed = try #require(try stream.relay(Packet(sequence: 9), at: milliseconds(166)))
        #expect(try relayed.header() == Packet(sequence: 105, timestamp: 5_480 + 800, ssrc: 0xABCD, marker: true).header())
        let again = stream.originate(payloadType: 0, samples: 160, at: milliseconds(186))
        #expect((again.sequence.rawValue, again.timestamp, again.marker) == (106, 6_280 + 160, true))
    }

    @Test func `a random stream begins anywhere, and again at the same place from the same seed`() {
        var random = SeededRandom(seed: 1)
        var same = SeededRandom(seed: 1)
        let streams = (0..<50).map { _ in RTPRewriter(clockRate: 8_000, using: &random) }
        let first = streams[0].ssrc
        #expect(Set(streams.map(\.ssrc)).count == 50)
        #expect(RTPRewriter(clockRate: 8_000, using: &same).ssrc == first)
    }

    /// Whoever has lost all packets before the first wrap of an encrypted stream cannot know of it (RFC 3711 §3.3.1).
    @Test func `a random stream begins far from the wrap of its sequence, also when it is renewed`() {
        var random = SeededRandom(seed: 5)
        var first: [UInt16] = []
        for _ in 0..<500 {
            var stream = RTPRewriter(clockRate: 8_000, using: &random)
            first.append(stream.originate(payloadType: 0, samples: 160, at: .zero).sequence.rawValue)
            stream.renew(clockRate: 48_000, using: &random)
            first.append(stream.originate(payloadType: 0, samples: 960, at: .zero).sequence.rawValue)
        }
        #expect(first.allSatisfy { $0 < 0x8000 } && first.contains { $0 > 0x7000 } && Set(first).count > 900)
    }

    /// Loss, copies, reordering, source changes and pauses, against a model that numbers what was sent in advance.
    @Test(arguments: UInt64(0)..<30)
    func `the far end sees the losses of each source and no others`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var stream = RTPRewriter(clockRate: 8_000, using: &random)
        var now = Instant.zero
        var lastSent: RTPHeader?
        for epoch in 0..<6 {
            var source = Source(ssrc: UInt32(epoch + 1), random: &random)
            var base: (input: RTPHeader, output: RTPHeader)?
            for packet in source.packets(200, random: &random) {
                now += .milliseconds(Int64.random(in: 0...40, using: &random))
                let input = try packet.header()
                guard let output = try stream.relay(packet, at: now)?.header() else {
                    let first = try #require(base)
                    #expect(first.input.sequence.distance(to: input.sequence) < 0, "only what is older than the first may be dropped")
                    continue
                }
                if base == nil, let last = lastSent {
                    #expect(last.sequence.distance(to: output.sequence) == 1, "seed \(seed)")
                    #expect(timestampDistance(from: last.timestamp, to: output.timestamp) > 0)
                    #expect(output.marker)
                }
                let first = base ?? (input, output)
                base = first
                #expect(first.output.sequence.distance(to: output.sequence) == first.input.sequence.distance(to: input.sequence))
                #expect(output.timestamp &- first.output.timestamp == input.timestamp &- first.input.timestamp)
                if lastSent.map({ $0.sequence.distance(to: output.sequence) > 0 }) ?? true { lastSent = output }
            }
            if Bool.random(using: &random) { stream.pause() }
        }
    }

    private struct Source {
        let ssrc: UInt32
        let sequence: Int
        let timestamp: UInt32

        init(ssrc: UInt32, random: inout SeededRandom) {
            self.ssrc = ssrc
            sequence = Int.random(in: 0..<65_536, using: &random)
            timestamp = UInt32.random(in: 0 ... .max, using: &random)
        }

        mutating func packets(_ count: Int, random: inout SeededRandom) -> [Packet] {
            var packets = (0..<count).map { Packet(sequence: sequence + $0, timestamp: timestamp &+ UInt32($0) * 160, ssrc: ssrc) }
            packets.removeAll { _ in Int.random(in: 0..<10, using: &random) == 0 }
            for place in packets.indices where Int.random(in: 0..<10, using: &random) == 0 {
                packets.swapAt(place, max(0, place - Int.random(in: 1...5, using: &random)))
            }
            for place in packets.indices.reversed() where Int.random(in: 0..<20, using: &random) == 0 {
                packets.insert(packets[place], at: place)
            }
            return packets
        }
    }
}
