import Primitives

/// All that the rules may look at: the state before an event. `note` moves it past the event.
struct AuditFacts: Sendable {
    struct Line: Sendable {
        var isConfigured = false
        var sessionPerGroup = false
        var calls: Set<CallUUID> = []
        /// Those whose media runs.
        var running: Set<CallUUID> = []
        /// Those connected and not on hold.
        var active: Set<CallUUID> = []

        fileprivate mutating func note(_ call: CallUUID, isRunning: Bool, isActive: Bool) {
            calls.insert(call)
            if isRunning { running.insert(call) } else { running.remove(call) }
            if isActive { active.insert(call) } else { active.remove(call) }
        }
    }

    struct Session: Sendable {
        let line: Text
        /// Where a line has a session per group.
        var group: Int?
    }

    struct Group: Sendable {
        var members: Set<CallUUID>
        /// The active session of the group, where a line has one per group.
        var session: JournalEvent.Value?
    }

    struct Action: Sendable {
        let kind: ActionClass
        let acceptedAt: Instant
        let acceptedSequence: UInt64
        /// Those before it in its transaction.
        let earlier: [JournalEvent.Value]
        var call: CallUUID?
        var created: Instant?
        var isPerformed = false
        var on = false
        var with: CallUUID?
    }

    struct Port: Sendable {
        var owner: CallUUID?
        var released: Instant?
    }

    let options: Audit.Options
    var calls = IdentityTable<CallFacts>()
    var lines: [Text: Line] = [:]
    /// Active sessions. The key is the line's number, or the session's id where a line has one per group.
    var sessions: [JournalEvent.Value: Session] = [:]
    /// Accepted and not complete.
    var actions: [JournalEvent.Value: Action] = [:]
    var ports: [Int64: Port] = [:]
    var groups: [Int: Group] = [:]
    private var lastGroup = 0
    private var acceptedOrder = FIFO<(action: JournalEvent.Value, until: Instant)>()

    /// The state of the event's call; a fresh one when there is none. Between `look` and `note` it is here and not in `calls`, where its
    /// place is kept for it: moving it costs less than copying.
    var current = CallFacts()
    private var isKnown = false
    /// The event as a SIP message, unless it is none or a retransmission.
    var message: AuditMessage?

    init(options: Audit.Options) { self.options = options }

    /// Whether the journal says how the line's sessions are.
    func knowsLine(_ number: Text) -> Bool { lines[number]?.isConfigured ?? false }

    func line(_ number: Text) -> Line { lines[number] ?? Line() }

    /// The key of the session that an event of a line names.
    func sessionKey(_ event: borrowing JournalEvent) -> JournalEvent.Value? {
        line(event.line).sessionPerGroup ? event.details[.session] : .text(event.line)
    }

    /// The active session that serves a call.
    func session(of call: CallFacts) -> JournalEvent.Value? {
        if !line(call.line).sessionPerGroup {
            let key = JournalEvent.Value.text(call.line)
            return sessions[key] == nil ? nil : key
        }
        return call.group.flatMap { groups[$0]?.session }
    }

    /// The connected calls, not on hold, that a session serves.
    func activeCalls(of key: JournalEvent.Value) -> Set<CallUUID> {
        guard let session = sessions[key] else { return [] }
        let active = line(session.line).active
        guard let group = session.group else { return active }
        return active.intersection(groups[group]?.members ?? [])
    }
}

// MARK: - Moving past an event

extension AuditFacts {
    /// Puts the event's call before the rules.
    mutating func look(at event: borrowing JournalEvent) {
        message = AuditMessage(event)
        if let call = event.call, calls.contains(call.bits) {
            isKnown = true
            swap(&current, &calls[call]!)
        } else {
            (isKnown, current) = (false, CallFacts())
        }
        if current.line.isEmpty { current.line = event.line }
    }

