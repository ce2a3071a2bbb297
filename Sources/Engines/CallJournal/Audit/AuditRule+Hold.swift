import Primitives

// Rules about hold.
extension AuditRule {
    /// `perform.held(true)` is fulfilled after the media was stopped, and it does not start again before `perform.held(false)`.
    static let r14 = AuditRule(
        .R14, "hold stops the media before it is fulfilled, and nothing starts it before the resume",
        on: [.actionFulfilled, .mediaStarted],
        check: { event, facts in
            if event.kind == .mediaStarted { return facts.current.actions.wantsHold ? "the call is on hold: no media" : nil }
            guard let action = facts.action, action.kind == .held, action.on else { return nil }
            return facts.current.media.runningSince != nil ? "hold stops the media before it is fulfilled" : nil
        })

    /// CallKit's `isOnHold`, where an event tells it, is what the last fulfilled `perform.held` made it.
    static let r15 = AuditRule(
        .R15, "remote hold never changes isOnHold", on: [.remoteHold, .reportUpdated],
        check: { event, facts in
            guard let flag = event.details.number(.onHold) else { return nil }
            return (flag != 0) == facts.current.actions.isHeld ? nil : "isOnHold must stay \(facts.current.actions.isHeld)"
        })

    /// Two calls of a line run together only in one group, if the line has one audio session.
    static let r16 = AuditRule(
        .R16, "two calls of a line run together only in one group", on: [.mediaStarted],
        check: { event, facts in
            let line = facts.line(event.line)
            guard !line.sessionPerGroup else { return nil }
            let others = line.running.filter { $0 != event.call && facts.calls[$0]?.group !== facts.current.group }
            return others.isEmpty ? nil : "another call of the line runs and is not in its group"
        })
}
