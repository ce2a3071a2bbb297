/// Turns a leg's incoming payloads into PCM: the codec, concealment of losses, and a resampler where the codec cannot run at the wanted
/// rate.
///
/// Mono. Holds all its memory from `init` on (Opus 18 kB); decoding allocates nothing and never traps on what a peer sends. Belongs to one
/// lane.
public final class FrameDecoder {
    /// The codec of the payloads.
    public let codec: AudioCodec
    /// The sample rate of the PCM that comes out, in Hz.
    public let sampleRate: Int
    /// In 20 ms of that PCM.
    public let samplesPerFrame: Int
    /// 120 ms: no payload that is accepted gives more samples, so an output buffer of this size always does.
    public let largestOutput: Int
    /// RTP timestamp units in 20 ms.
    public var timestampStep: UInt32 { codec.timestampStep(milliseconds: frameMilliseconds) }

    private var opus: OpusDecoder?
    private var g722 = G722Decoder()
    private var resampler: Resampler?
    /// 120 ms at the codec's rate, before the resampler.
    private var native: [Int16]
    private var concealment: Concealment?

    /// - Throws: `.unsupported` for a rate that is not 8,000, 16,000, 24,000 or 48,000 Hz, `.library` when libopus has no memory.
    public init(_ codec: AudioCodec, sampleRate: Int) throws(CodecError) {
        guard [8_000, 16_000, 24_000, 48_000].contains(sampleRate) else { throw .unsupported }
        self.codec = codec
        self.sampleRate = sampleRate
        samplesPerFrame = sampleRate / 1_000 * frameMilliseconds
        largestOutput = samplesPerFrame * 6
        opus = codec == .opus ? try OpusDecoder(sampleRate: sampleRate) : nil
        resampler = codec.runsNatively(at: sampleRate) ? nil : try Resampler(from: codec.nativeSampleRate, to: sampleRate)
        native = resampler == nil ? [] : Array(repeating: 0, count: codec.nativeSampleRate * 6 * frameMilliseconds / 1_000)
        concealment = codec == .opus ? nil : Concealment(sampleRate: codec.nativeSampleRate)
    }

    /// Decodes one payload of up to 120 ms, whatever packet length the peer chose.
    ///
    /// - Returns: samples written.
    /// - Throws: `.malformed` for an empty payload or one that is not this codec's, `.bufferTooSmall`.
    public func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        try throughResampler(into: &samples) { (decoder, room) throws(CodecError) in try decoder.decodeNative(payload, into: &room) }
    }

    /// Samples in the place of a lost packet, 20 ms where no count is given: Opus's own concealment, or for the G codecs the last period of
    /// the voice again, fading out over 60 ms.
    ///
    /// - Parameter count: samples of the PCM that comes out, at most 120 ms; Opus rounds down to whole 2.5 ms.
    /// - Returns: samples written, which a resampler may make one more or less.
    public func conceal(_ count: Int? = nil, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        let wanted = min(count ?? samplesPerFrame, largestOutput)
        return try throughResampler(into: &samples) { (decoder, room) throws(CodecError) in try decoder.concealNative(wanted, into: &room) }
    }

    /// Samples in the place of a lost packet, out of the packet after it where that carries a copy (Opus FEC), else by concealment.
    public func recover(_ count: Int? = nil, from next: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard codec == .opus else { return try conceal(count, into: &samples) }
        return try opus!.recover(wholeSteps(count ?? samplesPerFrame), from: next, into: &samples)
    }

    /// Samples in whole 2.5 ms, as Opus wants them.
    private func wholeSteps(_ count: Int) -> Int {
        let step = sampleRate / 400
        return max(step, min(count, largestOutput) / step * step)
    }

    private func throughResampler(
        into samples: inout MutableSpan<Int16>, _ body: (FrameDecoder, inout MutableSpan<Int16>) throws(CodecError) -> Int
    ) throws(CodecError) -> Int {
        guard resampler != nil else { return try body(self, &samples) }
        var scratch: [Int16] = []
        swap(&scratch, &native)
        defer { swap(&scratch, &native) }
        var room = scratch.mutableSpan
        let count = try body(self, &room)
        return try resampler!.process(scratch.span.extracting(0..<count), into: &samples)
    }

    private func decodeNative(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard !payload.isEmpty else { throw .malformed }
        if codec == .opus { return try opus!.decode(payload, into: &samples) }
        guard let ticks = codec.duration(of: payload) else { throw .malformed }
        let count = codec == .g722 ? 2 * ticks : ticks
        guard samples.count >= count else { throw .bufferTooSmall }
        switch codec {
        case .opus: break
        case .g722: _ = try g722.decode(payload, into: &samples)
        case .pcmu: for index in 0..<count { samples[index] = G711.decodeMu(payload[index]) }
        case .pcma: for index in 0..<count { samples[index] = G711.decodeA(payload[index]) }
        case .linear8, .linear16, .linear44, .linear48: L16.decode(payload, count: count, into: &samples)
        }
        concealment?.remember(&samples, count: count)
        return count
    }

    private func concealNative(_ count: Int, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        if codec == .opus { return try opus!.conceal(wholeSteps(count), into: &samples) }
        let native = max(0, count) * codec.nativeSampleRate / sampleRate
        try concealment?.fill(&samples, count: native)
        return native
    }
}
