import Audio
import Primitives
import RTP
import SDP

/// Turns what one leg of a bridge hears into the codec of the other. Holds all its memory from `init` on. Belongs to the leg that sends.
final class Transcoder {
    /// The formats that it was made for: one that is equal need not be made anew.
    struct Format: Hashable {
        /// The codecs that may come and cannot be passed on.
        var incoming: [AudioCodec]
        var outgoing: AudioCodec
        /// Hz, of the PCM between them: what the poorer side can carry.
        var sampleRate: Int
        /// The length of a packet that leaves.
        var milliseconds: Int
        var opus: OpusSettings
        /// Silence is sent as comfort noise, as was agreed.
        var sendsNoise = false
    }

    /// The output for one frame.
    enum Frame {
        case payload(Int)
        /// Silence, which need not be sent (DTX).
        case silence
        /// A payload of comfort noise.
        case noise(Int)
        /// There is no sound to send.
        case nothing
    }

    let format: Format
    let receiver: AudioReceiver
    private let encoder: FrameEncoder
    private let frame: UnsafeMutableBufferPointer<Int16>
    private var silence: SilenceGate

    init(_ format: Format) throws(CodecError) {
        self.format = format
        receiver = try AudioReceiver(codecs: format.incoming, sampleRate: format.sampleRate, longest: format.milliseconds)
        encoder = try FrameEncoder(format.outgoing, sampleRate: format.sampleRate, milliseconds: format.milliseconds, opus: format.opus)
        frame = .allocate(capacity: encoder.samplesPerFrame)
        frame.initialize(repeating: 0)
        silence = SilenceGate(frameMilliseconds: format.milliseconds)
    }

    deinit { frame.deallocate() }

    /// RTP timestamp units in one frame that leaves.
    var timestampStep: UInt32 { encoder.timestampStep }
    var milliseconds: Int { encoder.milliseconds }

    func expect(lossPercent: Int) { encoder.expect(lossPercent: lossPercent) }

    /// The next frame goes by unheard.
    func skip(at now: Instant) { _ = receiver.read(frame, at: now) }

    /// Writes the next frame.
    func next(into payload: UnsafeMutableRawBufferPointer, at now: Instant) -> Frame {
        guard receiver.read(frame, at: now) else { return .nothing }
        var room = payload.bindMemory(to: UInt8.self).mutableSpan
        if format.sendsNoise {
            switch silence.judge(frame.span) {
            case .sound: break
            case .silence: return .silence
            case .noise(let noise):
                room[0] = noise.payload
                return .noise(1)
            }
        }
        guard let count = try? encoder.encode(frame.span, into: &room) else { return .nothing }
        return format.outgoing == .opus && format.opus.discontinuous && count <= 2 ? .silence : .payload(count)
    }
}

extension Transcoder.Format {
    /// The format that lets everything that may come on `from` leave on `to`; nil where none is needed, or where it cannot be done.
    init?(from: NegotiatedAudio, to: NegotiatedAudio, opus: OpusSettings) {
        let passed = from.payloadTypes(towards: to)
        incoming = []
        for codec in from.codecs where codec.receivePayloadType < 128 && passed[codec.receivePayloadType] == nil {
            if let known = AudioCodec(codec.codec), !incoming.contains(known) { incoming.append(known) }
        }
        guard let richest = incoming.map(\.workingSampleRate).max(), let outgoing = AudioCodec(to.primary.codec) else { return nil }
        self.outgoing = outgoing
        let wishes = OpusParameters(to.primary.codec.fmtp)
        sampleRate = min(richest, outgoing == .opus ? Self.rate(playing: wishes.maximumPlaybackRate) : outgoing.workingSampleRate)
        milliseconds = to.frameLength(of: outgoing)
        self.opus = outgoing == .opus ? opus.honouring(wishes) : opus
        sendsNoise = to.comfortNoise(for: to.primary.codec).map { $0.sendPayloadType < 128 } ?? false
    }

    /// The rate to work at for a far end that plays no more than that.
    private static func rate(playing limit: Int?) -> Int { [48_000, 24_000, 16_000].first { $0 <= limit ?? 48_000 } ?? 8_000 }
}

extension NegotiatedAudio {
    /// The packet length that the far end asked for, as near as the codec comes to it.
    func frameLength(of codec: AudioCodec) -> Int { FrameEncoder.lengths(of: codec).last { $0 <= ptime } ?? frameMilliseconds }
}

extension OpusSettings {
    /// These settings within what the far end can and wishes to receive (RFC 7587 §6.1, §7).
    func honouring(_ wishes: OpusParameters) -> OpusSettings {
        var settings = self
        if let limit = wishes.maximumAverageBitrate { settings.bitrate = min(bitrate, Int32(limit)) }
        settings.forwardErrorCorrection = forwardErrorCorrection && wishes.usesForwardErrorCorrection
        settings.discontinuous = wishes.prefersDiscontinuous
        settings.constantBitrate = wishes.prefersConstantBitrate
        if let rate = wishes.maximumPlaybackRate { settings.maximumPlaybackRate = Int32(rate) }
        return settings
    }
}
