import Media
import Primitives
import RTP

/// The outcome of one call, for people and as JSON. Times are in milliseconds; what was not measured is left out.
public struct CallResult: Codable, Hashable, Sendable {
    /// The other side, as a URI.
    public var peer: String
    /// Who called.
    public var direction: Direction
    /// Of the INVITE.
    public var callID: String
    /// The final status of the INVITE; nil where nobody sent one.
    @ExplicitNull public var status: Int?
    /// The phrase of the status, with the words of a Warning in brackets.
    public var reason: String
    /// Who ended it.
    public var endedBy: CallEnder
    /// Why, where no status says it.
    public var failure: String?
    /// From the INVITE to the first 101–199.
    public var setupTime: Double?
    /// From the INVITE to its 200.
    public var answerTime: Double?
    /// From the 200 to the end.
    public var duration: Double?
    /// A provisional response had a session description; no media was opened for it.
    public var earlyMediaIgnored: Bool
    /// The name of the codec that was agreed.
    public var codec: String?
    /// How the sound was encrypted.
    public var encryption: MediaEncryption?
    /// RTP; absent where no media was opened.
    public var packets: PacketFigures?
    /// What was heard; absent where nothing was listened to.
    public var audio: AudioFigures?
    /// Keys of the other side, in their order.
    public var digitsReceived: String
    /// By the other side.
    public var timesHeld: Int
    /// What can be said of the sound.
    public var verdict: AudioVerdict

    /// Who called: we, or the other side.
    public enum Direction: String, Codable, Hashable, Sendable { case outgoing, incoming }

    /// Whether the call was answered and its sound was what it should be, as far as this side can know.
    public var isGood: Bool { status.map { (200..<300).contains($0) } == true && failure == nil && verdict.isGood }
}

extension CallResult {
    /// Of a call that could not even be tried.
    public init(notCalled peer: String, failure: String) {
        self.init(
            peer: peer, direction: .outgoing, callID: "", status: nil, reason: "", endedBy: .nobody, failure: failure,
            earlyMediaIgnored: false, digitsReceived: "",
            timesHeld: 0, verdict: .notConnected)
    }
}

/// RTP of one call.
public struct PacketFigures: Codable, Hashable, Sendable {
    /// Packets that left.
    public var sent: UInt64
    /// Packets that came and were taken.
    public var received: UInt64
    /// By their numbers (RFC 3550 A.3), and what did not come though it was due before the beginning and after the end of those.
    public var lost: UInt64?
    /// 100 where nothing came.
    public var lossPercent: Double?
    /// From the answer to the last packet, where that came too long before the end; absent: the sound went on.
    public var stoppedAfter: Double?
    /// The last, in milliseconds (RFC 3550 §6.4.1).
    public var jitter: Double?
    /// The last, in milliseconds.
    public var roundTrip: Double?
    /// Of ours, as the other side reports it.
    public var remoteLost: UInt64?
    /// Of what came, by ITU-T G.107 with the loss above.
    public var mos: Double?
    /// From the 200 to the first packet that came.
    public var firstReceivedAfter: Double?
    /// Datagrams that came and were not taken.
    public var refused: UInt64
    /// Whether what came, and what was sent, could be heard: `heard`, `silent`, `paused`, `nothing`; absent until measured.
    public var incoming: DirectionVerdict.Sound?
    /// Whether what was sent could be heard.
    public var outgoing: DirectionVerdict.Sound?
    /// All of the call, in milliseconds.
    public var jitters: HistogramFigures?
    /// All of the call, in milliseconds.
    public var roundTrips: HistogramFigures?
}

/// What was heard.
public struct AudioFigures: Codable, Hashable, Sendable {
    /// Of sound that was decoded.
    public var secondsHeard: Double
    /// dB below a full-scale sine; absent for perfect silence.
    public var level: Double?
    /// Of the tone that was expected: the part of the time that it was there (0…1), and its gaps.
    public var tonePresence: Double?
    /// How often the tone stopped and came back.
    public var toneGaps: Int?
    /// How like what was expected (0…1, from 0.5 on it is the same), and how late.
    public var correlation: Double?
    /// In milliseconds.
    public var delay: Double?
}

/// What this side can say about the sound of a call.
public enum AudioVerdict: String, Codable, Hashable, Sendable {
    /// What was expected arrived, and the other side reports ours or sent it back.
    case bothWays = "audio both ways"
    /// What was expected arrived; nothing says whether ours did.
    case received = "audio received; no report about ours"
    /// Sound came, and not the sound that was to come.
    case unexpected = "audio received, but not the expected"
    /// What was expected arrived, and stopped before the call did.
    case cutShort = "audio received, but not to the end"
    /// Packets came, with nothing to be heard in them.
    case silence = "packets received, but silence"
    /// No packet came.
    case nothing = "no audio received"
    /// Nothing was expected, and the call was answered.
    case notExpected = "no audio expected"
    /// There was no answer, or no socket for its media.
    case notConnected = "not connected"

    /// Whether the sound was what it should be, as far as this side can know.
    public var isGood: Bool { self == .bothWays || self == .received || self == .notExpected }
}
