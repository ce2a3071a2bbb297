import Primitives

/// Checks the rules of the journal event by event: the same events give the same violations, live or from a file.
///
/// The memory of a call is bounded, and goes when the call has been over for a while. `gateway.started` begins a new run: an earlier one is
/// finished by that. A journal that begins in the middle of a run (an older part was rotated away) is judged by the calls whose beginning
/// is in it, and so is what follows a gap: the calls that were up there are unfinished. Events of other journals must not be mixed in: the
/// order is the proof. So each journal has an audit of its own, on its lane.
public final class Audit {
    /// The strictness of the audit, and its assumptions.
    public struct Options: Sendable {
        /// Also checks M5s: closed only after the session was deactivated, unless another connected call needs it.
        public var strict = true
        /// Whether the journal is all of a run. nil: it is if it ends with `gateway.stopped`; otherwise the process was killed, and what is
        /// missing is told of by `unfinishedCalls` instead of being a violation.
        public var complete: Bool?
        /// RFC 3261 T1; a callee may send BYE 64·T1 after a 200 that nobody acknowledged.
        public var t1 = Duration.milliseconds(500)
        /// The time that a released port number stays out of the pool at least.
        public var quarantine = Duration.seconds(1)
        /// By when every call must be over after a reset.
        public var resetLimit = Duration.seconds(5)
        /// The time after `media.stopped` within which the last packet may still have left; the event has the media lane's own time.
        public var stopTolerance = Duration.milliseconds(20)
        /// The rules to check.
        public var rules = Set(AuditRule.ID.allCases)

        /// The usual: everything is checked, strictly.
        public init() {}
    }

    /// A place where events were lost: their sequence numbers are missing, or go back.
    public struct Gap: Equatable, Sendable {
        /// The sequence numbers on both sides of it, and their runs. Nothing stands behind it where it is the end of a file.
        public let after: UInt64, before: UInt64
        public let earlierRun: JournalRun, run: JournalRun

        /// The number of missing events. Where the numbers go back, it counts those before the later side: how many were behind the earlier
        /// one, nobody knows.
        public var missing: UInt64 { earlierRun == run ? before &- after &- 1 : before - min(before, 1) }
    }

    /// As it was made.
    public let options: Options
    /// Events observed.
    public private(set) var events = 0
    /// In the order of the journal.
    public private(set) var gaps: [Gap] = []
    /// Calls that had begun where events are missing, as far as the journal tells (`journal.lost`).
    public var missingCalls: UInt64 { missingInEarlierRuns + missingInRun }
    /// Calls whose beginning is there.
    public private(set) var begunCalls: UInt64 = 0
    /// The runs so far.
    public private(set) var runs = JournalRuns()
    /// Calls that had begun and were not over when the journal ended, where it has a gap, or when the next run began.
    public private(set) var unfinishedCalls: [CallUUID] = []
    /// Calls of which events are missing, before a gap, after it or at the beginning: what is there does not tell whether they kept the
    /// rules.
    public private(set) var partialCalls: Set<CallUUID> = []
    /// Lines with calls that were judged without their audio sessions: a session may be that of calls of which events are missing.
    public private(set) var unjudgedSessionLines: Set<Text> = []

    /// The number of calls that it remembers now.
    public var rememberedCalls: Int { facts.calls.count }

    private var facts: AuditFacts
    /// By the ordinal of the event's kind.
    private let checks: [[AuditRule.Check]]
    private let closingRules: [AuditRule]
    /// Long enough for every SIP timer of a dialog that ended (64·T1 twice), so that its last messages meet what is known of it.
    private let lingerTime: Duration
    private var lingering = FIFO<(call: CallUUID, until: Instant)>()
    private var lastSequence: UInt64?
    private var wasStopped = false
    /// Calls of this run whose beginning is there, and those whose is not.
    private var begunInRun: UInt64 = 0, missingInRun: UInt64 = 0, missingInEarlierRuns: UInt64 = 0
    /// Those of `unfinishedCalls`, and calls that were over at a gap: these may have late events behind it.
    private var unfinished: Set<CallUUID> = [], settled: Set<CallUUID> = []
    /// Since `finish`, until the next run begins: what comes then is what that found.
    private var isFinished = false

