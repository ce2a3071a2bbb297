/// G.722 at 64 kbit/s (mode 1): 16 kHz samples, one byte for two of them, the high band in its upper two bits.
public struct G722Encoder: Sendable {
    private var low = G722Band(low: true), high = G722Band(low: false)
    private var mirror = QuadratureMirror()

    /// An encoder at rest; G.722 knows no packets and goes on over all that comes.
    public init() {}

    /// Encodes an even number of samples into half as many bytes.
    ///
    /// - Returns: bytes written.
    /// - Throws: `.unsupported` for an odd number, `.bufferTooSmall`; the state is then as before.
    public mutating func encode(_ samples: Span<Int16>, into bytes: inout MutableSpan<UInt8>) throws(CodecError) -> Int {
        let count = samples.count / 2
        guard samples.count == 2 * count else { throw .unsupported }
        guard bytes.count >= count else { throw .bufferTooSmall }
        for index in 0..<count {
            let (first, second) = mirror.filter(Int32(samples[2 * index]), Int32(samples[2 * index + 1]))
            bytes[index] = encodeHigh((second - first) >> 14) << 6 | encodeLow((second + first) >> 14)
        }
        return count
    }

    /// QUANTL: 6 bits, of which the predictor sees the upper four, so that a network may steal the others.
    private mutating func encodeLow(_ sample: Int32) -> UInt8 {
        let error = saturate(sample - low.prediction)
        let magnitude = error < 0 ? ~error : error
        var level = 0
        while level < 29, magnitude >= (G722Tables.decisionLevels[level] * low.step) >> 12 { level += 1 }
        // Codes fall as levels rise: 61…32 above zero; 63, 62, then 31…4 below.
        let code = error >= 0 ? 61 - level : level < 2 ? 63 - level : 33 - level
        low.adaptLow(upperBits: code >> 2)
        return UInt8(code)
    }

    /// QUANTH: 2 bits.
    private mutating func encodeHigh(_ sample: Int32) -> UInt8 {
        let error = saturate(sample - high.prediction)
        let isLarge = (error < 0 ? ~error : error) >= (564 * high.step) >> 12
        let code = (error < 0 ? 0 : 2) + (isLarge ? 0 : 1)
        high.adaptHigh(code: code)
        return UInt8(code)
    }
}

/// The other direction; accepts any bytes.
public struct G722Decoder: Sendable {
    private var low = G722Band(low: true), high = G722Band(low: false)
    private var mirror = QuadratureMirror()

    /// A decoder at rest.
    public init() {}

    /// Decodes bytes into twice as many samples.
    ///
    /// - Returns: samples written.
    /// - Throws: `.bufferTooSmall`; the state is then as before.
    public mutating func decode(_ bytes: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard samples.count / 2 >= bytes.count else { throw .bufferTooSmall }
        for index in 0..<bytes.count {
            let lowSample = decodeLow(Int(bytes[index] & 0x3F)), highSample = decodeHigh(Int(bytes[index] >> 6))
            let (first, second) = mirror.filter(lowSample + highSample, lowSample - highSample)
            samples[2 * index] = Int16(saturate(second >> 11))
            samples[2 * index + 1] = Int16(saturate(first >> 11))
        }
        return 2 * bytes.count
    }

    private mutating func decodeLow(_ code: Int) -> Int32 {
        let sample = low.prediction + (low.step * G722Tables.lowOutputs6[code]) >> 15
        low.adaptLow(upperBits: code >> 2)
        return min(max(sample, -16_384), 16_383)
    }

    private mutating func decodeHigh(_ code: Int) -> Int32 {
        let sample = high.prediction + (high.step * G722Tables.highOutputs[code]) >> 15
        high.adaptHigh(code: code)
        return min(max(sample, -16_384), 16_383)
    }
}

extension G722Band {
    /// INVQAL and all that follows from it, from the upper four bits of a code.
    mutating func adaptLow(upperBits: Int) {
        adapt(difference: (step * G722Tables.lowOutputs4[upperBits]) >> 15, multiplier: G722Tables.lowMultipliers[upperBits])
    }

    mutating func adaptHigh(code: Int) {
        adapt(difference: (step * G722Tables.highOutputs[code]) >> 15, multiplier: G722Tables.highMultipliers[code])
    }
}

/// The 24-tap quadrature mirror filter, for analysis and for synthesis: takes two samples, gives its two polyphase sums.
struct QuadratureMirror {
    /// Twelve samples of each phase, written twice, so that the last twelve are always in one piece.
    private var firsts: InlineArray<24, Int32> = .init(repeating: 0)
    private var seconds: InlineArray<24, Int32> = .init(repeating: 0)
    private var position = 0

    mutating func filter(_ first: Int32, _ second: Int32) -> (first: Int32, second: Int32) {
        firsts[position] = first
        firsts[position + 12] = first
        seconds[position] = second
        seconds[position + 12] = second
        position = position == 11 ? 0 : position + 1
        var sums: (Int32, Int32) = (0, 0)
        for tap in 0..<12 {
            sums.0 += firsts[position + tap] * G722Tables.taps[tap]
            sums.1 += seconds[position + tap] * G722Tables.taps[11 - tap]
        }
        return sums
    }
}
