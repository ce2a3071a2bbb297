/// Makes a WAV file piece by piece: 16-bit PCM, mono or stereo. Bytes out, no file: the caller writes them.
///
/// Write `header`, then what `append` gives, and at the end (or now and then) `patches` over the header. A file whose writer was killed is
/// still readable: until it is patched, its sizes say "to the end of the file".
public struct WAVWriter: Sendable {
    /// Four bytes of the header that changed.
    public struct Patch: Hashable, Sendable {
        /// From the start of the file.
        public let offset: Int
        /// The bytes that stand there once the file is whole.
        public let bytes: [UInt8]
    }

    /// Hz.
    public let sampleRate: Int
    /// 1 or 2.
    public let channels: Int
    /// Per channel.
    public private(set) var sampleCount = 0

    /// The most that the format's 32-bit sizes can count, per channel: 37 hours at 8 kHz mono.
    public var sampleLimit: Int { (0xFFFF_FFFE - 44) / (2 * channels) }

    /// - Precondition: 1 to 192,000 Hz, 1 or 2 channels.
    public init(sampleRate: Int, channels: Int = 1) {
        precondition((1...192_000).contains(sampleRate) && (1...2).contains(channels), "a WAV of 1 or 2 channels")
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The first 44 bytes of the file.
    public var header: [UInt8] {
        Array("RIFF".utf8) + word(.max) + Array("WAVEfmt ".utf8) + word(16) + half(1) + half(channels) + word(UInt32(sampleRate))
            + word(UInt32(sampleRate * channels * 2)) + half(channels * 2) + half(16) + Array("data".utf8) + word(.max)
    }

    /// The header's sizes for what was appended until now.
    public var patches: [Patch] {
        let data = sampleCount * channels * 2
        return [Patch(offset: 4, bytes: word(UInt32(36 + data))), Patch(offset: 40, bytes: word(UInt32(data)))]
    }

    /// Adds the bytes of `samples` (stereo: interleaved) to `bytes`; what is beyond `sampleLimit` is left out.
    public mutating func append(_ samples: Span<Int16>, to bytes: inout [UInt8]) {
        let count = min(samples.count / channels, sampleLimit - sampleCount)
        for index in 0..<count * channels {
            let value = UInt16(bitPattern: samples[index])
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(value >> 8))
        }
        sampleCount += count
    }
}

private func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
private func half(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)] }
