import Audio
import Primitives
import RTP
import SDP

extension AudioCodec {
    /// Nil for a codec that we can only pass on.
    init?(_ codec: Codec) {
        guard let known = Self.known.first(where: { $0.0.matches(codec) }) else { return nil }
        self = known.1
    }

    private static let known: [(Codec, AudioCodec)] = [
        (.opus, .opus), (.g722, .g722), (.pcmu, .pcmu), (.pcma, .pcma),
        (.l16(8_000), .linear8), (.l16(16_000), .linear16), (.l16(44_100), .linear44), (.l16(48_000), .linear48),
    ]
}

extension NegotiatedAudio {
    /// The destination of RTP; nil while the far end has no address, and where connectivity checks are to find it.
    var destination: SocketAddress? {
        ice != nil || remoteHold == .zeroAddress || remoteRTP.address.isAny || remoteRTP.port == 0 ? nil : remoteRTP
    }

    /// Nothing may leave: by either side's wish, or because the far end has no address.
    var isSilenced: Bool { !sends || remoteHold == .zeroAddress }

    /// All payload types that may come.
    var receivedTypes: PayloadTypeSet {
        var types = PayloadTypeSet()
        for formats in [codecs, telephoneEvents, comfortNoise] {
            for format in formats where format.receivePayloadType < 128 { types.insert(format.receivePayloadType) }
        }
        return types
    }

    /// The clock of telephone-event timestamps.
    var keyRate: UInt32 { max(1, telephoneEvent(for: primary.codec)?.codec.clockRate ?? primary.codec.clockRate) }

    /// Under which number each payload type that comes here leaves on `other`: same codec to same codec, keys to keys and noise to noise of
    /// the same clock.
    func payloadTypes(towards other: NegotiatedAudio) -> PayloadTypeMap {
        var map = PayloadTypeMap()
        func add(_ mine: [NegotiatedCodec], _ theirs: [NegotiatedCodec]) {
            for codec in mine where codec.receivePayloadType < 128 {
                guard let match = theirs.first(where: { $0.codec.matches(codec.codec) }), match.sendPayloadType < 128 else { continue }
                map[codec.receivePayloadType] = match.sendPayloadType
            }
        }
        add(codecs, other.codecs)
        add(telephoneEvents, other.telephoneEvents)
        add(comfortNoise, other.comfortNoise)
        return map
    }
}

extension NegotiatedAudio {
    /// Its sound can be decoded and encoded here, as a conference needs it.
    public var canBeMixed: Bool { AudioCodec(primary.codec) != nil }
}
