/// The codecs that this server can encode and decode.
public enum AudioCodec: Hashable, Sendable, CaseIterable {
    /// Opus (RFC 6716), G.722, and G.711 with µ-law and with A-law.
    case opus, g722, pcmu, pcma
    /// L16, uncompressed (RFC 3551 §4.5.11), at 8, 16, 44.1 and 48 kHz.
    case linear8, linear16, linear44, linear48

    /// The clock of its RTP timestamps in Hz. G.722 samples at 16 kHz and counts at 8 kHz, an old mistake that
    /// RFC 3551 §4.5.2 keeps; Opus counts at 48 kHz whatever its internal rate (RFC 7587 §4.1).
    @inlinable public var clockRate: Int { self == .g722 ? 8_000 : nativeSampleRate }

    /// The rate in Hz at which its audio has all that it can carry, and needs no resampler.
    @inlinable public var nativeSampleRate: Int {
        switch self {
        case .opus, .linear48: 48_000
        case .linear44: 44_100
        case .g722, .linear16: 16_000
        case .pcmu, .pcma, .linear8: 8_000
        }
    }

    /// The rate in Hz at which its sound is worked with between the codecs: its own, or the next above that libopus knows too.
    @inlinable public var workingSampleRate: Int { self == .linear44 ? 48_000 : nativeSampleRate }

    /// RTP timestamp units in so many milliseconds, a multiple of ten.
    @inlinable public func timestampStep(milliseconds: Int) -> UInt32 { UInt32(clockRate * milliseconds / 1_000) }

    /// The length of a payload's sound, in RTP timestamp units; nil for one that is not this codec's, or longer than 120 ms.
    public func duration(of payload: Span<UInt8>) -> Int? {
        guard !payload.isEmpty else { return nil }
        if self == .opus { return OpusDecoder.duration(of: payload) }
        let ticks = payload.count / bytesPerTick
        return payload.count.isMultiple(of: bytesPerTick) && ticks <= clockRate * 120 / 1_000 ? ticks : nil
    }

    /// Whether the codec itself can run at this rate, in Hz.
    @inlinable public func runsNatively(at sampleRate: Int) -> Bool {
        self == .opus ? [8_000, 12_000, 16_000, 24_000, 48_000].contains(sampleRate) : sampleRate == nativeSampleRate
    }

    /// L16 at any of its rates.
    @inlinable public var isLinear: Bool {
        switch self {
        case .linear8, .linear16, .linear44, .linear48: true
        case .opus, .g722, .pcmu, .pcma: false
        }
    }

    /// A payload of nothing but this is silence; nil where no single byte is.
    public var silentByte: UInt8? {
        switch self {
        case .pcmu: 0xFF
        case .pcma: 0xD5
        case .linear8, .linear16, .linear44, .linear48: 0
        case .opus, .g722: nil
        }
    }

    /// Payload of one RTP timestamp unit; of all codecs but Opus.
    var bytesPerTick: Int { isLinear ? 2 : 1 }
}

/// Why audio could not be encoded or decoded.
public enum CodecError: Error, Hashable, Sendable {
    /// No codec, resampler or packet length for such a rate (Hz), channel count or frame length (samples).
    case unsupported
    /// The codec library could not get its memory or refused a setting; the library's own code.
    case library(Int32)
    /// The payload is not what this codec sends.
    case malformed
    /// The caller's buffer cannot hold the result.
    case bufferTooSmall
}

/// 20 ms, the packet length of this server.
public let frameMilliseconds = 20