    /// What the event breaks. Here and not in `Audit`, and not inlined there, so that each rule borrows the facts and none copies them.
    @inline(never)
    func judge(_ event: borrowing JournalEvent, by rules: [AuditRule], into violations: inout [Violation]) {
        for rule in rules {
            guard let sentence = rule.check(event, self) else { continue }
            violations.append(Violation(rule: rule.id, call: event.call, sequence: event.sequence, sentence: sentence))
        }
    }

    /// True when the event's call is over since this event.
    mutating func note(_ event: borrowing JournalEvent) -> Bool {
        noteSystem(event)
        guard let call = event.call, isKnown || event.beginsFacts(message) else { return false }
        if !isKnown { current.isWhole = message != nil || event.kind == .performStart && event.action.map { actions[$0] != nil } ?? false }
        if current.group == nil { current.group = newGroup(of: call) }
        if let message { current.note(message, of: event) } else { noteCall(event, call) }
        refreshSets(call)
        let isOver = current.isOver && !current.lingers
        if isOver { current.lingers = true }
        if isKnown { swap(&current, &calls[call]!) } else { calls[call] = current }
        return isOver
    }

    private mutating func noteSystem(_ event: borrowing JournalEvent) {
        switch event.kind {
        case .lineConfigured:
            lines[event.line, default: Line()].sessionPerGroup = event.details.text(.scope) == "perGroup"
            lines[event.line]?.isConfigured = true
        case .providerReset: noteReset(event)
        case .transactionAccepted, .systemAction: noteAccepted(event)
        case .sessionActivated:
            guard let key = sessionKey(event) else { return }
            let group = line(event.line).sessionPerGroup ? current.group : nil
            sessions[key] = Session(line: event.line, group: group)
            if let group { groups[group]?.session = key }
        case .sessionDeactivated:
            guard let key = sessionKey(event), let session = sessions.removeValue(forKey: key) else { return }
            if let group = session.group { groups[group]?.session = nil }
        case .portFree: if let port = event.details.number(.port) { ports[port] = nil }
        default: break
        }
    }

    private mutating func noteReset(_ event: borrowing JournalEvent) {
        for call in line(event.line).calls where calls[call]?.ended == nil {
            calls[call]?.resetAt = event.time
            calls[call]?.countsAsActive = false
            lines[event.line]?.active.remove(call)
        }
    }

    private mutating func noteAccepted(_ event: borrowing JournalEvent) {
        while let oldest = acceptedOrder.first, oldest.until <= event.time {
            _ = acceptedOrder.popFirst()
            if let action = actions[oldest.action], !action.isPerformed || action.call.flatMap({ calls[$0] }) == nil { actions[oldest.action] = nil }
        }
        var earlier: [JournalEvent.Value] = []
        for (kind, action) in event.listedActions {
            actions[action] = Action(kind: kind, acceptedAt: event.time, acceptedSequence: event.sequence, earlier: earlier)
            acceptedOrder.append((action, event.time + ActionLimits.longest + .seconds(60)))
            earlier.append(action)
        }
    }

    /// Which sets of its line the call belongs to now; most events change nothing in that.
    private mutating func refreshSets(_ call: CallUUID) {
        let (isRunning, isActive) = (current.runningSince != nil, current.isActive)
        if isKnown, isRunning == current.countsAsRunning, isActive == current.countsAsActive { return }
        (current.countsAsRunning, current.countsAsActive) = (isRunning, isActive)
        lines[current.line, default: Line()].note(call, isRunning: isRunning, isActive: isActive)
    }

    /// Forgets a call that is over.
    mutating func drop(_ call: CallUUID) {
        guard let facts = calls.removeValue(forKey: call) else { return }
        lines[facts.line]?.calls.remove(call)
        lines[facts.line]?.running.remove(call)
        lines[facts.line]?.active.remove(call)
        leaveGroup(call, facts.group)
        for action in facts.openActions { actions[action] = nil }
    }
}

// MARK: - Events of one call

