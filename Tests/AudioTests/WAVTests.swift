import Audio
import Testing

@Suite struct WAVTests {
    private func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    private func half(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }

    private func format(tag: UInt16 = 1, channels: UInt16 = 1, rate: UInt32 = 8_000, bits: UInt16 = 16) -> [UInt8] {
        let block = channels &* (bits / 8)
        return Array("fmt ".utf8) + word(16) + half(tag) + half(channels) + word(rate) + word(rate &* UInt32(block)) + half(block)
            + half(bits)
    }

    private func file(_ format: [UInt8], _ data: [UInt8], size: UInt32? = nil) -> [UInt8] {
        let chunks = format + Array("data".utf8) + word(size ?? UInt32(data.count)) + data
        return Array("RIFF".utf8) + word(UInt32(4 + chunks.count)) + Array("WAVE".utf8) + chunks
    }

    @Test func `what was written is read back`() throws {
        let wav = WAV(sampleRate: 16_000, samples: Signals.noise(seed: 1, count: 1_001))
        #expect(try WAV(parsing: wav.serialized()) == wav)
        #expect(wav.serialized() == file(format(rate: 16_000), wav.samples.flatMap { half(UInt16(bitPattern: $0)) }))
    }

    @Test func `a recording whose writer was killed is readable to its last whole sample`() throws {
        var writer = WAVWriter(sampleRate: 8_000), bytes = writer.header
        writer.append([1, -2, 3].span, to: &bytes)
        writer.append([4].span, to: &bytes)
        #expect(try WAV(parsing: bytes) == WAV(sampleRate: 8_000, samples: [1, -2, 3, 4]))
        #expect(try WAV(parsing: Array(bytes.dropLast())).samples == [1, -2, 3])
        #expect(writer.sampleCount == 4)
        #expect(writer.patches.map(\.offset) == [4, 40] && writer.patches.map(\.bytes) == [word(44), word(8)])
    }

    @Test func `stereo is written interleaved and mixed down when read`() throws {
        var writer = WAVWriter(sampleRate: 8_000, channels: 2), bytes = writer.header
        writer.append([100, 300, -32_768, -32_768, 32_767, 32_767].span, to: &bytes)
        #expect(writer.sampleCount == 3)
        #expect(try WAV(parsing: bytes).samples == [200, -32_768, 32_767])
    }

    @Test(arguments: [
        (1 as UInt16, 8 as UInt16, [0, 128, 255] as [UInt8], [-32_768, 0, 32_512] as [Int16]),
        (7, 8, [0x80, 0xFF, 0x00], [32_124, 0, -32_124]), (6, 8, [0xAA, 0xD5, 0x2A], [32_256, 8, -32_256]),
        (1, 16, [1, 0, 0xFF, 0xFF], [1, -1]), (1, 24, [9, 1, 0, 9, 0xFF, 0xFF, 0, 0, 0x80], [1, -1, -32_768]),
        (1, 32, [9, 9, 1, 0, 9, 9, 0xFF, 0x7F], [1, 32_767]),
    ])
    func `every width of sample and both laws are read`(tag: UInt16, bits: UInt16, data: [UInt8], samples: [Int16]) throws {
        #expect(try WAV(parsing: file(format(tag: tag, bits: bits), data)).samples == samples)
    }

    @Test func `chunks that are not known are passed over, odd ones with their padding`() throws {
        let list = Array("LIST".utf8) + word(3) + [1, 2, 3, 0]
        #expect(try WAV(parsing: file(list + format() + list, [5, 0])).samples == [5])
    }

    @Test func `the extensible format is read by its first GUID bytes`() throws {
        var extensible = format(tag: 0xFFFE)
        extensible[4] = 40
        extensible += half(22) + half(16) + word(4) + half(1) + Array(repeating: 0, count: 14)
        #expect(try WAV(parsing: file(extensible, [7, 0])).samples == [7])
    }

    @Test func `files that are not audio of ours say why`() {
        let good = file(format(), [0, 0])
        let cases: [([UInt8], WAV.ParseError)] = [
            ([], .notWAV), (Array("RIFF".utf8), .notWAV), (Array("RIFX".utf8) + good.dropFirst(4), .notWAV),
            (Array(good.prefix(12)), .truncated), (Array(good.prefix(30)), .truncated), (Array(good.prefix(36)), .truncated),
            (file([], [0, 0]), .truncated), (file(format(tag: 3, bits: 32), []), .unsupportedFormat(tag: 3, bits: 32)),
            (file(format(bits: 12), []), .unsupportedFormat(tag: 1, bits: 12)), (file(format(channels: 0), []), .channels(0)),
            (file(format(channels: 6), []), .channels(6)), (file(format(rate: 0), []), .sampleRate(0)),
            (file(format(rate: .max), []), .sampleRate(.max)),
        ]
        for (bytes, error) in cases { #expect(throws: error) { _ = try WAV(parsing: bytes) } }
        #expect(throws: WAV.ParseError.tooLong) { _ = try WAV(parsing: file(format(), [0, 0, 0, 0]), limit: 1) }
    }

    @Test func `sizes that lie end at the file's end`() throws {
        for size in [3, 100, 0x7FFF_FFFF, .max] as [UInt32] {
            #expect(try WAV(parsing: file(format(), [9, 0], size: size)).samples == [9])
        }
        #expect(try WAV(parsing: file(format(), [9, 0, 8, 0], size: 2)).samples == [9])
    }

    @Test func `any byte may be wrong without a trap`() {
        let good = file(format(channels: 2), [1, 2, 3, 4, 5, 6, 7, 8])
        var read = 0, refused = 0
        for index in good.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = good
                bytes[index] = value
                for length in [bytes.count, index] {
                    do throws(WAV.ParseError) {
                        #expect(try WAV(parsing: Array(bytes.prefix(length))).samples.count <= 8)
                        read += 1
                    } catch { refused += 1 }
                }
            }
        }
        #expect(read > 50 && refused > 50)
    }

    @Test func `a recording keeps its start and its length at another rate`() throws {
        let original = WAV(sampleRate: 44_100, samples: Signals.sine(440, sampleRate: 44_100, count: 44_100))
        let other = try original.resampled(to: 16_000)
        #expect(other.samples.count == 16_000)
        let (ratio, delay) = Signals.signalToNoise(Signals.sine(440, sampleRate: 16_000, count: 16_000), other.samples, maximumDelay: 4)
        #expect(delay == 0 && ratio > 20)   // the rest is the part of a sample that the delay was rounded by
    }
}
