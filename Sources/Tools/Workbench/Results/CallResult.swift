import Media
import Primitives
import RTP

/// The outcome of one call, for people and as JSON. Times are in milliseconds; what was not measured is left out.
public struct CallResult: Codable, Hashable, Sendable {
    /// The other side, as a URI.
    public var peer: String
    /// The direction of the call: it tells who called.
    public var direction: Direction
    /// The Call-ID of the INVITE.
    public var callID: String
    /// The final status of the INVITE; nil where nobody sent one.
    @ExplicitNull public var status: Int?
    /// The phrase of the status, with the words of a Warning in brackets.
    public var reason: String
    /// The party that ended the call.
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
    /// The encryption of the sound.
    public var encryption: MediaEncryption?
    /// RTP; absent where no media was opened.
    public var packets: PacketFigures?
    /// The figures of the sound that was heard; absent where nothing was listened to.
    public var audio: AudioFigures?
    /// Keys of the other side, in their order.
    public var digitsReceived: String
    /// By the other side.
    public var timesHeld: Int
    /// The verdict on the sound.
    public var verdict: AudioVerdict

    /// The caller: we (outgoing), or the other side (incoming).
    public enum Direction: String, Codable, Hashable, Sendable { case outgoing, incoming }

    /// Whether the call was answered and its sound was what it should be, as far as this side can know.
    public var isGood: Bool { status.map { (200..<300).contains($0) } == true && failure == nil && verdict.isGood }
}

extension CallResult {
    /// Makes the result of a call that could not even be tried.
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
    /// Packets of ours that were lost, as the other side reports it.
    public var remoteLost: UInt64?
    /// The MOS of the sound that came, by ITU-T G.107 with the loss above.
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

/// The figures of the sound that was heard.
public struct AudioFigures: Codable, Hashable, Sendable {
    /// Seconds of sound that were decoded.
    public var secondsHeard: Double
    /// dB below a full-scale sine; absent for perfect silence.
    public var level: Double?
    /// The part of the time in which the expected tone was there (0…1).
    public var tonePresence: Double?
    /// Number of times that the tone stopped and came back.
    public var toneGaps: Int?
    /// The likeness to the expected sound (0…1; from 0.5 on it is the same).
    public var correlation: Double?
    /// The delay of the sound that was heard, in milliseconds.
    public var delay: Double?
}

/// The verdict of this side on the sound of a call.
public enum AudioVerdict: String, Codable, Hashable, Sendable {
    /// The expected sound arrived, and the other side reports ours or sent it back.
    case bothWays = "audio both ways"
    /// The expected sound arrived; nothing tells whether ours did.
    case received = "audio received; no report about ours"
    /// Sound came, and not the sound that was to come.
    case unexpected = "audio received, but not the expected"
    /// The expected sound arrived, and stopped before the call did.
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
