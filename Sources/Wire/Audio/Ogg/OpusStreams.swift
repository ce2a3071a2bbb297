import COpus

/// The layout of one or two channels in the Opus streams of a packet (RFC 7845 §5.1.1).
struct OpusStreams: Hashable, Sendable {
    /// 1 or 2.
    let channels: Int
    /// The number of streams, and of those among them, the first, that are stereo.
    private let count: UInt8, coupled: UInt8
    /// The decoded channel of each, or 255 for silence.
    private let mapping: [UInt8]

    /// A mono stream for each channel.
    init(separate channels: Int) { (self.channels, count, coupled, mapping) = (channels, UInt8(channels), 0, Array(0..<UInt8(channels))) }

    /// Nil for what is none, or no music of one or two channels.
    init?(channels: UInt8, family: UInt8, _ table: ArraySlice<UInt8>) {
        guard 1...2 ~= channels, family <= 1 else { return nil }
        self.channels = Int(channels)
        guard family == 1 else {
            (count, coupled, mapping) = (1, channels - 1, Array(0..<channels))
            return
        }
        let table = Array(table)
        guard table.count >= 2 + Int(channels), table[0] > 0, table[1] <= table[0], Int(table[0]) + Int(table[1]) <= 255 else { return nil }
        (count, coupled, mapping) = (table[0], table[1], Array(table[2..<(2 + Int(channels))]))
        guard mapping.allSatisfy({ $0 == 255 || $0 < count + coupled }) else { return nil }
    }

    /// The end of an `OpusHead`: the mapping family, and what belongs to it.
    var table: [UInt8] {
        count == 1 && Int(coupled) == channels - 1 && mapping == Array(0..<UInt8(channels)) ? [0] : [1, count, coupled] + mapping
    }

    fileprivate func makeEncoder(_ sampleRate: Int, _ application: OpusSettings.Application) throws(CodecError) -> OpaquePointer {
        guard AudioCodec.opus.runsNatively(at: sampleRate) else { throw .unsupported }
        var code: Int32 = 0
        let state = opus_multistream_encoder_create(
            Int32(sampleRate), Int32(channels), Int32(count), Int32(coupled), mapping, application.code, &code)
        guard let state, code == OPUS_OK else { throw .library(code) }
        return state
    }

    fileprivate func makeDecoder(_ sampleRate: Int) throws(CodecError) -> OpaquePointer {
        guard AudioCodec.opus.runsNatively(at: sampleRate) else { throw .unsupported }
        var code: Int32 = 0
        let state = opus_multistream_decoder_create(Int32(sampleRate), Int32(channels), Int32(count), Int32(coupled), mapping, &code)
        guard let state, code == OPUS_OK else { throw .library(code) }
        return state
    }
}

/// An encoder with a mono stream for each of one or two channels, all in one packet.
struct OpusStreamsEncoder: ~Copyable {
    let channels: Int
    private let state: OpaquePointer

    /// Bytes: each stream but the last also tells its length.
    var largestPacket: Int { channels * (OpusEncoder.largestPacket + 2) }

    /// - Throws: `.unsupported` for a rate that Opus does not have, `.library` otherwise.
    init(sampleRate: Int, channels: Int, settings: OpusSettings) throws(CodecError) {
        let state = try OpusStreams(separate: channels).makeEncoder(sampleRate, settings.application)
        let code = settings.apply { hs_opus_multistream_encoder_set(state, $0, $1) }
        guard code == OPUS_OK else {
            opus_multistream_encoder_destroy(state)
            throw .library(code)
        }
        (self.state, self.channels) = (state, channels)
    }

    deinit { opus_multistream_encoder_destroy(state) }

    /// Encodes interleaved samples of a frame.
    /// - Returns: the packet's length.
    /// - Precondition: a length that Opus has, and room for `largestPacket`.
    mutating func encode(_ samples: Span<Int16>, into packet: inout MutableSpan<UInt8>) throws(CodecError) -> Int {
        let state = state, length = Int32(samples.count / channels), capacity = Int32(packet.count)
        let result = samples.withUnsafeBufferPointer { samples in
            packet.withUnsafeMutableBufferPointer {
                opus_multistream_encode(state, samples.baseAddress!, length, $0.baseAddress!, capacity)
            }
        }
        guard result > 0 else { throw .library(result) }
        return Int(result)
    }

    /// Samples per channel by which what is decoded is late (RFC 7845 §4.2: pre-skip).
    var lookahead: Int {
        var value: Int32 = 0
        return hs_opus_multistream_encoder_get(state, OPUS_GET_LOOKAHEAD_REQUEST, &value) == OPUS_OK ? Int(value) : 0
    }
}

/// A decoder of the channels of a file. Accepts whatever bytes come.
struct OpusStreamsDecoder: ~Copyable {
    let channels: Int
    private let state: OpaquePointer

    /// - Throws: `.unsupported` for a rate that Opus does not have, `.library` otherwise.
    init(_ streams: OpusStreams, sampleRate: Int) throws(CodecError) {
        state = try streams.makeDecoder(sampleRate)
        channels = streams.channels
    }

    deinit { opus_multistream_decoder_destroy(state) }

    /// Decodes one packet to interleaved samples.
    /// - Returns: samples per channel.
    mutating func decode(_ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard !packet.isEmpty, packet.count <= Int(Int32.max) else { throw .malformed }
        let state = state, room = Int32(clamping: samples.count / channels)
        let result = packet.withUnsafeBufferPointer { packet in
            samples.withUnsafeMutableBufferPointer {
                opus_multistream_decode(state, packet.baseAddress!, Int32(packet.count), $0.baseAddress!, room, 0)
            }
        }
        guard result >= 0 else { throw .malformed }
        return Int(result)
    }
}
