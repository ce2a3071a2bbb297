/// Makes an Ogg Opus file (RFC 7845) piece by piece, mono or stereo. Bytes out, no file: the caller writes them.
///
/// The channels of a stereo file are streams of their own: two who speak have nothing in common, and a coupled stream would spend half its
/// rate on that.
///
/// Write `header`, then what `append` gives, and at the end what `finish` gives. Pages are whole seconds: of a file whose writer was killed
/// at most the last one is missing.
public struct OggOpusWriter: ~Copyable {
    /// The rate of the samples that it takes, in Hz.
    public let sampleRate: Int
    /// The number of streams of one channel in the file.
    public let channels: Int
    private var encoder: OpusStreamsEncoder
    private let head: OpusHead
    private var page: OggPage
    private var packets: (lacing: [UInt8], body: [UInt8]) = ([], [])
    /// Interleaved samples of a frame that is not full yet.
    private var rest: [Int16] = []
    private var packet: [UInt8]
    /// Samples per channel at 48 kHz: those that were given, and those of all packets.
    private var given: Int64 = 0, coded: Int64 = 0

    private static let framesPerPage = 50

    /// - Parameters:
    ///   - sampleRate: 8,000, 12,000, 16,000, 24,000 or 48,000 Hz.
    ///   - serial: any number; of several streams in one file, each has its own.
    ///   - settings: the bit rate is that of all channels together.
    public init(sampleRate: Int, channels: Int = 1, serial: UInt32, settings: OpusSettings = OpusSettings()) throws(CodecError) {
        encoder = try OpusStreamsEncoder(sampleRate: sampleRate, channels: channels, settings: settings)
        (self.sampleRate, self.channels) = (sampleRate, channels)
        head = OpusHead(
            streams: OpusStreams(separate: channels), preSkip: encoder.lookahead * 48_000 / sampleRate, inputRate: UInt32(sampleRate))
        page = OggPage(serial: serial, sequence: 2)
        packet = [UInt8](repeating: 0, count: encoder.largestPacket)
    }

    /// The first two pages: what it is, and who made it.
    public var header: [UInt8] {
        let vendor = Array("Hookswitch".utf8)
        let tags = Array("OpusTags".utf8) + [UInt8(vendor.count), 0, 0, 0] + vendor + [0, 0, 0, 0]
        return single(head.packet, sequence: 0) + single(tags, sequence: 1)
    }

    /// Takes `samples` (stereo: interleaved), and adds the pages that are full to `bytes`.
    public mutating func append(_ samples: Span<Int16>, to bytes: inout [UInt8]) throws(CodecError) {
        given += Int64(samples.count / channels * (48_000 / sampleRate))
        for index in 0..<samples.count {
            rest.append(samples[index])
            if rest.count == frameLength { try encodeFrame(to: &bytes) }
        }
    }

    /// Adds what is left, to the very sample that was given last.
    public mutating func finish(to bytes: inout [UInt8]) throws(CodecError) {
        let end = given + Int64(head.preSkip)
        while coded < end {
            rest += Array(repeating: 0, count: frameLength - rest.count)
            try encodeFrame(to: &bytes, isLast: coded + 960 >= end)
        }
        flush(granule: end, ends: true, to: &bytes)
    }

    /// 20 ms of all channels.
    private var frameLength: Int { sampleRate / 50 * channels }

    private mutating func encodeFrame(to bytes: inout [UInt8], isLast: Bool = false) throws(CodecError) {
        let count = try Self.encode(rest, by: &encoder, into: &packet)
        rest.removeAll(keepingCapacity: true)
        coded += 960
        packets.lacing += Array(repeating: 255, count: count / 255) + [UInt8(count % 255)]
        packets.body += packet[..<count]
        let isFull = coded % Int64(960 * Self.framesPerPage) == 0 || packets.lacing.count > 255 - 6
        if isFull, !isLast { flush(granule: coded, ends: false, to: &bytes) }
    }

    private static func encode(_ samples: [Int16], by encoder: inout OpusStreamsEncoder, into packet: inout [UInt8]) throws(CodecError)
        -> Int
    {
        var room = packet.mutableSpan
        return try encoder.encode(samples.span, into: &room)
    }

    private mutating func flush(granule: Int64, ends: Bool, to bytes: inout [UInt8]) {
        (page.granule, page.ends, page.lacing, page.body) = (granule, ends, packets.lacing[...], packets.body[...])
        bytes += page.serialized()
        page.sequence &+= 1
        packets = ([], [])
    }

    private func single(_ packet: [UInt8], sequence: UInt32) -> [UInt8] {
        var page = OggPage(serial: page.serial, sequence: sequence)
        (page.begins, page.granule, page.lacing, page.body) = (sequence == 0, 0, [UInt8(packet.count)], packet[...])
        return page.serialized()
    }
}
