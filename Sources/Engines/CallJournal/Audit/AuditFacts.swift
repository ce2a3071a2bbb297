import Primitives

/// All that the rules may look at: the state before an event. `note` moves it past the event.
final class AuditFacts {
    struct Session {
        let line: Text
        /// The group of the session, if the line has a session per group.
        var group: Group?
    }

    final class Group {
        /// Few, and mostly one.
        fileprivate(set) var members: [CallUUID]
        /// The active session of the group, where a line has one per group.
        fileprivate(set) var session: JournalEvent.Value?
        /// No call was in it of which events are missing.
        fileprivate(set) var isWhole: Bool

        fileprivate init(of call: CallUUID, isWhole: Bool = true) { (members, self.isWhole) = ([call], isWhole) }

        /// Whether one of it is connected and not on hold.
        func isNeeded(by line: Line, besides call: CallUUID? = nil) -> Bool { members.contains { $0 != call && line.isActive($0) } }
    }

    final class Action {
        let kind: ActionClass
        let acceptedAt: Instant
        let acceptedSequence: UInt64
        /// Those before it in its transaction.
        let earlier: ArraySlice<ListedAction>
        var call: CallUUID?
        var created: Instant?
        var isPerformed = false
        var on = false
        var with: CallUUID?

        fileprivate init(_ kind: ActionClass, acceptedBy event: borrowing JournalEvent, after earlier: ArraySlice<ListedAction>) {
            (self.kind, acceptedAt, acceptedSequence, self.earlier) = (kind, event.time, event.sequence, earlier)
        }
    }

    struct Port {
        var owner: CallUUID?
        var released: Instant?
    }

    let options: Audit.Options
    let findings: Findings
    /// The run began before the first event, or the first after a gap.
    var isCut = false
    var calls = IdentityTable<CallFacts>()
    private var lines: [Text: Line] = [:]
    /// Active sessions. The key is the line's number, or the session's id where a line has one per group.
    private(set) var sessions: [JournalEvent.Value: Session] = [:]
    /// Accepted and not complete.
    private(set) var actions = Actions()
    private(set) var ports = IdentityTable<Port>()
    private var acceptedOrder = FIFO<(action: JournalEvent.Value, until: Instant)>()

    /// The state of the event's call; a fresh one when there is none.
    private(set) var current = CallFacts()
    private(set) var isKnown = false
    private let latestMessage = AuditMessage()
    /// The event as a SIP message, unless it is none or a retransmission.
    private(set) var message: AuditMessage?
    /// The event's action, if it is accepted and not complete.
    private(set) var action: Action?

    init(options: Audit.Options, findings: Findings) { (self.options, self.findings) = (options, findings) }

    /// Takes over how the lines of a run are that goes on behind a gap.
    func keepLines(of earlier: AuditFacts) {
        for (number, line) in earlier.lines where line.isConfigured {
            let kept = makeLine(number)
            (kept.isConfigured, kept.sessionPerGroup, kept.isOfApp) = (true, line.sessionPerGroup, line.isOfApp)
        }
    }

    /// Whether all is known that decides over the sessions of the event's call: the line from its beginning on, or every call of the group,
    /// where that has a session of its own.
    func knowsSessions(_ event: borrowing JournalEvent) -> Bool {
        guard isCut else { return true }
        let line = line(event.line)
        if line.isWhole { return true }
        guard line.sessionPerGroup, knowsGroup(on: event.line) else { return false }
        guard let key = sessionKey(event), let session = sessions[key] else { return true }
        return session.group?.isWhole ?? false
    }

    /// Whether it is known how the line has its sessions, and who is in the group of the event's call.
    func knowsGroup(on number: Text) -> Bool {
        let line = line(number)
        return line.isWhole || line.isConfigured && current.group?.isWhole ?? false
    }

    /// The facts of a line; empty for one that the journal has not named.
    func line(_ number: Text) -> Line {
        if let place = current.presence.line, current.line == number { return place }
        return lines[number] ?? Line()
    }

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
        return call.group?.session
    }

    /// Whether a session serves a call that is connected and not on hold.
    func isNeeded(_ key: JournalEvent.Value, besides call: CallUUID? = nil) -> Bool {
        guard let session = sessions[key] else { return false }
        let line = line(session.line)
        return session.group?.isNeeded(by: line, besides: call) ?? line.isActive(besides: call)
    }
}

// MARK: - Moving past an event

extension AuditFacts {
    /// Puts the event's call before the rules.
    func look(at event: borrowing JournalEvent) {
        message = latestMessage.read(event) ? latestMessage : nil
        action = event.action.flatMap { actions[$0] }
        let known = event.call.flatMap { calls[$0] }
        (isKnown, current) = (known != nil, known ?? CallFacts())
        if current.line.isEmpty, !event.line.isEmpty { (current.line, current.presence.line) = (event.line, nil) }
    }

