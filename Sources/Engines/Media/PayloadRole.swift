import Audio
import SDP

/// The role of an incoming payload type on one leg.
enum PayloadRole: Equatable {
    case unknown
    /// Sound that we can decode.
    case audio(AudioCodec)
    /// Sound that can only be passed on, in the clock that its description names.
    case otherAudio(clockRate: UInt32)
    case keys
    /// The sender is silent, and says how that sounds (RFC 3389).
    case noise

    init(_ sound: Codec) { self = AudioCodec(sound).map(Self.audio) ?? .otherAudio(clockRate: max(1, sound.clockRate)) }

    /// Ticks per second of its timestamps; nil for what goes in the clock of the sound beside it.
    var clockRate: UInt32? {
        switch self {
        case .audio(let codec): UInt32(codec.clockRate)
        case .otherAudio(let rate): rate
        case .unknown, .keys, .noise: nil
        }
    }
}

/// The roles of a leg's incoming payload types; those that it does not name are unknown.
struct PayloadRoles {
    /// The payload type that comes most.
    private var usual: (payloadType: UInt8, role: PayloadRole) = (0, .unknown)
    /// A leg has few: a table of all 128 would be a third of it.
    private var all: [(payloadType: UInt8, role: PayloadRole)] = []

    /// Before a plan is known.
    init() {}

    init(_ audio: NegotiatedAudio) {
        all.reserveCapacity(audio.comfortNoise.count + audio.telephoneEvents.count + audio.codecs.count)
        // The first that fits is taken.
        for noise in audio.comfortNoise { all.append((noise.receivePayloadType & 0x7F, .noise)) }
        for keys in audio.telephoneEvents { all.append((keys.receivePayloadType & 0x7F, .keys)) }
        for codec in audio.codecs.reversed() { all.append((codec.receivePayloadType & 0x7F, PayloadRole(codec.codec))) }
        let payloadType = audio.primary.receivePayloadType & 0x7F
        usual = (payloadType, agreed(payloadType))
    }

    subscript(payloadType: UInt8) -> PayloadRole { payloadType == usual.payloadType ? usual.role : agreed(payloadType & 0x7F) }

    private func agreed(_ payloadType: UInt8) -> PayloadRole {
        for entry in all where entry.payloadType == payloadType { return entry.role }
        return .unknown
    }
}
