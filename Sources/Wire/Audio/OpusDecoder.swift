import COpus

/// One libopus decoder. Allocates at `init` and never after; accepts whatever a peer sends.
public struct OpusDecoder: ~Copyable {
    /// 120 ms at 48 kHz: no packet decodes to more samples per channel.
    public static let longestPacket = 5_760

    /// The sample rate of the PCM that comes out, in Hz: 8,000, 12,000, 16,000, 24,000 or 48,000.
    public let sampleRate: Int
    /// 1 or 2, whatever the packets hold.
    public let channels: Int
    private let state: OpaquePointer

    /// - Throws: `.unsupported` for a rate or channel count that Opus does not have, `.library` otherwise.
    public init(sampleRate: Int, channels: Int = 1) throws(CodecError) {
        guard AudioCodec.opus.runsNatively(at: sampleRate), channels == 1 || channels == 2 else { throw .unsupported }
        var code: Int32 = 0
        guard let state = opus_decoder_create(Int32(sampleRate), Int32(channels), &code), code == OPUS_OK else { throw .library(code) }
        self.sampleRate = sampleRate
        self.channels = channels
        self.state = state
    }

    deinit { opus_decoder_destroy(state) }

    /// Decodes one packet.
    ///
    /// - Returns: samples per channel.
    /// - Throws: `.malformed` for what is not Opus, `.bufferTooSmall` when `samples` cannot hold it.
    public mutating func decode(_ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard !packet.isEmpty, packet.count <= Int(Int32.max) else { throw .malformed }
        let state = state, room = Int32(clamping: samples.count / channels)
        guard room > 0 else { throw .bufferTooSmall }
        let result = packet.withUnsafeBufferPointer { packet in
            samples.withUnsafeMutableBufferPointer {
                opus_decode(state, packet.baseAddress!, Int32(packet.count), $0.baseAddress!, room, 0)
            }
        }
        return try Self.count(result)
    }

    /// Fills the place of a lost packet of `length` samples per channel from what was heard before it.
    ///
    /// - Returns: `length`.
    /// - Throws: `.unsupported` when the length is no multiple of 2.5 ms or above 120 ms, `.bufferTooSmall`.
    public mutating func conceal(_ length: Int, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        try checkGap(length, room: samples.count)
        let state = state
        return try Self.count(samples.withUnsafeMutableBufferPointer { opus_decode(state, nil, 0, $0.baseAddress!, Int32(length), 0) })
    }

    /// Fills the place of a lost packet of `length` samples per channel from the copy in the packet after it, or conceals when that carries
    /// none.
    ///
    /// `next` is still to be decoded in its own right.
    public mutating func recover(_ length: Int, from next: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard !next.isEmpty, next.count <= Int(Int32.max) else { throw .malformed }
        try checkGap(length, room: samples.count)
        let state = state
        let result = next.withUnsafeBufferPointer { next in
            samples.withUnsafeMutableBufferPointer {
                opus_decode(state, next.baseAddress!, Int32(next.count), $0.baseAddress!, Int32(length), 1)
            }
        }
        return try Self.count(result)
    }

    /// The length of a packet's sound, in samples at 48 kHz; nil for what is not Opus.
    public static func duration(of packet: Span<UInt8>) -> Int? {
        guard !packet.isEmpty, packet.count <= Int(Int32.max) else { return nil }
        let count = packet.withUnsafeBufferPointer { opus_packet_get_nb_samples($0.baseAddress!, Int32($0.count), 48_000) }
        return count > 0 && count <= Int32(longestPacket) ? Int(count) : nil
    }

    /// As it was after `init`.
    public mutating func reset() { _ = hs_opus_decoder_reset(state) }

    private borrowing func checkGap(_ length: Int, room: Int) throws(CodecError) {
        guard length > 0, length * 400 % sampleRate == 0, length * 1_000 <= 120 * sampleRate else { throw .unsupported }
        guard length * channels <= room else { throw .bufferTooSmall }
    }

    private static func count(_ result: Int32) throws(CodecError) -> Int {
        switch result {
        case 0...: return Int(result)
        case OPUS_BUFFER_TOO_SMALL: throw .bufferTooSmall
        case OPUS_INVALID_PACKET: throw .malformed
        default: throw .library(result)
        }
    }
}
