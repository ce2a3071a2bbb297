import Audio
import Media
import Primitives
import RTP

/// What one call of a load came to: a row of the report. Times are in milliseconds; what was not measured is nil.
public struct CallFigures: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Hashable, Sendable {
        /// Did what it was made to do.
        case good
        /// Was answered, and something was wrong with it.
        case faulty
        /// Refused, or not answered, where it should have been.
        case failed
        /// The tool itself could not make it.
        case notTried = "not tried"
        /// The tool gave it up unanswered, since the run was stopped: it says nothing of the target.
        case cutOff = "cut off"
    }

    public var number: UInt32
    public var kind: CallKind
    public var step: Int
    /// Seconds after the beginning of the run.
    public var began: Double
    public var callID: String
    public var outcome: Outcome
    /// The final status of the INVITE; 0 when there was none.
    public var status: Int
    /// From the INVITE to the first 101–199, or to the final response where there was none before it: SRD (RFC 6076 §4.3).
    public var setup: Double?
    /// From the first 101–199 to the 200.
    public var ring: Double?
    /// From the INVITE to the 200.
    public var answer: Double?
    /// From the 200, or from the first packet that the tool itself sent for it where that left later, to the first packet that the caller
    /// got.
    public var media: Double?
    /// From the caller's BYE to its 200: SDD (RFC 6076 §4.4).
    public var end: Double?
    /// From the 200 to the end: SDT (RFC 6076 §4.5).
    public var duration: Double?
    /// Between our two ends: how long the target kept the INVITE, the 200 and the BYE.
    public var inviteTransit: Double?
    public var answerTransit: Double?
    public var byeTransit: Double?
    public var retransmissions: Int
    public var caller: EndFigures?
    public var callee: EndFigures?
    public var findings: [Finding]

    /// Its 200 came, and the tool could take it.
    public var isAnswered: Bool { duration != nil && outcome != .notTried }
}

/// What one end of a call heard.
public struct EndFigures: Codable, Hashable, Sendable {
    public var codec: String?
    public var encryption: MediaEncryption?
    public var sent: UInt64
    public var received: UInt64
    public var lossPercent: Double?
    public var jitter: Double?
    public var roundTrip: Double?
    /// Of the first packet from the other end of ours, and of the last.
    public var delay: Double?
    public var lastDelay: Double?
    /// ITU-T G.107, from the codec, the loss and the delay that were measured; nil where they were not.
    public var rating: Double?
    public var mos: Double?
    /// Nil: not listened to.
    public var audio: HeardSound?
}

/// Whose sound an end heard, where it was listened to.
public enum HeardSound: String, Codable, Hashable, Sendable {
    /// The other end's of the same call, or its own from an echo.
    case right
    /// Sound, but no signature in it: a tone, an announcement.
    case unsigned = "other sound"
    case silence
    /// No packet at all.
    case nothing
    /// Its own, where the other end's was due.
    case own = "its own"
    /// Of a call at the same time.
    case crossTalk = "cross-talk"
    /// Of a call that was over.
    case stale
    /// Of another run.
    case foreign = "another run's"

    public var isGood: Bool { self == .right }

    init(_ sound: SignatureVerdict.Sound) {
        self =
            switch sound {
            case .right: .right
            case .own: .own
            case .crossTalk: .crossTalk
            case .stale: .stale
            case .foreign: .foreign
            case .unsigned: .unsigned
            case .silence: .silence
            }
    }
}

/// Something that was wrong with a call, in words for a person.
public struct Finding: Codable, Hashable, Sendable {
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case refused
        case noAnswer = "no answer"
        case oneWay = "one-way audio"
        case noAudio = "no audio"
        case silence
        case crossTalk = "cross-talk"
        case stale = "stale audio"
        case wrongSound = "wrong sound"
        case missing = "packets missing"
        case lateAnswer = "late answer"
        case lateMedia = "late media"
        case notConnectedThrough = "not connected through"
        case forgottenEnd = "end not passed on"
        case keysLost = "keys lost"
        case offerRefused = "re-INVITE refused"
        case endedEarly = "ended early"
        case noEnd = "no answer to BYE"
        case failure
    }

    public var kind: Kind
    public var text: String

    public init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }
}
