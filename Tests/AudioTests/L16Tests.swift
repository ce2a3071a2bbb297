import Audio
import Testing

@Suite struct L16Tests {
    @Test func `samples are sixteen bits in network byte order`() throws {
        let encoder = try FrameEncoder(.linear8, sampleRate: 8_000, milliseconds: 10)
        let samples = [0x0102, -2, 32_767, -32_768] + [Int16](repeating: 0, count: 76)
        let payload = try #require(try encoder.payloads(of: samples).first)
        #expect(Array(payload.prefix(8)) == [1, 2, 0xFF, 0xFE, 0x7F, 0xFF, 0x80, 0] && payload.count == 160)
        #expect(try FrameDecoder(.linear8, sampleRate: 8_000).samples(of: [payload]) == samples)
    }

    @Test(arguments: [AudioCodec.linear8, .linear16, .linear44, .linear48])
    func `what is not whole samples of at most 120 ms is refused`(codec: AudioCodec) throws {
        let decoder = try FrameDecoder(codec, sampleRate: codec.workingSampleRate)
        let longest = codec.clockRate * 120 / 1_000 * 2
        for count in [0, 1, 161, longest + 2] {
            #expect(throws: CodecError.malformed) { try decoder.samples(of: [[UInt8](repeating: 0, count: count)]) }
        }
        #expect(try decoder.samples(of: [[UInt8](repeating: 0, count: longest)]).count == codec.workingSampleRate * 120 / 1_000)
    }

    @Test(arguments: [(AudioCodec.linear8, 80), (.linear16, 40), (.linear44, 10), (.linear48, 10)])
    func `packets are no longer than fits an Ethernet frame`(codec: AudioCodec, longest: Int) {
        #expect(FrameEncoder.lengths(of: codec).max() == longest)
    }
}
