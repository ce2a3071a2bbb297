import COpus

/// The settings of an Opus encoder.
public struct OpusSettings: Hashable, Sendable {
    /// Bits per second, 6,000…510,000.
    public var bitrate: Int32
    /// 0 (cheapest) … 10.
    public var complexity: Int32
    /// Whether packets carry a coarse copy of the frame before them, for `OpusDecoder.recover`.
    public var forwardErrorCorrection: Bool
    /// The loss that the encoder should be ready for before any is reported, 0…100 %; without some, it spends nothing on error correction.
    public var expectedLossPercent: Int32
    /// Whether silence is left out (one packet in 400 ms, RFC 7587 §3.1.3).
    public var discontinuous: Bool

    /// The purpose of the encoder. An encoder keeps the one that it was opened with.
    public var application = Application.voip
    /// Whether every packet has the same size (RFC 7587 `cbr`).
    public var constantBitrate = false
    /// The highest rate, in Hz, that the far end plays (RFC 7587 `maxplaybackrate`): no bandwidth above it is coded.
    public var maximumPlaybackRate: Int32 = 48_000

    /// The quality that the encoder is to preserve.
    public enum Application: Hashable, Sendable {
        /// Speech that is understood at a low rate.
        case voip
        /// Any sound, as like to what it was as the rate permits.
        case audio

        var code: Int32 { self == .voip ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO }
    }

    /// - Parameters:
    ///   - bitrate: bits per second.
    ///   - complexity: 0 to 10; more takes more of the processor.
    ///   - expectedLossPercent: 0 to 100; error correction takes its share of the bits by it.
    ///   - discontinuous: silence is not sent.
    public init(
        bitrate: Int32 = 24_000, complexity: Int32 = 5, forwardErrorCorrection: Bool = true, expectedLossPercent: Int32 = 0,
        discontinuous: Bool = false
    ) {
        self.bitrate = bitrate
        self.complexity = complexity
        self.forwardErrorCorrection = forwardErrorCorrection
        self.expectedLossPercent = expectedLossPercent
        self.discontinuous = discontinuous
    }
}

/// One libopus encoder (RFC 6716). Allocates at `init` and never after.
public struct OpusEncoder: ~Copyable {
    /// The largest packet that Opus may make of one frame, in bytes.
    public static let largestPacket = 1_275

    /// Hz: 8,000, 12,000, 16,000, 24,000 or 48,000.
    public let sampleRate: Int
    /// 1 or 2; stereo samples are interleaved.
    public let channels: Int
    private let state: OpaquePointer

    /// - Throws: `.unsupported` for a rate or channel count that Opus does not have, `.library` otherwise.
    public init(sampleRate: Int, channels: Int = 1, settings: OpusSettings = OpusSettings()) throws(CodecError) {
        state = try Self.open(sampleRate, channels, settings)
        self.sampleRate = sampleRate
        self.channels = channels
    }

    deinit { opus_encoder_destroy(state) }

    /// Takes effect with the next frame.
    public mutating func apply(_ settings: OpusSettings) throws(CodecError) {
        let code = Self.apply(settings, to: state)
        guard code == OPUS_OK else { throw .library(code) }
    }

    /// Encodes one frame of 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms.
    ///
    /// - Returns: the packet's length; with `discontinuous` set, 2 or less means that nothing need be sent.
    /// - Throws: `.unsupported` for another length, `.bufferTooSmall` when the packet does not fit; the state is then that after the frame.
    public mutating func encode(_ samples: Span<Int16>, into packet: inout MutableSpan<UInt8>) throws(CodecError) -> Int {
        let length = samples.count / channels
        guard length > 0, samples.count == length * channels, length * 1_000 <= 120 * sampleRate else { throw .unsupported }
        let capacity = Int32(min(packet.count, 4_000))
        guard capacity > 0 else { throw .bufferTooSmall }
        let result = samples.withUnsafeBufferPointer { samples in
            packet.withUnsafeMutableBufferPointer { opus_encode(state, samples.baseAddress!, Int32(length), $0.baseAddress!, capacity) }
        }
        switch result {
        case 0...: return Int(result)
        case OPUS_BUFFER_TOO_SMALL: throw .bufferTooSmall
        case OPUS_BAD_ARG: throw .unsupported
        default: throw .library(result)
        }
    }

    /// So much of what is sent is lost on its way, in percent: the more, the more of the bit rate goes into copies of the sound before.
    public mutating func expect(lossPercent: Int32) {
        _ = hs_opus_encoder_set(state, OPUS_SET_PACKET_LOSS_PERC_REQUEST, min(max(lossPercent, 0), 100))
    }

    /// As it was after `init`, with the settings kept.
    public mutating func reset() { _ = hs_opus_encoder_reset(state) }

    private static func open(_ sampleRate: Int, _ channels: Int, _ settings: OpusSettings) throws(CodecError) -> OpaquePointer {
        guard AudioCodec.opus.runsNatively(at: sampleRate), channels == 1 || channels == 2 else { throw .unsupported }
        var code: Int32 = 0
        guard let state = opus_encoder_create(Int32(sampleRate), Int32(channels), settings.application.code, &code) else {
            throw .library(code)
        }
        code = apply(settings, to: state)
        guard code == OPUS_OK else {
            opus_encoder_destroy(state)
            throw .library(code)
        }
        return state
    }

    private static func apply(_ settings: OpusSettings, to state: OpaquePointer) -> Int32 {
        settings.apply { hs_opus_encoder_set(state, $0, $1) }
    }
}

extension OpusSettings {
    /// - Parameter set: one of libopus's requests, and its value.
    /// - Returns: the first code that is none of success, or that.
    func apply(_ set: (Int32, Int32) -> Int32) -> Int32 {
        let requests = [
            (OPUS_SET_BITRATE_REQUEST, bitrate), (OPUS_SET_COMPLEXITY_REQUEST, complexity),
            (OPUS_SET_INBAND_FEC_REQUEST, forwardErrorCorrection ? 1 : 0),
            (OPUS_SET_PACKET_LOSS_PERC_REQUEST, expectedLossPercent), (OPUS_SET_DTX_REQUEST, discontinuous ? 1 : 0),
            (OPUS_SET_VBR_REQUEST, constantBitrate ? 0 : 1), (OPUS_SET_MAX_BANDWIDTH_REQUEST, bandwidth),
        ]
        return requests.lazy.map(set).first { $0 != OPUS_OK } ?? OPUS_OK
    }

    /// RFC 7587 §6.1.
    private var bandwidth: Int32 {
        switch maximumPlaybackRate {
        case ..<12_000: OPUS_BANDWIDTH_NARROWBAND
        case ..<16_000: OPUS_BANDWIDTH_MEDIUMBAND
        case ..<24_000: OPUS_BANDWIDTH_WIDEBAND
        case ..<48_000: OPUS_BANDWIDTH_SUPERWIDEBAND
        default: OPUS_BANDWIDTH_FULLBAND
        }
    }
}