    /// An audit of a journal from its beginning.
    public init(options: Options = Options()) {
        self.options = options
        lingerTime = options.t1 * 128 + .seconds(5)
        facts = AuditFacts(options: options, findings: Findings())
        let chosen = AuditRule.all.filter { options.rules.contains($0.id) && (options.strict || $0.id != .M5s) }
        checks = JournalEvent.Kind.allCases.map { kind in chosen.filter { $0.kinds.contains(kind) }.map(AuditRule.Check.init) }
        closingRules = chosen.filter { $0.checkClosing != nil }
    }

    /// The violations of one event.
    public func observe(_ event: JournalEvent) -> [Violation] {
        var violations: [Violation] = []
        observe(event, into: &violations)
        return violations
    }

    /// Appends the violations of one event: nothing is allocated where there is none.
    func observe(_ event: borrowing JournalEvent, into violations: inout [Violation]) {
        switch event.kind {
        case .auditViolation, .auditAdvice:
            noteSequence(event, into: &violations)
            return noteWitness(event, into: &violations)
        case .journalLost: return noteLoss(event, into: &violations)
        case .gatewayStarted:
            violations += begin()
            noteRun(event)
        default: noteSequence(event, into: &violations)
        }
        if event.kind.beginsCall { (begunInRun, begunCalls) = (begunInRun + 1, begunCalls + 1) }
        (events, wasStopped) = (events + 1, event.kind == .gatewayStopped)
        lastSequence = event.sequence
        dropForgotten(at: event.time, into: &violations)
        let facts = facts
        facts.look(at: event)
        let checks = checks[event.kind.ordinal]
        facts.judge(event, by: facts.isCut ? checks.filter { canJudge(event, by: $0.rule) } : checks, into: &violations)
        if facts.note(event), let call = event.call { lingering.append((call, event.time + lingerTime)) }
        if facts.isCut, let call = event.call { noteLimits(event, of: call) }
    }

    /// The violations of what is missing when nothing more will happen.
    public func finish() -> [Violation] {
        isFinished = true
        return close(isComplete: options.complete ?? wasStopped)
    }

    private func close(isComplete: Bool) -> [Violation] {
        let known = facts.calls.names.sorted().map(CallUUID.init(bits:))
        var violations: [Violation] = []
        for call in known {
            if isComplete || facts.calls[call]?.isDone == true {
                violations += settle(call)
            } else if unfinished.insert(call).inserted {
                unfinishedCalls.append(call)
            }
        }
        if isComplete, options.rules.contains(.M9) { violations += openSessions() }
        (facts, lingering, lastSequence, wasStopped) = (AuditFacts(options: options, findings: facts.findings), FIFO(), nil, false)
        return violations
    }
}

extension Audit {
    private static let mostLingering = 65_536
    /// Events of a call that may come before it begins.
    private static let wishes: Set<JournalEvent.Kind> = [
        .transactionRequested, .transactionAccepted, .transactionRefused, .inviteReceived, .callRefused,
    ]

    /// In a journal whose beginning is missing: only calls that are all there, and sessions only where all of their calls are. (M2 looks
    /// itself.)
    private func canJudge(_ event: borrowing JournalEvent, by rule: AuditRule) -> Bool {
        guard facts.current.hasBegun else { return false }
        switch rule.id {
        case .M5s, .M9: return facts.knowsSessions(event)
        case .R16: return facts.knowsGroup(on: event.line)
        default: return true
        }
    }

    private func noteSequence(_ event: borrowing JournalEvent, into violations: inout [Violation]) {
        let earlier = runs.current
        noteRun(event)
        if lastSequence.map({ event.sequence != $0 &+ 1 }) ?? true { violations += noteGap(before: event.sequence, of: earlier) }
        lastSequence = event.sequence
    }

    private func noteRun(_ event: borrowing JournalEvent) {
        guard runs.note(event) else { return }
        (missingInEarlierRuns, begunInRun, missingInRun) = (missingCalls, 0, 0)
    }

