import Audio
import Testing

@Suite struct G722Tests {
    /// FNV-1a, 64 bits.
    private func fingerprint(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private func littleEndian(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private func encode(_ samples: [Int16]) throws -> [UInt8] {
        var encoder = G722Encoder(), bytes = [UInt8](repeating: 0, count: samples.count / 2)
        var room = bytes.mutableSpan
        _ = try encoder.encode(samples.span, into: &room)
        return bytes
    }

    private func decode(_ bytes: [UInt8]) throws -> [Int16] {
        var decoder = G722Decoder(), samples = [Int16](repeating: 0, count: bytes.count * 2)
        var room = samples.mutableSpan
        _ = try decoder.decode(bytes.span, into: &room)
        return samples
    }

    // The expected values of the next two tests were made with libspandsp 0.0.6, another implementation, from the same input.

    @Test func `noise from half scale down to nothing encodes and decodes to the bits of another implementation`() throws {
        let bytes = try encode(Signals.noise(seed: 1, count: 32_000) { Int16(1 + $0 / 2_000 % 15) })
        #expect(bytes.prefix(16) == [137, 32, 132, 32, 133, 32, 6, 188, 7, 153, 154, 10, 173, 52, 140, 184])
        #expect(fingerprint(bytes) == 0x3B16_BCCB_F392_CC6E)
        #expect(fingerprint(littleEndian(try decode(bytes))) == 0x09A5_BE07_B15E_E4B7)
    }

    @Test func `bytes that no encoder made decode to the samples of another implementation`() throws {
        let samples = try decode(Signals.noise(seed: 2, count: 16_000).map { UInt8(truncatingIfNeeded: $0 >> 8) })
        #expect(samples.prefix(12) == [-1, 0, 0, -1, -1, 2, -1, -6, 3, 12, -14, -54])
        // That implementation wraps 93 of these samples where the recommendation saturates (§5.2.3, LIMIT); the fingerprint is with those
        // saturated.
        #expect(fingerprint(littleEndian(samples)) == 0x9086_5340_E659_89BF)
        #expect(samples.filter { $0 == .max || $0 == .min }.count == 93)
    }

    @Test(arguments: [(300.0, 30.0), (1_000, 30), (3_000, 25), (5_000, 15), (6_500, 10)])
    func `a tone comes back with its band's share of signal to noise`(frequency: Double, decibels: Double) throws {
        let original = Signals.sine(frequency, sampleRate: 16_000, count: 4_000)
        #expect(Signals.signalToNoise(original, try decode(encode(original)), maximumDelay: 24).decibels >= decibels)
    }

    @Test func `speech comes back 22 samples late, the delay of the two mirror filters`() throws {
        let original = Signals.speech(seed: 21, seconds: 0.5, sampleRate: 16_000)
        let (ratio, delay) = Signals.signalToNoise(original, try decode(encode(original)), maximumDelay: 24)
        #expect(delay == 22 && ratio > 20)
    }

    @Test func `odd input and small buffers are refused`() {
        var encoder = G722Encoder(), decoder = G722Decoder()
        #expect(throws: CodecError.unsupported) {
            var bytes = [UInt8](repeating: 0, count: 8), room = bytes.mutableSpan
            _ = try encoder.encode([Int16](repeating: 0, count: 3).span, into: &room)
        }
        #expect(throws: CodecError.bufferTooSmall) {
            var samples = [Int16](repeating: 0, count: 3), room = samples.mutableSpan
            _ = try decoder.decode([UInt8](repeating: 0, count: 2).span, into: &room)
        }
    }
}
