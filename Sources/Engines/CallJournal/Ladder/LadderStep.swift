import Primitives

/// One thing on a ladder: a message as an arrow, or what the gateway did beside it.
public struct LadderStep: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case message(Message)
        /// A few words.
        case words(String)
    }

    /// Between a party and the gateway.
    public struct Message: Equatable, Sendable {
        /// `INVITE`, `200 OK (BYE)`
        public let label: String
        public let isReceived: Bool
        public let isRetransmission: Bool
    }

    /// The kind of the step, for a colour.
    public enum Tone: String, Sendable { case plain, request, provisional, success, failure, report, media, session, action }

    /// The state of a party's media after the step; `relayed`: what it sends, the kernel passes on.
    public enum Media: String, Sendable { case none, reserved, configured, open, flowing, relayed }

    /// The number of its event in the run.
    public let event: UInt64
    public let kind: JournalEvent.Kind
    public let wall: UInt64
    /// Since the first event of the ladder; below zero after a restart of the machine: the clock of each run is its own.
    public let offset: Duration
    /// The party, by its place among the parties.
    public let party: Int?
    public let content: Content
    public let tone: Tone
    /// By party.
    public let media: [Media]
}

/// Turns the events of a ladder into its steps.
struct LadderSteps {
    private let ladder: Ladder
    private let index: [CallUUID: Int]
    /// Parties of which the journal has messages: what stands for these is not drawn twice.
    private let withMessages: Set<Int>
    private var media: [LadderStep.Media]
    private var classes: [JournalEvent.Value: String] = [:]

    init(_ ladder: Ladder) {
        self.ladder = ladder
        let index = Dictionary(uniqueKeysWithValues: ladder.parties.enumerated().map { ($1.call, $0) })
        self.index = index
        withMessages = Set(ladder.events.filter(\.kind.isMessage).compactMap { $0.call.flatMap { index[$0] } })
        media = Array(repeating: .none, count: ladder.parties.count)
    }

    mutating func all() -> [LadderStep] { ladder.events.flatMap { steps(of: $0) } }

    private mutating func steps(of event: JournalEvent) -> [LadderStep] {
        learn(event)
        let party = event.call.flatMap { index[$0] }
        let message = party.flatMap { event.ladderMessage(standsAlone: !withMessages.contains($0)) }
        var steps: [LadderStep] = []
        if let message { steps.append(step(event, party, .message(message), event.messageTone)) }
        // A message has no words beside it, but for why it was refused.
        if message == nil || event.kind == .inviteReceived || event.kind == .callRefused {
            let kind = event.action.flatMap { classes[$0] }
            let words = LadderWords.describe(event, class: kind) { call in index[call].map { ladder.parties[$0].name } }
            steps.append(step(event, party, .words(words), event.kind.tone))
        }
        return steps
    }

    private func step(_ event: JournalEvent, _ party: Int?, _ content: LadderStep.Content, _ tone: LadderStep.Tone) -> LadderStep {
        LadderStep(
            event: event.sequence, kind: event.kind, wall: event.wall, offset: event.time - (ladder.events.first?.time ?? event.time),
            party: party, content: content, tone: tone, media: media)
    }

    private mutating func learn(_ event: JournalEvent) {
        for listed in event.listedActions { classes[listed.action] = listed.kind.rawValue }
        guard let party = event.call.flatMap({ index[$0] }) else { return }
        switch event.kind {
        case .mediaReserved, .mediaClosed: media[party] = .reserved
        case .mediaConfigured: media[party] = .configured
        case .mediaOpened, .mediaStopped: media[party] = .open
        case .mediaStarted, .mediaTaken: media[party] = .flowing
        case .mediaArmed: media[party] = .relayed
        case .mediaReleased: media[party] = .none
        default: break
        }
    }
}

extension JournalEvent {
    /// - Parameter standsAlone: the journal has no message of this party, and what tells of the INVITE and its refusal stands for both.
    fileprivate func ladderMessage(standsAlone: Bool) -> LadderStep.Message? {
        switch kind {
        case .sipReceived, .sipSent:
            let method = details.text(.method)?.description ?? "?", phrase = details.text(.phrase).map { " \($0)" } ?? ""
            let label = details.number(.status).map { "\($0)\(phrase)" + (method == "INVITE" ? "" : " (\(method))") } ?? method
            return .init(label: label, isReceived: kind == .sipReceived, isRetransmission: details.flag(.retransmission))
        case .inviteReceived where standsAlone: return .init(label: "INVITE", isReceived: true, isRetransmission: false)
        case .callRefused where standsAlone:
            return details.number(.status).map { .init(label: "\($0)", isReceived: false, isRetransmission: false) }
        default: return nil
        }
    }

    fileprivate var messageTone: LadderStep.Tone { LadderStep.Tone(ofStatus: details.number(.status).map { Int($0) }) }
}

extension LadderStep.Tone {
    /// The tone of a message; nil for a request.
    init(ofStatus status: Int?) {
        switch status ?? 0 {
        case 0: self = .request
        case 100..<200: self = .provisional
        case 200..<300: self = .success
        default: self = .failure
        }
    }
}

extension JournalEvent.Kind {
    fileprivate var isMessage: Bool { self == .sipReceived || self == .sipSent }

    fileprivate var tone: LadderStep.Tone {
        switch self {
        case .auditViolation, .mediaRefused, .reportIncomingRefused, .transactionRefused, .actionFailed, .actionTimedOut, .providerReset,
            .callRefused:
            .failure
        case .reportIncoming, .reportAdopted, .reportIncomingAccepted, .reportConnecting, .reportConnected, .reportUpdated, .reportEnded,
            .callEnded:
            .report
        case .mediaReserved, .mediaConfigured, .mediaOpened, .mediaStarted, .mediaStopped, .mediaUpdated, .mediaArmed, .mediaTaken,
            .mediaClosed,
            .mediaReleased,
            .streamStarted, .streamPaused, .streamStopped:
            .media
        case .sessionActivated, .sessionDeactivated: .session
        default: .action
        }
    }
}
