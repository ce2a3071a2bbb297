import Audio
import SDP

/// What an incoming payload type stands for on one leg.
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
