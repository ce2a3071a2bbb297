import Primitives
import SIP

/// One leg as a journal tells it: parties, times, end and sound. It grows with each event of the leg.
public final class LegRecord {
    public enum Direction: String, Sendable { case incoming, outgoing }

    /// By both clocks.
    public struct Moment: Equatable, Sendable {
        public let time: Instant
        /// Nanoseconds since 1970-01-01 UTC.
        public let wall: UInt64

        init(_ event: borrowing JournalEvent) { (time, wall) = (event.time, event.wall) }
    }

    /// The final response that ended an INVITE without a call.
    public struct FinalResponse: Equatable, Sendable {
        public enum Sender: Sendable {
            case us, farEnd
            /// None came: it stands for that (`sip.unanswered`).
            case nobody
        }

        public let status: Int
        public let phrase: Text?
        public let sender: Sender
    }

    /// Why the end of a leg is not in the journal.
    public enum Cut: Sendable {
        /// Another run begins: the program was killed.
        case runEnded
        /// The journal ends, and nobody writes it.
        case journalEnded
    }

    /// Why it ended, in words of the gateway and of CallKit.
    public struct Ending: Equatable, Sendable {
        /// The gateway refused the INVITE.
        public internal(set) var refusal: Text?
        /// The name of a CallKit error: the report was refused.
        public internal(set) var reportError: Text?
        /// The reason in `report.ended`, else in `call.ended`.
        public internal(set) var reason: Text?
        public internal(set) var mediaRefusal: Text?
        /// Why no device was woken.
        public internal(set) var pushCause: Text?
    }

    /// The course of the call, and the side that took each step; the disposition is made of it.
    struct Course {
        var isReported = false, isStarted = false, isConnected = false, isRefused = false
        var beganEnd = false, isEndedByFarEnd = false, isCancelled = false, isEndedBySystem = false
        var isAcknowledged = false
        /// The class of the action that was not completed in time.
        var timedOut: Text?
        /// A 3xx, while the place is looked for that it names.
        var redirection: FinalResponse?
        var inviteCSeq: Int64?
        /// The BYE that is not answered yet.
        var openBye: (cseq: Int64, isOurs: Bool, sent: Instant)?
        /// Our BYE was not answered, and will not be.
        var isByeUnanswered = false
        /// The UUID under which an app reported it.
        var appCall: CallUUID?
    }

    public let call: CallUUID
    public let run: JournalRun
    /// The sequence number of its first event.
    public let sequence: UInt64
    public let began: Moment
    public internal(set) var direction: Direction?
    public internal(set) var line: Text = .empty

    // The parties and the offer, as far as the journal has them. From, To and URI are those of an INVITE from outside; for one of ours
    // `to` is the callee.
    public internal(set) var from: Text?, to: Text?, uri: Text?, agent: Text?, offer: Text?, callID: Text?
    public internal(set) var transport: Text?, remote: Text?
    /// The first that was opened or agreed later.
    public internal(set) var codec: Text?
    public internal(set) var recording: Text?

    public internal(set) var rang: Moment?, answered: Moment?, ended: Moment?, last: Moment
    public internal(set) var sound = LegSound()

    // The end of the call.
    public internal(set) var response: FinalResponse?
    /// The Reason headers of the request or response that ended it.
    public internal(set) var reasons: [Reason] = []
    public internal(set) var ending = Ending()
    /// Rules that it broke, as the audit found while it was up.
    var broken: [(rule: Text, level: Violation.Level)] = []
    public internal(set) var cut: Cut?
    /// Events are missing in its time.
    public internal(set) var hasGap = false
    /// Its first events are missing.
    public internal(set) var isPartial = false
    /// The far end had to prove a password first.
    public internal(set) var wasChallenged = false

    var course = Course()

    init(_ call: CallUUID, _ run: JournalRun, first event: borrowing JournalEvent) {
        (self.call, self.run, sequence) = (call, run, event.sequence)
        began = Moment(event)
        last = began
    }

    /// Nothing more is to come that matters, unless a challenge is answered.
    public var isOver: Bool {
        ended != nil || course.isRefused || response != nil && (ending.reportError != nil || !course.isReported && !course.isStarted)
    }

    /// Rules that it broke.
    public var violations: [Text] { broken.filter { $0.level == .fault }.map(\.rule) }
    /// Rules by which an app may do better on its own line.
    public var advice: [Text] { broken.filter { $0.level == .advice }.map(\.rule) }

