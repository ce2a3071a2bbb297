/// Turns a leg's outgoing PCM into payloads: the codec, and a resampler where the codec cannot run at the rate of the PCM.
///
/// Mono. Holds all its memory from `init` on (Opus 44 kB); encoding allocates nothing. Belongs to one lane.
public final class FrameEncoder {
    /// The codec of the payloads.
    public let codec: AudioCodec
    /// The sample rate of the PCM that goes in, in Hz.
    public let sampleRate: Int
    /// The length of a frame: 10 to 120.
    public let milliseconds: Int
    /// In one frame of that PCM.
    public let samplesPerFrame: Int
    /// No frame's payload is longer, in bytes.
    public let largestPayload: Int
    /// RTP timestamp units in one frame.
    public var timestampStep: UInt32 { codec.timestampStep(milliseconds: milliseconds) }

    private var opus: OpusEncoder?
    private var g722 = G722Encoder()
    private var resampler: Resampler?
    private var resampled: [Int16]

    /// - Throws: `.unsupported` for a rate that is not 8,000, 16,000, 24,000 or 48,000 Hz or a length that is none of `lengths(of:)` nor 20
    ///   ms,
    ///   `.library` when libopus has no memory.
    public init(
        _ codec: AudioCodec, sampleRate: Int, milliseconds: Int = frameMilliseconds, opus settings: OpusSettings = OpusSettings()
    ) throws(CodecError) {
        guard [8_000, 16_000, 24_000, 48_000].contains(sampleRate),
            Self.lengths(of: codec).contains(milliseconds) || milliseconds == frameMilliseconds
        else { throw .unsupported }
        self.milliseconds = milliseconds
        self.codec = codec
        self.sampleRate = sampleRate
        samplesPerFrame = sampleRate / 1_000 * milliseconds
        largestPayload =
            codec == .opus ? OpusEncoder.largestPacket : Int(codec.timestampStep(milliseconds: milliseconds)) * codec.bytesPerTick
        opus = codec == .opus ? try OpusEncoder(sampleRate: sampleRate, settings: settings) : nil
        resampler = codec.runsNatively(at: sampleRate) ? nil : try Resampler(from: sampleRate, to: codec.nativeSampleRate)
        resampled = resampler == nil ? [] : Array(repeating: 0, count: codec.nativeSampleRate * milliseconds / 1_000)
    }

    /// The lengths of a frame that a codec can have, in milliseconds: tens up to 120 of which the payload fits an Ethernet packet whole.
    public static func lengths(of codec: AudioCodec) -> [Int] {
        if codec == .opus { return [10, 20, 40, 60, 80, 100, 120] }
        return stride(from: 10, through: 120, by: 10).filter {
            Int(codec.timestampStep(milliseconds: $0)) * codec.bytesPerTick <= wholePayload
        }
    }

    /// Bytes that fit a packet beside the headers, also of IPv6 and SRTP.
    private static let wholePayload = 1_280

    /// No payload of 20 ms or of `lengths(of:)` is longer, whatever the codec.
    public static let largestPayload = 1_920

    /// Encodes exactly `samplesPerFrame` samples.
    ///
    /// - Returns: the payload's length in bytes.
    /// - Throws: `.unsupported` for another number of samples, `.bufferTooSmall`.
    public func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(CodecError) -> Int {
        guard samples.count == samplesPerFrame else { throw .unsupported }
        guard resampler != nil else { return try encodeNative(samples, into: &payload) }
        var scratch: [Int16] = []
        swap(&scratch, &resampled)   // out of the object while its span is in use
        defer { swap(&scratch, &resampled) }
        var room = scratch.mutableSpan
        let count = try resampler!.process(samples, into: &room)
        return try encodeNative(scratch.span.extracting(0..<count), into: &payload)
    }

    /// So much of what is sent is lost on its way, in percent: Opus then guards against it at the cost of quality (in-band FEC).
    public func expect(lossPercent: Int) {
        if codec == .opus { opus!.expect(lossPercent: Int32(clamping: lossPercent)) }
    }

    private func encodeNative(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(CodecError) -> Int {
        switch codec {
        case .opus: return try opus!.encode(samples, into: &payload)
        case .g722: return try g722.encode(samples, into: &payload)
        case .pcmu, .pcma:
            guard payload.count >= samples.count else { throw .bufferTooSmall }
            if codec == .pcmu {
                for index in 0..<samples.count { payload[index] = G711.encodeMu(samples[index]) }
            } else {
                for index in 0..<samples.count { payload[index] = G711.encodeA(samples[index]) }
            }
            return samples.count
        case .linear8, .linear16, .linear44, .linear48:
            guard payload.count >= 2 * samples.count else { throw .bufferTooSmall }
            L16.encode(samples, into: &payload)
            return 2 * samples.count
        }
    }
}
