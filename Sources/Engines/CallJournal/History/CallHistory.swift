import Primitives
import SIP

/// The calls of a journal, gathered as its events come.
///
/// A call is there once, whatever became of it: an INVITE that was refused, one that came again with a password, a call with all the legs
/// that the gateway made for it. Calls of two runs are never one.
public struct CallHistory {
    private struct Entry { var leg: LegRecord, record: CallDetailRecord }

    public private(set) var runs = JournalRuns()
    /// Events that are missing.
    public private(set) var missingEvents: UInt64 = 0
    /// Registrations that were refused, and the last of them.
    public private(set) var refusedRegistrations = 0
    public private(set) var lastRefusedRegistration: JournalEvent?

    /// In the order in which they began.
    private var records: [CallDetailRecord] = []
    /// Those of this run.
    private var entries = IdentityTable<Entry>()
    private var openLegs: [LegRecord] = []
    /// Refused for want of a password in this run, by Call-ID.
    private var challenged: [Text: CallDetailRecord] = [:]
    /// Legs that were taken out: what comes late of them begins none.
    private var lingering = FIFO<(call: CallUUID, until: Instant)>()
    private var last: UInt64?, now = Instant.zero
    /// Events of this run are missing.
    private var isCut = true

    /// 64·T1: a request that has no answer by then gets none (RFC 3261 §17.1.2.2). And by when all is told of a call.
    private static let timeout = Duration.seconds(32)
    private let lingerTime: Duration

    /// - `lingerTime`: how long a call that was taken out is still known, so that what comes late of it begins none.
    public init(lingerTime: Duration = .seconds(300)) { self.lingerTime = lingerTime }

    /// In the order in which they began.
    public var calls: [CallDetailRecord] { records.filter { !$0.isMerged } }

    public mutating func note(_ event: borrowing JournalEvent) {
        noteSequence(event)
        if event.kind == .registerRefused || event.kind == .accessRefused {
            refusedRegistrations += 1
            lastRefusedRegistration = copy event
        }
        guard let call = event.call, let entry = entry(of: call, event) else { return }
        entry.leg.note(event)
        if event.kind == .performGroup, let other = event.details.uuid(.with) { join(call, to: other) }
        switch event.kind {
        case .inviteReceived, .sipReceived: takeOver(entry)
        case .callRefused, .sipSent: if entry.leg.isChallenge, let id = entry.leg.callID { challenged[id] = entry.record }
        default: break
        }
    }

    /// A call was refused for want of a password, and may still come again with it.
    public var hasOpenChallenge: Bool { records.contains { !$0.isMerged && $0.first.isChallenge } }

    /// Nothing more comes.
    /// - Parameter isBeingWritten: somebody still writes the journal, and calls without an end go on.
    public mutating func finish(isBeingWritten: Bool) {
        guard isBeingWritten else { return cutOpenLegs(.journalEnded) }
        noteUnansweredByes(before: now)
    }

    /// Takes out the calls that are over, in the order in which they began.
    /// - Parameter since: of those that wait for a password only what is older than this; nanoseconds since 1970.
    public mutating func takeFinished(challengedBefore since: UInt64) -> [CallDetailRecord] {
        let finished = records.filter { !$0.isMerged && ($0.isOver || $0.legs.contains { $0.cut != nil }) }
            .filter { !$0.first.isChallenge || $0.first.last.wall < since }
        let taken = Set(finished.map(ObjectIdentifier.init))
        records.removeAll { $0.isMerged || taken.contains(ObjectIdentifier($0)) }
        openLegs.removeAll(where: \.isOver)
        for case let id? in finished.filter(\.first.isChallenge).map(\.first.callID) { challenged[id] = nil }
        for leg in finished.flatMap(\.legs) { lingering.append((leg.call, now + lingerTime)) }
        while let oldest = lingering.first, oldest.until < now {
            _ = lingering.popFirst()
            entries.removeValue(forKey: oldest.call)
        }
        return finished
    }
}

extension CallHistory {
    private mutating func noteSequence(_ event: borrowing JournalEvent) {
        let isFirst = last == nil
        if runs.note(event) {
            cutOpenLegs(.runEnded)
            (entries, challenged, lingering, isCut) = (IdentityTable(), [:], FIFO(), event.kind != .gatewayStarted)
        } else if isFirst {
            isCut = event.sequence != 1
        } else if let last, event.sequence > last &+ 1 || event.kind == .journalLost {
            missingEvents &+= event.kind == .journalLost ? event.sequence &- last : event.sequence &- last &- 1
            noteGap()
        }
        (last, now) = (event.sequence, event.time)
    }

    private mutating func noteGap() {
        isCut = true
        for leg in openLegs where !leg.isOver { leg.hasGap = true }
    }

    private mutating func cutOpenLegs(_ cut: LegRecord.Cut) {
        for leg in openLegs where !leg.isOver { leg.cut = cut }
        noteUnansweredByes(before: nil)
        openLegs = []
    }

    /// - Parameter time: those before it by more than a request waits; nil for all.
    private func noteUnansweredByes(before time: Instant?) {
        for leg in openLegs {
            guard let bye = leg.course.openBye, bye.isOurs, time.map({ $0 - bye.sent > Self.timeout }) ?? true else { continue }
            leg.course.isByeUnanswered = true
        }
    }

    private mutating func entry(of call: CallUUID, _ event: borrowing JournalEvent) -> Entry? {
        if let entry = entries[call] { return entry }
        let begins = event.beginsLeg
        guard begins || isCut && event.kind.isOfLeg else { return nil }
        let leg = LegRecord(call, runs.current, first: event)
        leg.isPartial = !begins
        let entry = Entry(leg: leg, record: CallDetailRecord(leg))
        entries[call] = entry
        records.append(entry.record)
        openLegs.append(leg)
        return entry
    }

    /// A leg that we begin for a call is a branch of that. Calls that are joined later stay two.
    private mutating func join(_ call: CallUUID, to other: CallUUID) {
        guard let entry = entries[call], let target = entries[other]?.record, entry.record !== target, entry.record.first === entry.leg,
            entry.leg.direction == .outgoing, entry.leg.answered == nil
        else { return }
        target.branches += entry.record.legs
        entry.record.isMerged = true
        for leg in entry.record.legs { entries[leg.call]?.record = target }
    }

    /// The INVITE before this one, of the same Call-ID, was refused for want of a password.
    private mutating func takeOver(_ entry: Entry) {
        guard !challenged.isEmpty, let id = entry.leg.callID, let before = challenged[id], before !== entry.record else { return }
        challenged[id] = nil
        (before.isMerged, entry.leg.wasChallenged) = (true, true)
    }
}

extension JournalEvent {
    /// With this a leg begins.
    fileprivate var beginsLeg: Bool {
        switch kind {
        case .inviteReceived, .callRefused, .reportIncoming, .performStart, .mediaReserved: true
        case .sipReceived, .sipSent: details.text(.method) == "INVITE" && details[.status] == nil
        default: false
        }
    }
}

extension JournalEvent.Kind {
    /// It shows that a leg is there: neither a wish for one nor what is left of one.
    fileprivate var isOfLeg: Bool {
        switch self {
        case .transactionRequested, .transactionAccepted, .transactionRefused, .systemAction, .mediaClosed, .mediaReleased, .portFree,
            .sessionActivated, .sessionDeactivated, .auditViolation:
            false
        default: true
        }
    }
}
