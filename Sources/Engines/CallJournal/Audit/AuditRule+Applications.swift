import Primitives

// Rules about queues and menus.
extension AuditRule {
    /// A caller enters a queue once it is answered, and has one place at a time. Members ring and answer for nobody who has none. The caller
    /// is connected with a leg of the queue only after `queue.answered`, and with one that was answered.
    static let r19 = AuditRule(
        .R19, "a queue rings and connects for callers that wait in it, and connects nobody before a member has answered",
        on: [.queueEntered, .queueOffered, .queueAnswered, .queueLeft, .transferred],
        check: { event, facts in
            guard facts.isKnown else { return nil }
            let call = facts.current, queue = call.application.queue, waits = queue == .waiting || queue == .offered
            switch event.kind {
            case .queueEntered:
                if waits { return "the caller waits already" }
                return call.isAnswered ? nil : "the caller is answered before it waits"
            case .queueOffered: return waits ? nil : "members ring for a caller that waits"
            case .queueAnswered: return queue == .offered ? nil : "a member answers that rang for a caller that waits"
            case .queueLeft: return waits || event.details.text(.cause) == "full" ? nil : "only who waits can leave"
            default:
                guard queue != .none, let other = event.details.uuid(.with) else { return nil }
                if waits { return "queue.answered comes before the caller is connected" }
                return facts.calls[other].map(\.isAnswered) ?? true ? nil : "the member has answered before the caller is connected"
            }
        })

    /// A menu begins, and so its prompt, when the call is answered; digits lead somewhere only in a menu.
    static let r20 = AuditRule(
        .R20, "a menu begins after the answer, and only who is in it chooses", on: [.menuEntered, .menuChoice, .menuFailed],
        check: { event, facts in
            guard facts.isKnown else { return nil }
            let call = facts.current
            guard event.kind == .menuEntered else { return call.application.wasInMenu ? nil : "menu.entered comes before" }
            return call.isAnswered ? nil : "the call is answered before its menu begins"
        })
}
