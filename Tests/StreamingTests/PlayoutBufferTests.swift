import Audio
import Primitives
import Testing

@testable import Streaming

@Suite struct PlayoutBufferTests {
    private static func take(_ count: Int, from buffer: inout PlayoutBuffer) -> [Int16] {
        var room = [Int16](repeating: 99, count: count), taken = 0
        room.withUnsafeMutableBufferPointer { taken = buffer.take(into: $0) }
        return Array(room[..<taken])
    }

    private static func bytes(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    @Test(arguments: [1, 3, 320, 100_000]) func `pieces of any length come out as the same samples`(length: Int) throws {
        var buffer = try PlayoutBuffer(.l16(sampleRate: 16_000))
        let samples = (0..<20_000).map { Int16(truncatingIfNeeded: $0 &* 7_919) }
        var rest = Self.bytes(samples)[...]
        while !rest.isEmpty {
            try buffer.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        #expect(buffer.count == 20_000 && buffer.bytes == 40_000)
        var taken: [Int16] = []
        while buffer.count > 0 { taken += Self.take(320, from: &buffer) }
        #expect(taken == samples && buffer.bytes == 0)
    }

    @Test func `ten minutes fit in one burst, and a quarter of an hour is all`() throws {
        var buffer = try PlayoutBuffer(.pcmu)
        let minute = [UInt8](repeating: 0xFF, count: 8_000 * 60)
        for _ in 0..<15 { try buffer.append(minute) }
        #expect(buffer.count == 15 * 60 * 8_000)
        #expect(throws: PlayoutBuffer.Refusal.full) { try buffer.append([0xFF]) }
        let taken = Self.take(8_000, from: &buffer).count
        #expect(taken == 8_000)
        try buffer.append(Array(minute.prefix(8_000)))
    }

    @Test func `ten minutes at 48 kHz fit, and no more bytes than the bound`() throws {
        var buffer = try PlayoutBuffer(.l16(sampleRate: 48_000))
        let minute = [UInt8](repeating: 0, count: 48_000 * 2 * 60)
        for _ in 0..<11 { try buffer.append(minute) }
        #expect(throws: PlayoutBuffer.Refusal.full) { try buffer.append(minute) }
        #expect(buffer.bytes <= PlayoutBuffer.mostBytes)
    }

    @Test func `a mark is due with the sample before it, and clear tells those that are left`() throws {
        var buffer = try PlayoutBuffer(.pcmu)
        var fit = [buffer.mark("first")]
        try buffer.append([UInt8](repeating: 0xFF, count: 160))
        fit += [buffer.mark("second"), buffer.mark("third")]
        try buffer.append([UInt8](repeating: 0xFF, count: 160))
        fit.append(buffer.mark("last"))
        let due = [0, 159, 160].map { buffer.takeMarks(upTo: $0) }
        #expect(fit == [true, true, true, true] && due == [["first"], [], ["second", "third"]])
        _ = Self.take(80, from: &buffer)
        let left = buffer.clear()
        #expect(left == ["last"] && buffer.count == 0 && buffer.bytes == 0)
        try buffer.append([0x00])
        fit.append(buffer.mark("new"))
        let later = [80, 81].map { buffer.takeMarks(upTo: $0) }, taken = Self.take(80, from: &buffer)
        #expect(later == [[], ["new"]] && taken == [G711.decodeMu(0)])
    }

    @Test func `no more marks wait than may`() throws {
        var buffer = try PlayoutBuffer(.pcmu), taken = 0
        for _ in 0..<2_000 where buffer.mark("x") { taken += 1 }
        #expect(taken == PlayoutBuffer.mostMarks)
    }

    @Test func `Opus packets are decoded as they are taken, and what is none is refused`() throws {
        var buffer = try PlayoutBuffer(.opus)
        let encoder = try FrameEncoder(.opus, sampleRate: 48_000)
        for _ in 0..<5 {
            var packet = [UInt8](repeating: 0, count: encoder.largestPayload), room = packet.mutableSpan
            let count = try encoder.encode([Int16](repeating: 1_000, count: 960).span, into: &room)
            try buffer.append(Array(packet[..<count]))
        }
        #expect(buffer.count == 4_800)
        #expect(throws: PlayoutBuffer.Refusal.malformed) { try buffer.append([]) }
        let counts = [Self.take(700, from: &buffer).count, Self.take(10_000, from: &buffer).count]
        #expect(counts == [700, 4_100] && buffer.bytes == 0)
    }
}