    /// The event stands for others, up to its own number.
    private func noteLoss(_ event: borrowing JournalEvent, into violations: inout [Violation]) {
        let earlier = runs.current
        noteRun(event)
        violations += noteGap(before: event.sequence &+ 1, of: earlier)
        lastSequence = event.sequence
        let calls = event.details.number(.calls).flatMap(UInt64.init(exactly:)) ?? 0
        missingInRun = max(missingInRun, calls > begunInRun ? calls - begunInRun : 0)
    }

    /// Notes the calls and sessions that cannot be judged by an event, because the beginning of the journal is missing.
    private func noteLimits(_ event: borrowing JournalEvent, of call: CallUUID) {
        let known = facts.current
        if known.isPartial, !Self.wishes.contains(event.kind), !settled.contains(call) { partialCalls.insert(call) }
        if event.kind == .mediaStarted, known.hasBegun, !facts.knowsSessions(event) { unjudgedSessionLines.insert(event.line) }
    }

    /// Takes over a violation that was found live in a call that cannot be judged any more, as events are missing: it stands in the journal
    /// alone.
    private func noteWitness(_ event: borrowing JournalEvent, into violations: inout [Violation]) {
        guard let violation = Violation(toldBy: event), !facts.findings.confirm(violation) else { return }
        guard !isFinished, facts.isCut || violation.call.map(partialCalls.contains) ?? false else { return }
        guard options.rules.contains(violation.rule), options.strict || violation.rule != .M5s else { return }
        facts.findings.adopt(violation)
        violations.append(violation)
    }

    /// At the beginning too. What is over is judged, as where a journal ends, and what comes is as after a beginning that is missing. Where
    /// the numbers go on, so does the run, and its lines are as they were.
    private func noteGap(before sequence: UInt64, of earlierRun: JournalRun) -> [Violation] {
        defer { facts.isCut = sequence != 1 }
        guard let lastSequence else { return [] }
        let earlier = facts, goesOn = !wasStopped && sequence > lastSequence, count = unfinishedCalls.count
        settled.formUnion(earlier.calls.names.filter { earlier.calls[$0]?.isDone == true }.map(CallUUID.init(bits:)))
        let violations = close(isComplete: wasStopped)
        if goesOn { facts.keepLines(of: earlier) }
        gaps.append(Gap(after: lastSequence, before: sequence, earlierRun: earlierRun, run: runs.current))
        partialCalls.formUnion(unfinishedCalls[count...])
        return violations
    }

    /// A new run: what was before is over.
    private func begin() -> [Violation] {
        guard lastSequence != nil else { return [] }
        defer {
            facts.findings.removeAll()
            (unfinished, settled, isFinished) = ([], [], false)
        }
        return finish()
    }

    private func dropForgotten(at now: Instant, into violations: inout [Violation]) {
        while let oldest = lingering.first, oldest.until <= now || lingering.count > Self.mostLingering {
            _ = lingering.popFirst()
            guard let call = facts.calls[oldest.call] else { continue }
            call.lingers = false
            if call.isOver { violations += settle(oldest.call) }
        }
    }

    /// Judges a call as a whole and forgets it.
    private func settle(_ call: CallUUID) -> [Violation] {
        guard let known = facts.calls[call] else { return [] }
        defer { facts.drop(call) }
        guard !facts.isCut || known.hasBegun else { return [] }
        return closingRules.compactMap { rule in
            guard let sentence = rule.checkClosing?(known, facts), facts.findings.noteClosing(rule.id, call) else { return nil }
            return Violation(rule: rule.id, call: call, sequence: lastSequence ?? 0, sentence: sentence)
        }
    }

    private func openSessions() -> [Violation] {
        guard !facts.sessions.isEmpty, facts.findings.noteClosing(.M9, nil) else { return [] }
        return facts.sessions.keys.map(\.text.description).sorted().map {
            Violation(
                rule: .M9, call: nil, sequence: lastSequence ?? 0, sentence: "session \($0) must be deactivated when no call needs it")
        }
    }
}
