import Primitives
import Testing

@testable import RTP

@Suite struct RTPHeaderTests {
    static let fixed: [UInt8] = [0x80, 0x80 | 111, 0x12, 0x34, 0xDE, 0xAD, 0xBE, 0xEF, 0x01, 0x02, 0x03, 0x04]

    static func with(_ first: UInt8, _ rest: [UInt8]) -> [UInt8] { [first] + fixed.dropFirst() + rest }

    @Test func `reads the fields where RFC 3550 puts them`() throws {
        let header = try Packet(Self.fixed + [9, 9]).header()
        #expect(header.marker)
        #expect(header.payloadType == 111)
        #expect(header.sequence.rawValue == 0x1234)
        #expect(header.timestamp == 0xDEAD_BEEF)
        #expect(header.ssrc == 0x0102_0304)
        #expect((header.payloadOffset, header.payloadCount) == (12, 2))
    }

    static let layouts: [([UInt8], Int, Int)] = [
        (with(0x80, []), 12, 0), (with(0x82, [0, 0, 0, 1, 0, 0, 0, 2, 7]), 20, 1),
        (with(0x90, [0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 7, 7]), 20, 2),
        (with(0x90, [0xBE, 0xDE, 0, 0]), 16, 0), (with(0xA0, [5, 5, 0, 2]), 12, 2), (with(0xA0, [1]), 12, 0),
        (with(0xB1, [0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 7, 0, 0, 3]), 24, 1),
    ]

    @Test(arguments: layouts)
    func `finds the payload behind sources, extension and before padding`(bytes: [UInt8], offset: Int, count: Int) throws {
        let header = try Packet(bytes).header()
        #expect((header.payloadOffset, header.payloadCount) == (offset, count))
    }

    static let bad: [([UInt8], RTPHeader.ParseError)] = [
        ([], .truncated), (Array(fixed.dropLast()), .truncated), (with(0x00, []), .version), (with(0x40, []), .version),
        (with(0xC0, []), .version),
        (with(0x81, [1, 2, 3]), .truncated), (with(0x90, [0xBE, 0xDE, 0]), .truncated),
        (with(0x90, [0xBE, 0xDE, 0, 1, 1, 2, 3]), .truncated),
        (with(0x90, [0xBE, 0xDE, 0xFF, 0xFF, 1, 2, 3, 4]), .truncated), (with(0xA0, [0]), .padding), (with(0xA0, [2]), .padding),
        (with(0xA0, []), .padding), (with(0xA1, [0, 0, 0, 1]), .padding),
    ]

    @Test(arguments: bad)
    func `refuses what does not hold together`(bytes: [UInt8], error: RTPHeader.ParseError) {
        #expect(throws: error) { try Packet(bytes).header() }
    }

    @Test func `writes what it reads`() throws {
        var written = [UInt8](repeating: 0xFF, count: 12)
        let header = try Packet(Self.fixed).header()
        written.withUnsafeMutableBytes { header.write(to: $0) }
        #expect(written == Self.fixed)
    }

    @Test func `survives any bytes, and its payload lies within them`() {
        var random = SeededRandom(seed: 3)
        var parsed = 0
        for _ in 0..<5_000 {
            var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if !bytes.isEmpty, Bool.random(using: &random) { bytes[0] = bytes[0] & 0x3F | 0x80 }
            guard let header = try? Packet(bytes).header() else { continue }
            parsed += 1
            #expect(header.payloadOffset >= 12 && header.payloadCount >= 0 && header.payloadOffset + header.payloadCount <= bytes.count)
        }
        #expect(parsed > 200)
    }

    static let kinds: [([UInt8], MediaPacketKind)] = [
        (fixed, .rtp), (with(0x80, [1, 2]), .rtp), (Array(fixed.dropLast()), .other), ([0x80, 200, 0, 1, 0, 0, 0, 1], .rtcp),
        ([0x80, 192, 0, 1, 0, 0, 0, 1], .rtcp), ([0x80, 223, 0, 1, 0, 0, 0, 1], .rtcp), ([0x80, 72, 0, 1, 0, 0, 0, 1], .rtcp),
        ([0x80, 224, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0], .rtp), ([0x80, 191, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0], .rtp), ([0x80, 200, 0, 0], .other),
        ([0x00, 0x01, 0, 0, 0x21, 0x12, 0xA4, 0x42, 0, 0, 0, 0], .other), ([22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], .other),
    ]

    @Test(arguments: kinds)
    func `tells RTP, RTCP and others apart on one port`(bytes: [UInt8], kind: MediaPacketKind) {
        #expect(bytes.withUnsafeBytes { MediaPacketKind($0) } == kind)
    }

    static let distances: [(UInt16, UInt16, Int)] = [
        (0, 1, 1), (65_535, 0, 1), (0, 65_535, -1), (10, 10, 0), (0, 32_767, 32_767), (0, 32_768, -32_768),
    ]

    @Test(arguments: distances)
    func `sequence numbers wrap`(from: UInt16, to: UInt16, distance: Int) {
        #expect(SequenceNumber(from).distance(to: SequenceNumber(to)) == distance)
    }

    @Test func `a clock of ticks keeps time for years`() {
        let year = Instant(nanoseconds: 365 * 86_400 * 1_000_000_000)
        #expect((year + .milliseconds(20)).ticks(48_000) &- year.ticks(48_000) == 960)
        #expect(milliseconds(1_500).ticks(8_000) == 12_000)
        #expect(milliseconds(10).ticks(8_000, since: milliseconds(20)) == 0)
    }

    @Test func `a set and a map of payload types hold what was put in`() {
        let set: PayloadTypeSet = [0, 111, 127]
        #expect((UInt8(0)...255).filter(set.contains) == [0, 111, 127])
        var map = PayloadTypeMap()
        map[96] = 111
        #expect((map[96], map[0], map[200]) == (111, nil, nil))
        map[96] = nil
        #expect(map[96] == nil)
        #expect((UInt8(0)..<128).allSatisfy { PayloadTypeMap.identity[$0] == $0 })
    }
}
