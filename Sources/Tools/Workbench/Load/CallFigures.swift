import Audio
import Media
import Primitives
import RTP

/// The figures of one call of a load: a row of the report. Times are in milliseconds; a value that was not measured is nil.
public struct CallFigures: Codable, Hashable, Sendable {
    /// The outcome of a call.
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

    /// From 1 on, in the order of their beginning.
    public var number: UInt32
    /// The kind of the call: the task that it was given.
    public var kind: CallKind
    /// The step of the arrival plan, from 0 on.
    public var step: Int
    /// Seconds after the beginning of the run.
    public var began: Double
    /// The Call-ID of the caller's INVITE.
    public var callID: String
    /// The outcome of the call.
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
    /// From our callee's 200 to our caller.
    public var answerTransit: Double?
    /// From the BYE of one end of ours to the other.
    public var byeTransit: Double?
    /// Messages of the call that were sent again.
    public var retransmissions: Int
    /// The figures of what the caller heard; nil where it had no media.
    public var caller: EndFigures?
    /// The figures of what the callee heard; nil where the tool plays none, or it had no media.
    public var callee: EndFigures?
    /// The target's report on the caller's sound (RTCP), where the tool plays no callee.
    public var reported: ReportedFigures?
    /// Findings of the call: its faults; empty where there were none.
    public var findings: [Finding]
    /// The steps of the call that the tool saw; kept for the first calls that are not good.
    public var trace: [CallTraceStep]?

    /// Its 200 came, and the tool could take it.
    public var isAnswered: Bool { duration != nil && outcome != .notTried }
    /// Neither good, nor cut off by the stop of the run.
    var isBad: Bool { outcome != .good && outcome != .cutOff }
}

/// The figures of what one end of a call heard.
public struct EndFigures: Codable, Hashable, Sendable {
    /// The name of the codec that was agreed.
    public var codec: String?
    /// The encryption of the sound.
    public var encryption: MediaEncryption?
    /// RTP packets that left.
    public var sent: UInt64
    /// RTP packets that came.
    public var received: UInt64
    /// The lost part of all that was due: it includes what is missing at the beginning and at the end, and is 100 where nothing came.
    public var lossPercent: Double?
    /// From the answer to the last packet, where that came too long before the end; nil: the sound went on.
    public var stoppedAfter: Double?
    /// Interarrival jitter in milliseconds (RFC 3550 §6.4.1).
    public var jitter: Double?
    /// In milliseconds, by RTCP.
    public var roundTrip: Double?
    /// The delay of the first packet from the other end of ours, in milliseconds.
    public var delay: Double?
    /// The delay of the last packet, in milliseconds.
    public var lastDelay: Double?
    /// ITU-T G.107, from the codec, the loss and the delay that were measured; nil where they were not.
    public var rating: Double?
    /// 1 to 4.5, of the rating.
    public var mos: Double?
    /// Nil: not listened to.
    public var audio: HeardSound?

    var longestDelay: Double? { [delay, lastDelay].compactMap(\.self).max() }
}

/// The report of a far end on the sound that it got.
public struct ReportedFigures: Codable, Hashable, Sendable {
    public var lossPercent: Double?
    public var jitter: Double?
    public var rating: Double?, mos: Double?
}

/// The source of the sound that an end heard, where it was listened to.
public enum HeardSound: String, Codable, Hashable, Sendable {
    /// The other end's of the same call, or its own from an echo.
    case right
    /// Sound, but no signature in it: a tone, an announcement.
    case unsigned = "other sound"
    /// Packets with nothing to be heard in them.
    case silence
    /// No packet at all.
    case nothing
    /// Its own, where the other end's was due.
    case own = "its own"
    /// The sound of another call at the same time.
    case crossTalk = "cross-talk"
    /// The sound of a call that was over.
    case stale
    /// The sound of another run.
    case foreign = "another run's"

    /// Whether what was heard is what was played for this end.
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
    /// Faults that a call may have; the text is the name in reports.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// The target said no.
        case refused
        /// Given up unanswered, or nothing could be sent there.
        case noAnswer = "no answer"
        /// Two ends sent, and only one was heard.
        case oneWay = "one-way audio"
        /// Neither end was heard, though both sent.
        case noAudio = "no audio"
        /// Packets came, with nothing to be heard in them.
        case silence
        /// The sound of a call at the same time.
        case crossTalk = "cross-talk"
        /// The sound of a call that was over, or of an earlier run.
        case stale = "stale audio"
        /// Its own sound in place of the other end's, or sound that nobody played.
        case wrongSound = "wrong sound"
        /// More packets did not come than may be on their way at the end.
        case missing = "packets missing"
        /// A one-way delay that no conversation stands.
        case longDelay = "long delay"
        /// Packets came together after a pause that no telephone waits for.
        case bursts = "sound in bursts"
        /// The answer took far longer than in half of the calls.
        case lateAnswer = "late answer"
        /// The first packet came far later after the answer than in half of the calls.
        case lateMedia = "late media"
        /// Answered, but not by the callee that the tool plays.
        case notConnectedThrough = "not connected through"
        /// The callee was not told that the call is over.
        case forgottenEnd = "end not passed on"
        /// Other keys came than were pressed.
        case keysLost = "keys lost"
        /// A re-INVITE of ours was refused.
        case offerRefused = "re-INVITE refused"
        /// The target hung up.
        case endedEarly = "ended early"
        /// Our BYE was not answered.
        case noEnd = "no answer to BYE"
        /// The call failed without a status that says why.
        case failure
    }

    /// The direction of the sound: out from the caller, or in to it.
    public enum Direction: String, Codable, Hashable, Sendable, CaseIterable { case out, `in` }

    /// The fault.
    public var kind: Kind
    /// In words for a person, with what was measured.
    public var text: String
    /// The direction of the sound that has the fault, where it is one of the two.
    public var direction: Direction?
    /// Seconds after the answer, where it is known when it began.
    public var second: Double?
    /// Other findings of the call that this one causes.
    public var consequences: [Finding]?

    /// - Parameters:
    ///   - text: for a person.
    ///   - second: after the answer, where it is known when it began.
    public init(_ kind: Kind, _ text: String, second: Double? = nil) { (self.kind, self.text, self.second) = (kind, text, second) }
}

extension Finding {
    /// Each under its cause, where that was found too.
    static func folded(_ findings: [Finding]) -> [Finding] {
        let isCaused = { (finding: Finding) in findings.contains { $0.kind.bringsAbout.contains(finding.kind) } }
        var causes = findings.filter { !isCaused($0) }
        for finding in findings where isCaused(finding) {
            if let cause = causes.firstIndex(where: { $0.kind.bringsAbout.contains(finding.kind) }) {
                causes[cause].consequences = (causes[cause].consequences ?? []) + [finding]
            } else {
                causes.append(finding)
            }
        }
        return causes
    }
}

extension Finding.Kind {
    /// Findings of the same call that are its consequences.
    var bringsAbout: Set<Finding.Kind> {
        switch self {
        case .noEnd: [.forgottenEnd]
        case .endedEarly: [.keysLost]
        case .notConnectedThrough: [.oneWay, .noAudio, .missing, .silence, .wrongSound, .crossTalk, .stale, .keysLost]
        case .oneWay, .noAudio, .missing: [.keysLost]
        case .failure: [.oneWay, .noAudio, .missing, .keysLost]
        default: []
        }
    }
}
