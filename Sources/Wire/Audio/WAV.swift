/// A recording in memory, as one channel of 16-bit samples, and the WAV files that it comes from and goes to.
public struct WAV: Hashable, Sendable {
    /// Why bytes are no recording that can be read.
    public enum ParseError: Error, Hashable, Sendable {
        /// No RIFF/WAVE file.
        case notWAV
        /// It ends inside its format description, or has none before the samples.
        case truncated
        /// A format that is not read here: the format tag and the bits per sample.
        case unsupportedFormat(tag: UInt16, bits: UInt16)
        /// More than two channels or none.
        case channels(UInt16)
        /// A rate outside 4,000…192,000 Hz.
        case sampleRate(UInt32)
        /// More samples than the caller allowed.
        case tooLong
    }

    /// Hz.
    public var sampleRate: Int
    /// One channel.
    public var samples: [Int16]

    /// - Parameter sampleRate: in Hz.
    public init(sampleRate: Int, samples: [Int16]) {
        self.sampleRate = sampleRate
        self.samples = samples
    }

    /// Reads PCM of 8, 16, 24 or 32 bits, µ-law and A-law, mono or stereo (mixed down to the mean of both).
    ///
    /// Sizes that do not fit the file, as a recorder leaves them that was killed, mean "to the end"; a last sample that is cut is dropped.
    /// - Parameter limit: samples per channel that are accepted; the default is ten minutes at 48 kHz.
    public init(parsing bytes: [UInt8], limit: Int = 28_800_000) throws(ParseError) {
        var reader = ChunkReader(bytes)
        guard reader.word() == "RIFF", reader.skip(4), reader.word() == "WAVE" else { throw .notWAV }
        var format: Format?
        while let (name, body) = reader.chunk() {
            if name == "fmt " { format = try Format(body) }
            guard name == "data" else { continue }
            guard let format else { throw .truncated }
            self = try format.decode(body, limit: limit)
            return
        }
        throw .truncated
    }

    /// The same sound at another rate; itself when the rate is the same.
    ///
    /// The filter's delay is taken out, so that the recording starts where it did and has its length in seconds.
    /// - Throws: `CodecError.unsupported` for a pair of rates that `Resampler` does not have.
    public func resampled(to rate: Int) throws(CodecError) -> WAV {
        guard rate != sampleRate else { return self }
        var resampler = try Resampler(from: sampleRate, to: rate)
        let tail = [Int16](repeating: 0, count: Int(resampler.delay * Double(sampleRate)) + sampleRate / 100 + 2)
        let padded = samples + tail
        var output = [Int16](repeating: 0, count: resampler.outputCapacity(for: padded.count))
        var room = output.mutableSpan
        _ = try resampler.process(padded.span, into: &room)
        let lead = Int((resampler.delay * Double(rate)).rounded()), length = samples.count * rate / sampleRate
        return WAV(sampleRate: rate, samples: Array(output.dropFirst(lead).prefix(length)))
    }

    /// A whole file of 16-bit PCM.
    public func serialized() -> [UInt8] {
        var writer = WAVWriter(sampleRate: sampleRate), file = writer.header
        writer.append(samples.span, to: &file)
        for patch in writer.patches { file.replaceSubrange(patch.offset..<patch.offset + 4, with: patch.bytes) }
        return file
    }
}

/// The `fmt ` chunk.
private struct Format {
    let coding: Coding
    let channels: Int
    let sampleRate: Int
    enum Coding { case pcm8, pcm16, pcm24, pcm32, mu, a }

    init(_ body: ArraySlice<UInt8>) throws(WAV.ParseError) {
        guard body.count >= 16 else { throw .truncated }
        var tag = littleEndian16(body, 0)
        let bits = littleEndian16(body, 14)
        if tag == 0xFFFE, body.count >= 26 { tag = littleEndian16(body, 24) }   // WAVE_FORMAT_EXTENSIBLE: the first bytes of its GUID
        switch (tag, bits) {
        case (1, 8): coding = .pcm8
        case (1, 16): coding = .pcm16
        case (1, 24): coding = .pcm24
        case (1, 32): coding = .pcm32
        case (7, 8): coding = .mu
        case (6, 8): coding = .a
        default: throw .unsupportedFormat(tag: tag, bits: bits)
        }
        let channels = littleEndian16(body, 2)
        guard channels == 1 || channels == 2 else { throw .channels(channels) }
        let rate = UInt32(littleEndian16(body, 4)) | UInt32(littleEndian16(body, 6)) << 16
        guard (4_000...192_000).contains(rate) else { throw .sampleRate(rate) }
        (self.channels, sampleRate) = (Int(channels), Int(rate))
    }

    func decode(_ body: ArraySlice<UInt8>, limit: Int) throws(WAV.ParseError) -> WAV {
        let count = body.count / (width * channels)
        guard count <= limit else { throw .tooLong }
        var samples = [Int16](repeating: 0, count: count)
        for index in 0..<count {
            let first = sample(body, index * channels * width)
            let second = channels == 1 ? first : sample(body, index * channels * width + width)
            samples[index] = Int16((Int(first) + Int(second)) >> 1)
        }
        return WAV(sampleRate: sampleRate, samples: samples)
    }

    /// Bytes of a sample.
    private var width: Int {
        switch coding {
        case .pcm8, .mu, .a: 1
        case .pcm16: 2
        case .pcm24: 3
        case .pcm32: 4
        }
    }

    /// The sample at an offset; of longer samples the upper 16 bits.
    private func sample(_ body: ArraySlice<UInt8>, _ offset: Int) -> Int16 {
        let byte = body[body.startIndex + offset]
        switch coding {
        case .pcm16, .pcm24, .pcm32: return Int16(bitPattern: littleEndian16(body, offset + width - 2))
        case .pcm8: return (Int16(byte) - 128) << 8
        case .mu: return G711.decodeMu(byte)
        case .a: return G711.decodeA(byte)
        }
    }
}

/// Walks the chunks of a RIFF file and never leaves it.
private struct ChunkReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func word() -> String? {
        guard bytes.count - offset >= 4 else { return nil }
        defer { offset += 4 }
        return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    mutating func skip(_ count: Int) -> Bool {
        guard bytes.count - offset >= count else { return false }
        offset += count
        return true
    }

    /// The next chunk, cut at the end of the file; nil when there is none.
    mutating func chunk() -> (name: String, body: ArraySlice<UInt8>)? {
        guard bytes.count - offset >= 8, let name = word() else { return nil }
        let size = Int(littleEndian16(bytes[...], offset)) | Int(littleEndian16(bytes[...], offset + 2)) << 16
        offset += 4
        let end = min(offset + size, bytes.count)
        defer { offset = min(end + size % 2, bytes.count) }   // chunks start at even offsets
        return (name, bytes[offset..<end])
    }
}

private func littleEndian16(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt16 {
    UInt16(bytes[bytes.startIndex + offset]) | UInt16(bytes[bytes.startIndex + offset + 1]) << 8
}
