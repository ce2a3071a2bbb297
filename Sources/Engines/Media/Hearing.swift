import Audio
import Primitives

/// The verdict on one direction of a leg since the last start, resume or end of a hold.
public struct DirectionVerdict: Hashable, Sendable {
    /// The content of the sound.
    public enum Sound: String, Hashable, Sendable, Codable {
        /// There was sound.
        case heard
        /// Packets came, all of them with silence in them.
        case silent
        /// The sender says that it is silent: Opus DTX, comfort noise. That is no fault.
        case paused
        /// No packet, where some were due: none at all, or none any more for five seconds.
        case nothing
    }

    /// The evidence for `sound`, the best first.
    public enum Basis: String, Hashable, Sendable, Codable {
        /// PCM: decoded, or the levels that G.711 payloads show as they are.
        case level
        /// The size of Opus payloads: at a variable bit rate silence takes a few bytes.
        case size
        /// That packets came, and nothing of what is in them.
        case packets
    }

    /// The content of the sound.
    public var sound: Sound
    /// The evidence for `sound`.
    public var basis: Basis

    /// A verdict, and what it was made by.
    public init(_ sound: Sound, by basis: Basis) { (self.sound, self.basis) = (sound, basis) }

    /// One direction is heard, and the other should be and is not. What was not measured is not blamed, nor is a silence that was
    /// announced.
    public static func isOneWay(_ one: DirectionVerdict?, _ other: DirectionVerdict?) -> Bool {
        guard let one, let other else { return false }
        return one.sound == .heard && other.isMissing || other.sound == .heard && one.isMissing
    }

    private var isMissing: Bool { sound == .silent || sound == .nothing }
}

/// Listens to the payloads of one stream just until it knows that there is sound in them. Belongs to one lane; allocates nothing.
struct HearingMeter {
    /// A stream from which so long nothing came, or nothing more, has something wrong with it.
    static let timeout = Duration.seconds(2), lapse = Duration.seconds(5)
    /// So many packets of silence are silence.
    static let leastPackets = 25

    private(set) var hasSound = false
    private(set) var basis = DirectionVerdict.Basis.packets
    /// The last packet says that its sender is silent.
    private(set) var isPaused = false
    private var silent = 0

    /// A packet of sound came.
    @inline(__always) mutating func receive(_ payload: UnsafeRawBufferPointer, codec: AudioCodec) {
        isPaused = codec == .opus && payload.count <= Self.largestPause
        if !hasSound { measure(payload, codec) }
    }

    /// A packet came of a codec that is only passed on.
    mutating func receiveUnknown() { (hasSound, isPaused) = (true, false) }

    /// Packets went by whose sound was known already; the last had so many octets.
    mutating func goOn(lastPayload octets: Int, codec: AudioCodec) { isPaused = codec == .opus && octets <= Self.largestPause }

    /// A packet came that stands for silence (RFC 3389).
    mutating func pause() { isPaused = true }

    private mutating func measure(_ payload: UnsafeRawBufferPointer, _ codec: AudioCodec) {
        switch codec {
        case .pcmu, .pcma:
            basis = .level
            if Self.isLoud(payload, codec) { hasSound = true } else { silent += 1 }
        case .opus:
            basis = .size
            if payload.count > Self.largestSilence { hasSound = true } else if !isPaused { silent += 1 }
        default: hasSound = true
        }
    }

    /// Nil as long as too little came to say.
    var sound: DirectionVerdict.Sound? { hasSound ? .heard : silent >= Self.leastPackets ? .silent : isPaused ? .paused : nil }

    /// Bytes of an Opus packet: DTX sends one or two (RFC 6716 §2.1.9); digital silence at a variable bit rate makes up to a dozen.
    private static let largestPause = 2, largestSilence = 16

    /// A tenth of the samples is louder than about -48 dB: G.711 codes grow with the magnitude, once their bits stand right (ITU-T G.711
    /// §3).
    private static func isLoud(_ payload: UnsafeRawBufferPointer, _ codec: AudioCodec) -> Bool {
        let mask: UInt8 = codec == .pcmu ? 0x7F : 0x55, least: UInt8 = codec == .pcmu ? 16 : 8, wanted = payload.count / 10
        var loud = 0
        for byte in payload {
            if (byte ^ mask) & 0x7F >= least { loud += 1 }
        }
        return loud > wanted
    }
}