    /// In the journal of an app: the UUID under which the app has the call, where that is one of its own.
    public var appCall: CallUUID? { course.appCall }

    /// Its UUIDs: that of the journal, and an app's own.
    public var uuids: [CallUUID] { [call] + [appCall].compactMap(\.self) }

    /// As a Reason header has them.
    public var reasonValues: [Text] { reasons.map(\.value) }

    /// It was refused for want of a password, and the next INVITE of the same Call-ID may bring that.
    var isChallenge: Bool { isOver && !course.isReported && answered == nil && [401, 407].contains(response?.status) }
}

extension LegRecord {
    func note(_ event: borrowing JournalEvent) {
        let details = event.details, now = Moment(event)
        last = now
        if line.isEmpty { line = event.line.detached }
        switch event.kind {
        case .inviteReceived: noteAddresses(details)
        case .callRefused: noteRefusal(details)
        case .sipReceived, .sipSent: noteMessage(event, now)
        case .inviteUnanswered:
            remote = details.kept(.remote) ?? remote
            noteFinal(.init(status: Int(details.number(.status) ?? 408), phrase: nil, sender: .nobody))
        case .redirectionLookup: noteLookup(isOn: details.flag(.on))
        case .reportIncoming:
            (direction, course.isReported) = (.incoming, true)
            from = from ?? details.kept(.remote)
        case .reportAdopted: course.appCall = details.uuid(.with)
        case .reportIncomingRefused: ending.reportError = details.kept(.error)
        case .reportConnected: course.isConnected = true
        case .reportEnded: ending.reason = details.kept(.reason)
        case .callEnded: (ended, ending.reason) = (ended ?? now, ending.reason ?? details.kept(.reason))
        case .performStart:
            (direction, course.isStarted) = (.outgoing, true)
            to = to ?? details.kept(.remote)
        case .performEnd: course.beganEnd = true
        case .systemAction: course.isEndedBySystem = course.isEndedBySystem || event.listedActions.contains { $0.kind == .end }
        case .actionTimedOut: course.timedOut = details.kept(.class)
        case .pushUnreported: (ending.pushCause, ended) = (details.kept(.cause), ended ?? now)
        case .recordingStarted: recording = details.kept(.text)
        case .auditViolation: if let rule = details.kept(.rule) { broken.append((rule, .fault)) }
        case .auditAdvice: if let rule = details.kept(.rule) { broken.append((rule, .advice)) }
        default: noteMedia(event.kind, details)
        }
    }

    private func noteMedia(_ kind: JournalEvent.Kind, _ details: JournalEvent.Details) {
        switch kind {
        // With a port it is one that another program has, and the call goes on with the next.
        case .mediaRefused: if details[.port] == nil { ending.mediaRefusal = details.kept(.cause) }
        case .mediaOpened: codec = codec ?? details.kept(.codec)
        case .mediaUpdated: if let changed = details.kept(.codec), changed != "none" { codec = changed }
        case .mediaStopped: sound.noteStopped(details)
        case .mediaClosed: sound.noteClosed(details)
        default: break
        }
    }

    private func noteAddresses(_ details: JournalEvent.Details) {
        direction = .incoming
        (from, to, uri) = (details.kept(.from) ?? from, details.kept(.to) ?? to, details.kept(.uri) ?? uri)
        (agent, offer) = (details.kept(.agent) ?? agent, details.kept(.media) ?? offer)
        notePeer(details)
    }

    func notePeer(_ details: JournalEvent.Details) {
        if callID == nil { callID = details.kept(.callid) }
        if transport == nil { transport = details.kept(.transport) }
        if remote == nil { remote = details.kept(.remote) }
    }

    private func noteRefusal(_ details: JournalEvent.Details) {
        direction = direction ?? .incoming
        notePeer(details)
        ending.refusal = details.kept(.reason) ?? ending.refusal
        guard answered == nil else { return }
        course.isRefused = !course.isReported
        if response == nil, let status = details.number(.status) { response = .init(status: Int(status), phrase: nil, sender: .us) }
    }

    /// A 3xx ends the call only where nobody is found at the place that it names.
    private func noteLookup(isOn: Bool) {
        (response, course.redirection) = isOn ? (nil, response) : (response ?? course.redirection, nil)
    }

    func noteFinal(_ final: FinalResponse) {
        if answered == nil, ended == nil { response = final }
    }
}

extension JournalEvent.Details {
    /// A text in memory of its own: what was read shares that of a whole piece of the file.
    func kept(_ key: JournalEvent.Key) -> Text? { text(key)?.detached }
}