    /// Notes the rules that the event breaks.
    func judge(_ event: borrowing JournalEvent, by checks: [AuditRule.Check], into violations: inout [Violation]) {
        for index in checks.indices {
            guard let sentence = checks[index].body(event, self) else { continue }
            let rule = checks[index].rule
            let violation = Violation(
                rule: rule.id, level: rule.isAdvice(event, self) ? .advice : .fault, call: event.call, sequence: event.sequence,
                sentence: sentence)
            findings.note(violation)
            violations.append(violation)
        }
    }

    /// True when the event's call is over since this event.
    func note(_ event: borrowing JournalEvent) -> Bool {
        noteSystem(event)
        guard let call = event.call, isKnown || event.beginsFacts(message) else { return false }
        if !isKnown { current.isWhole = message.map { !$0.isSent } ?? (event.kind == .performStart && action != nil) }
        if current.group == nil { current.group = Group(of: call) }
        if let message { current.note(message, of: event) } else { noteCall(event, call) }
        refreshPresence(call)
        let isOver = current.isOver && !current.lingers
        if isOver { current.lingers = true }
        if !isKnown { calls[call] = current }
        return isOver
    }

    private func noteSystem(_ event: borrowing JournalEvent) {
        switch event.kind {
        case .lineConfigured:
            let line = makeLine(event.line)
            (line.isConfigured, line.isWhole, line.sessionPerGroup) = (true, true, event.details.text(.scope) == "perGroup")
            line.isOfApp = event.details.flag(.app)
        case .providerReset: noteReset(event)
        case .transactionAccepted, .systemAction: noteAccepted(event)
        case .sessionActivated:
            guard let key = sessionKey(event) else { return }
            let group = line(event.line).sessionPerGroup ? current.group : nil
            sessions[key] = Session(line: event.line, group: group)
            group?.session = key
        case .sessionDeactivated:
            guard let key = sessionKey(event), let session = sessions.removeValue(forKey: key) else { return }
            session.group?.session = nil
        case .portFree: if let port = event.details.number(.port) { ports[port] = nil }
        default: break
        }
    }

    private func noteReset(_ event: borrowing JournalEvent) {
        let line = line(event.line)
        for call in line.calls {
            let facts = calls[call]
            guard facts?.ended == nil else { continue }
            facts?.resetAt = event.time
            facts?.presence.isActive = false
            line.setInactive(call)
        }
    }

    private func noteAccepted(_ event: borrowing JournalEvent) {
        // Actions that are complete wait for nothing.
        while let oldest = acceptedOrder.first, oldest.until <= event.time || actions[oldest.action] == nil {
            _ = acceptedOrder.popFirst()
            if let action = actions[oldest.action], !action.isPerformed || action.call.flatMap({ calls[$0] }) == nil {
                actions[oldest.action] = nil
            }
        }
        let list = event.listedActions
        for (index, listed) in list.enumerated() {
            actions[listed.action] = Action(listed.kind, acceptedBy: event, after: list[..<index])
            acceptedOrder.append((listed.action, event.time + ActionLimits.longest + .seconds(60)))
        }
    }

    /// Brings up to date how the call counts at its line now; most events change nothing in that.
    private func refreshPresence(_ call: CallUUID) {
        let (isRunning, isActive) = (current.media.runningSince != nil, current.isActive)
        if isKnown, isRunning == current.presence.isRunning, isActive == current.presence.isActive { return }
        let line = current.presence.line ?? makeLine(current.line)
        line.note(call, isRunning: isRunning, isActive: isActive)
        (current.presence.line, current.presence.isRunning, current.presence.isActive) = (line, isRunning, isActive)
    }

    private func makeLine(_ number: Text) -> Line {
        if let line = lines[number] { return line }
        let line = Line()
        lines[number] = line
        return line
    }

    /// Forgets a call that is over.
    func drop(_ call: CallUUID) {
        guard let facts = calls.removeValue(forKey: call) else { return }
        lines[facts.line]?.remove(call)
        leave(facts.group, call)
        for action in facts.actions.open { actions[action] = nil }
    }
}

// MARK: - Events of one call

extension AuditFacts {
    private func noteCall(_ event: borrowing JournalEvent, _ call: CallUUID) {
        switch event.kind {
        case .reportIncoming:
            current.direction = .incoming
            if current.reports.incoming != .accepted { current.reports.incoming = .pending }
        case .reportIncomingAccepted: current.reports.incoming = .accepted
        case .reportIncomingRefused where current.reports.incoming == .accepted: break   // the call that is there goes on
        case .reportIncomingRefused: current.reports.incoming = .refused(error: event.details.text(.error) ?? .empty)
        case .reportConnecting: current.reports.connecting += 1
        case .reportConnected: current.reports.connected += 1
        case .reportEnded: current.reports.ended += 1
        case .callEnded:
            current.ended = current.ended ?? event.time
            // Its conversation goes on without it, though its INVITE may still be under way.
            leave(current.group, call)
        case .actionFulfilled, .actionFailed, .actionTimedOut: noteCompletion(event, call)
        case .mediaRefused: noteRefusal(event)
        case .callAdopted: current.actions.adopts = event.details.text(.callid)?.detached
        case .redirectionLookup: current.noteLookup(event)
        case .inviteUnanswered: current.noteUnanswered(event.details.number(.status))
        default:
            if event.kind.isPerform { notePerform(event, call) } else { noteMedia(event, call) }
        }
    }

