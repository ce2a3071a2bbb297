import Media
import Primitives
import RTP

/// The outcome of one call, for people and as JSON. Times are in milliseconds; what was not measured is left out.
public struct CallResult: Codable, Hashable, Sendable {
    public var peer: String
    public var direction: Direction
    public var callID: String
    /// The final status of the INVITE; 0 when there was none.
    public var status: Int
    public var reason: String
    public var endedBy: CallEnder
    /// Why, where no status says it.
    public var failure: String?
    /// From the INVITE to the first 101–199.
    public var setupTime: Double?
    /// From the INVITE to its 200.
    public var answerTime: Double?
    /// From the 200 to the end.
    public var duration: Double?
    public var earlyMediaIgnored: Bool
    public var codec: String?
    public var encryption: MediaEncryption?
    public var packets: PacketFigures?
    public var audio: AudioFigures?
    public var digitsReceived: String
    public var timesHeld: Int
    public var verdict: AudioVerdict

    public enum Direction: String, Codable, Hashable, Sendable { case outgoing, incoming }

    /// Whether the call was answered and its sound was what it should be, as far as this side can know.
    public var isGood: Bool { (200..<300).contains(status) && failure == nil && verdict.isGood }
}

extension CallResult {
    /// Of a call that could not even be tried.
    public init(notCalled peer: String, failure: String) {
        self.init(
            peer: peer, direction: .outgoing, callID: "", status: 0, reason: "", endedBy: .nobody, failure: failure,
            earlyMediaIgnored: false, digitsReceived: "",
            timesHeld: 0, verdict: .notConnected)
    }
}

/// RTP of one call.
public struct PacketFigures: Codable, Hashable, Sendable {
    public var sent: UInt64
    public var received: UInt64
    /// RFC 3550 A.3.
    public var lost: UInt64?
    public var lossPercent: Double?
    public var jitter: Double?
    public var roundTrip: Double?
    /// Of ours, as the other side reports it.
    public var remoteLost: UInt64?
    /// From the 200 to the first packet that came.
    public var firstReceivedAfter: Double?
    /// Datagrams that came and were not taken.
    public var refused: UInt64
    /// Whether what came, and what was sent, could be heard: `heard`, `silent`, `paused`, `nothing`; absent until measured.
    public var incoming: DirectionVerdict.Sound?
    public var outgoing: DirectionVerdict.Sound?
    /// All of the call, in milliseconds.
    public var jitters: SpreadFigures?
    public var roundTrips: SpreadFigures?
}

/// What was heard.
public struct AudioFigures: Codable, Hashable, Sendable {
    public var secondsHeard: Double
    /// dB below a full-scale sine; absent for perfect silence.
    public var level: Double?
    /// Of the tone that was expected: the part of the time that it was there (0…1), and its gaps.
    public var tonePresence: Double?
    public var toneGaps: Int?
    /// How like what was expected (0…1, from 0.5 on it is the same), and how late.
    public var correlation: Double?
    public var delay: Double?
}

/// What this side can say about the sound of a call.
public enum AudioVerdict: String, Codable, Hashable, Sendable {
    /// What was expected arrived, and the other side reports ours or sent it back.
    case bothWays = "audio both ways"
    /// What was expected arrived; nothing says whether ours did.
    case received = "audio received; no report about ours"
    case unexpected = "audio received, but not the expected"
    /// What was expected arrived, and stopped before the call did.
    case cutShort = "audio received, but not to the end"
    case silence = "packets received, but silence"
    case nothing = "no audio received"
    /// Nothing was expected, and the call was answered.
    case notExpected = "no audio expected"
    case notConnected = "not connected"

    public var isGood: Bool { self == .bothWays || self == .received || self == .notExpected }
}
