import Primitives

/// Why an offer or an answer cannot be used: material for a 488, or for ACK and BYE.
public enum NegotiationError: Error, Hashable, Sendable {
    /// No `m=audio` with a port.
    case noAudio
    /// Audio only over a profile that we do not speak, or may not, such as `RTP/SAVP` where encryption is off.
    case unsupportedProfile
    /// A stream in the clear where encryption is required.
    case securityRequired
    /// An encrypted stream without a suite, a key or a fingerprint that we can use.
    case noCommonSecurity
    /// No codec for sound that both sides know.
    case noCommonCodec
    /// No `c=` line, a name, a multicast or broadcast address, or one of the family that we do not have.
    case unusableAddress
    /// A media port of this very machine's own: the sound would come round in circles.
    case ownMediaPort
    /// The peer's answer has our stream at port 0, or not at all.
    case refused
    /// The body is no session description, for this cause.
    case malformed(SessionDescription.ParseError)
    /// An offer while another is open, or an answer to nothing (RFC 3264 §4).
    case outOfTurn

    /// The SIP status that says so to the peer: 491 for glare, else 488 (RFC 3261 §21.4.26).
    public var status: Int { self == .outOfTurn ? 491 : 488 }

    /// The code of the Warning header (RFC 3261 §20.43).
    public var warningCode: Int {
        switch self {
        case .noAudio, .refused: 304
        case .unsupportedProfile: 302
        case .securityRequired, .noCommonSecurity: 399
        case .noCommonCodec: 305
        case .unusableAddress: 301
        case .ownMediaPort: 399
        case .malformed, .outOfTurn: 399
        }
    }

    /// The reason in words, for the Warning header and the journal.
    public var text: Text {
        switch self {
        case .noAudio: "No audio stream"
        case .unsupportedProfile: "Unsupported transport profile"
        case .securityRequired: "Encryption required"
        case .noCommonSecurity: "No common encryption"
        case .noCommonCodec: "No common codec"
        case .unusableAddress: "Unusable media address"
        case .ownMediaPort: "The media port that is offered is one of this server's own"
        case .refused: "Audio stream refused"
        case .malformed(.tooLarge): "Session description too large"
        case .malformed: "Malformed session description"
        case .outOfTurn: "Offer or answer out of turn"
        }
    }
}