    private func notePerform(_ event: borrowing JournalEvent, _ call: CallUUID) {
        switch event.kind {
        case .performStart: (current.direction, current.actions.beganStart) = (.outgoing, true)
        case .performAnswer: current.actions.beganAnswer = true
        case .performEnd: current.actions.beganEnd = true
        case .performHeld: current.actions.wantsHold = event.details.flag(.on)
        default: break
        }
        guard let id = event.action, let action else { return }
        (action.isPerformed, action.call, action.on) = (true, call, event.details.flag(.on))
        (action.with, action.created) = (event.details.uuid(.with), event.createdAt)
        current.actions.open.append(id)
    }

    private func noteCompletion(_ event: borrowing JournalEvent, _ call: CallUUID) {
        guard let id = event.action, let action = actions.removeValue(forKey: id) else { return }
        current.actions.open.removeAll { $0 == id }
        let succeeded = event.kind == .actionFulfilled
        switch action.kind {
        case .start where succeeded: break
        case .answer where succeeded: current.actions.fulfilledAnswer = true
        case .start, .answer: current.actions.failedStartOrAnswer = true
        case .end where !succeeded: current.actions.beganEnd = false
        case .held where succeeded: current.actions.isHeld = action.on
        case .held: current.actions.wantsHold = current.actions.isHeld
        case .group where succeeded: move(call, toGroupOf: action.with)
        default: break
        }
    }

    /// With a port it is one that another program has, and the call goes on with the next.
    private func noteRefusal(_ event: borrowing JournalEvent) {
        if let port = event.details.number(.port) { current.media.takenPorts.append(port) } else { current.media.isRefused = true }
    }

    private func noteMedia(_ event: borrowing JournalEvent, _ call: CallUUID) {
        let port = event.details.number(.port)
        switch event.kind {
        case .mediaReserved:
            guard let port else { return }
            current.media.ports.append(port)
            ports[port] = Port(owner: call)
        case .mediaConfigured: current.media.isConfigured = true
        case .mediaOpened: (current.media.isOpen, current.media.openedAt) = (true, current.media.openedAt ?? event.time)
        case .mediaStarted: current.media.runningSince = event.time
        case .mediaArmed: current.media.isArmed = true
        case .mediaTaken: current.media.isArmed = false
        case .mediaStopped:
            (current.media.runningSince, current.media.packets) = (nil, current.media.packets &+ (event.details.number(.packets) ?? 0))
        case .recordingStarted: current.media.isRecorded = true
        case .recordingEnded: current.media.isRecorded = false
        case .streamStarted: (current.media.isStreamed, current.media.isStreamPaused) = (true, false)
        case .streamPaused: current.media.isStreamPaused = event.details.flag(.on)
        case .streamStopped: current.media.isStreamed = false
        case .menuEntered: current.application.wasInMenu = true
        case .queueEntered: current.application.queue = .waiting
        case .queueOffered: current.application.queue = .offered
        case .queueAnswered: current.application.queue = .answered
        case .queueLeft, .transferred: current.application.queue = .none
        case .remoteHold: current.media.isHeldByRemote = event.details.flag(.on)
        case .mediaClosed: (current.media.isOpen, current.media.runningSince) = (false, nil)
        case .mediaReleased:
            current.media.runningSince = nil
            guard let port else { return }
            current.media.ports.removeAll { $0 == port }
            ports[port] = Port(owner: nil, released: event.time)
        default: break
        }
    }

    private func move(_ call: CallUUID, toGroupOf other: CallUUID?) {
        let old = current.group
        guard let other else {
            // A call that is alone already stays in its group, with its session.
            if let old, old.isWhole, old.members == [call] { return }
            leave(old, call)
            return current.group = Group(of: call)
        }
        guard let joined = calls[other], let target = joined.group else {
            guard isCut else { return }
            leave(old, call)
            return current.group = Group(of: call, isWhole: false)
        }
        guard target !== old else { return }
        leave(old, call)
        target.members.append(call)
        current.group = target
        if isCut, !(current.hasBegun && joined.hasBegun) { target.isWhole = false }
    }

    private func leave(_ group: Group?, _ call: CallUUID) { group?.members.removeAll { $0 == call } }
}
