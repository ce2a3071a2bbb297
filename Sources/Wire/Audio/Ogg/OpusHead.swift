/// The first packet of an Ogg Opus stream (RFC 7845 §5.1), of one or two channels.
struct OpusHead {
    var streams: OpusStreams
    /// Samples at 48 kHz that are decoded and not played.
    var preSkip: Int
    /// The sample rate of the sound that was encoded, in Hz; only a note.
    var inputRate: UInt32
    /// To be applied to what is decoded: 1/256 dB.
    var gain: Int16 = 0

    init(streams: OpusStreams, preSkip: Int, inputRate: UInt32) {
        (self.streams, self.preSkip, self.inputRate) = (streams, preSkip, inputRate)
    }

    init(parsing packet: [UInt8]) throws(OggOpusError) {
        guard packet.count >= 19, packet.starts(with: Array("OpusHead".utf8)), packet[8] >> 4 == 0 else { throw .notOpus }
        guard let streams = OpusStreams(channels: packet[9], family: packet[18], packet[19...]) else {
            throw .channels(packet[9], family: packet[18])
        }
        self.streams = streams
        preSkip = Int(packet[10]) | Int(packet[11]) << 8
        inputRate = (0..<4).reduce(0) { $0 | UInt32(packet[12 + $1]) << (8 * UInt32($1)) }
        gain = Int16(bitPattern: UInt16(packet[16]) | UInt16(packet[17]) << 8)
    }

    var packet: [UInt8] {
        let skip = UInt16(clamping: preSkip), gain = UInt16(bitPattern: gain)
        return Array("OpusHead".utf8) + [1, UInt8(streams.channels), UInt8(truncatingIfNeeded: skip), UInt8(skip >> 8)]
            + (0..<4).map { UInt8(truncatingIfNeeded: inputRate >> (8 * UInt32($0))) } + [
                UInt8(truncatingIfNeeded: gain), UInt8(gain >> 8),
            ] + streams.table
    }
}

/// Why a file is no Ogg Opus that can be played.
public enum OggOpusError: Error, Hashable, Sendable {
    /// No Ogg page at all.
    case notOgg
    /// Its first stream is no Opus, or one of a later version.
    case notOpus
    /// More than two channels or none, or a mapping of another kind than those of RFC 7845 §5.1.1 for music.
    case channels(UInt8, family: UInt8)
    /// No packet of sound.
    case empty
    /// More samples than the caller allowed.
    case tooLong
    /// The decoder refused a packet, or could not be made.
    case codec(CodecError)
}