extension AuditFacts {
    private mutating func noteCall(_ event: borrowing JournalEvent, _ call: CallUUID) {
        switch event.kind {
        case .reportIncoming: (current.direction, current.report) = (.incoming, .pending)
        case .reportIncomingAccepted: current.report = .accepted
        case .reportIncomingRefused: current.report = .refused(error: event.details.text(.error) ?? .empty)
        case .reportConnecting: current.connectingReports += 1
        case .reportConnected: current.connectedReports += 1
        case .reportEnded: current.endedReports += 1
        case .callEnded: current.ended = current.ended ?? event.time
        case .actionFulfilled, .actionFailed, .actionTimedOut: noteCompletion(event, call)
        case .mediaRefused: current.mediaRefused = true
        case .redirectionLookup: current.noteLookup(event)
        case .inviteUnanswered: current.noteUnanswered(event.details.number(.status))
        default:
            if event.kind.isPerform { notePerform(event, call) } else { noteMedia(event, call) }
        }
    }

    private mutating func notePerform(_ event: borrowing JournalEvent, _ call: CallUUID) {
        switch event.kind {
        case .performStart: (current.direction, current.beganStart) = (.outgoing, true)
        case .performAnswer: current.beganAnswer = true
        case .performEnd: current.beganEnd = true
        case .performHeld: current.wantsHold = event.details.flag(.on)
        default: break
        }
        guard let id = event.action, var action = actions[id] else { return }
        (action.isPerformed, action.call, action.on) = (true, call, event.details.flag(.on))
        action.with = event.details.uuid(.with)
        action.created = event.createdAt
        actions[id] = action
        current.openActions.append(id)
    }

    private mutating func noteCompletion(_ event: borrowing JournalEvent, _ call: CallUUID) {
        guard let id = event.action, let action = actions.removeValue(forKey: id) else { return }
        current.openActions.removeAll { $0 == id }
        let succeeded = event.kind == .actionFulfilled
        switch action.kind {
        case .start where succeeded: current.fulfilledStart = true
        case .answer where succeeded: current.fulfilledAnswer = true
        case .start, .answer: current.failedStartOrAnswer = true
        case .end where !succeeded: current.beganEnd = false
        case .held where succeeded: current.isHeld = action.on
        case .held: current.wantsHold = current.isHeld
        case .group where succeeded: move(call, toGroupOf: action.with)
        default: break
        }
    }

    private mutating func noteMedia(_ event: borrowing JournalEvent, _ call: CallUUID) {
        let port = event.details.number(.port)
        switch event.kind {
        case .mediaReserved:
            current.reservations += 1
            guard let port else { return }
            current.ports.append(port)
            ports[port] = Port(owner: call)
        case .mediaConfigured: current.isConfigured = true
        case .mediaOpened: (current.isOpen, current.wasOpened) = (true, true)
        case .mediaStarted: current.runningSince = event.time
        case .mediaStopped: (current.runningSince, current.packets) = (nil, current.packets &+ (event.details.number(.packets) ?? 0))
        case .recordingStarted: current.isRecorded = true
        case .recordingEnded: current.isRecorded = false
        case .mediaClosed: (current.isOpen, current.runningSince) = (false, nil)
        case .mediaReleased:
            current.runningSince = nil
            guard let port else { return }
            current.ports.removeAll { $0 == port }
            ports[port] = Port(owner: nil, released: event.time)
        default: break
        }
    }

    private mutating func move(_ call: CallUUID, toGroupOf other: CallUUID?) {
        let old = current.group
        guard let other else {
            leaveGroup(call, old)
            return current.group = newGroup(of: call)
        }
        guard let target = calls[other]?.group, target != old else { return }
        leaveGroup(call, old)
        groups[target]?.members.insert(call)
        current.group = target
    }

    private mutating func newGroup(of call: CallUUID) -> Int {
        lastGroup += 1
        groups[lastGroup] = Group(members: [call])
        return lastGroup
    }

    private mutating func leaveGroup(_ call: CallUUID, _ group: Int?) {
        guard let group else { return }
        groups[group]?.members.remove(call)
        if groups[group]?.members.isEmpty == true { groups[group] = nil }
    }
}
