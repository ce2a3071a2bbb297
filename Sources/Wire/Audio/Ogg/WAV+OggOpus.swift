import Glibc

extension WAV {
    /// Reads an Ogg Opus file (RFC 7845) at 48 kHz: its first stream, of one or two channels, mixed down.
    ///
    /// Pre-skip, gain and the end that the last page names are heeded. Damaged pages and packets are passed over; any bytes may come.
    /// - Parameter limit: samples that are accepted; the default is ten minutes.
    public init(parsingOggOpus bytes: [UInt8], limit: Int = 28_800_000) throws(OggOpusError) {
        var packets = OggPackets(bytes)
        guard let first = packets.next() else { throw .notOgg }
        let head = try OpusHead(parsing: first.bytes)
        _ = packets.next()   // the comments
        var sound = try OggOpusSound(head.streams, limit: limit + head.preSkip)
        var frame = [Int16](repeating: 0, count: OpusDecoder.longestPacket * head.streams.channels)
        while let packet = packets.next() { try sound.append(packet, using: &frame) }
        guard !sound.samples.isEmpty else { throw .empty }
        self.init(sampleRate: 48_000, samples: sound.played(head))
    }
}

/// The sound that the packets of a stream decode to.
private struct OggOpusSound: ~Copyable {
    private(set) var samples: [Int16] = []
    private var decoder: OpusStreamsDecoder
    private let limit: Int
    /// The position at which the stream began before its first sample (a recording of a broadcast is cut out of it), and the one at which
    /// it ends.
    private var origin: Int64?, end: Int64?

    init(_ streams: OpusStreams, limit: Int) throws(OggOpusError) {
        self.limit = limit
        do throws(CodecError) { decoder = try OpusStreamsDecoder(streams, sampleRate: 48_000) } catch { throw .codec(error) }
    }

    /// Decodes one packet into `frame`, which holds the longest. One that cannot be decoded is left out.
    mutating func append(_ packet: OggPackets.Packet, using frame: inout [Int16]) throws(OggOpusError) {
        var room = frame.mutableSpan
        if let count = try? decoder.decode(packet.bytes.span, into: &room) {
            guard samples.count + count <= limit else { throw .tooLong }
            mixDown(frame, count)
        }
        guard let granule = packet.granule, granule >= 0 else { return }
        if origin == nil { origin = packet.ends ? 0 : max(0, granule - Int64(samples.count)) }
        if packet.ends { end = granule - (origin ?? 0) }
    }

    private mutating func mixDown(_ frame: [Int16], _ count: Int) {
        guard decoder.channels == 2 else { return samples.append(contentsOf: frame[..<count]) }
        for index in 0..<count { samples.append(Int16((Int(frame[2 * index]) + Int(frame[2 * index + 1])) / 2)) }
    }

    /// The samples that are to be heard (§4.2 to §4.4, §5.1).
    consuming func played(_ head: OpusHead) -> [Int16] {
        let count = end.map { Int(max(0, min($0, Int64(samples.count)))) } ?? samples.count
        var heard = Array(samples[..<count].dropFirst(head.preSkip))
        guard head.gain != 0 else { return heard }
        let factor = pow(10, Double(head.gain) / (20 * 256))
        for index in heard.indices { heard[index] = Int16(max(-32_768, min(32_767, (Double(heard[index]) * factor).rounded()))) }
        return heard
    }
}
