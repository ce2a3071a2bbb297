import Primitives
import SIP

// Rules about how a call comes into being and how it is answered or connected.
extension AuditRule {
    /// At `report.incoming`: exactly one INVITE was received for the call since the last refused attempt (a challenge makes a new attempt),
    /// exactly one reservation is held, 100 was sent and no other response before it.
    static let r1 = AuditRule(
        .R1, "an incoming call is reported once, after one INVITE, its 100 and one reservation", on: [.reportIncoming],
        check: { _, facts in
            let call = facts.current
            if call.reports.incoming != .none { return "a call is reported once" }
            if call.invitesReceived != 1 { return "one INVITE must come before the report, not \(call.invitesReceived)" }
            if !call.provisional.sentTrying || call.provisional.sentEarly { return "100 must be sent before the report, and nothing else" }
            return call.media.ports.count == 1 ? nil : "one reservation must come before the report, not \(call.media.ports.count)"
        })

    /// 101–199 to the INVITE only after `report.incoming.ok`; after `report.incoming.error` neither these nor a 2xx.
    static let r2 = AuditRule(
        .R2, "180 only after the report was accepted; after a refused report neither 18x nor 2xx", on: [.sipSent],
        check: { _, facts in
            guard let message = facts.message, facts.current.isOfInvite(message) else { return nil }
            if message.isInviteResponse(101..<200) {
                return facts.current.reports.incoming == .accepted ? nil : "\(message.status ?? 0) needs report.incoming.ok"
            }
            guard message.isInviteResponse(200..<300), facts.current.isRefused else { return nil }
            return "the report was refused: no 2xx"
        })

    /// The 2xx to the INVITE that makes the dialog: after `perform.answer`, once, and not after CANCEL, `report.ended` or another end. An
    /// app fulfils no answer before it was sent.
    static let r3 = AuditRule(
        .R3, "one 200 per incoming call, inside perform.answer, and none after CANCEL or the end",
        on: [.sipSent, .actionFulfilled],
        check: { event, facts in
            let call = facts.current
            if event.kind == .actionFulfilled {
                let isEarly = facts.action?.kind == .answer && call.sentOK == nil && !call.isEnding && facts.line(event.line).isOfApp
                return isEarly ? "the 200 must be sent before answer is fulfilled" : nil
            }
            guard let message = facts.message, message.isInviteResponse(200..<300), call.isOfInvite(message), !call.isRefused else {
                return nil
            }
            if !call.actions.beganAnswer { return "200 needs perform.answer" }
            if call.sentOK != nil { return "the INVITE was answered already" }
            return call.isEnding ? "the call was ending: no 200" : nil
        })

    /// `perform.*` only for an action of an accepted or system transaction, once, and after those before it in its list were performed
    /// or done with.
    static let r4 = AuditRule(
        .R4, "only accepted actions are performed, each once, in the order of their transaction", on: .performs,
        check: { _, facts in
            guard let action = facts.action else { return "the action must belong to an accepted transaction" }
            if action.isPerformed { return "an action is performed once" }
            let waiting = action.earlier.contains { facts.actions[$0.action].map { !$0.isPerformed } ?? false }
            return waiting ? "the actions before it in its transaction come first" : nil
        })

    /// Every performed action gets one of fulfilled, failed, timeout; a timeout not before its limit (start 600 s, answer 60 s, others 5 s)
    /// has passed since it was made. When a call ends, the system fails what is outstanding: that may be in the journal or not, but such
    /// an action is not fulfilled.
    static let r5 = AuditRule(
        .R5, "each performed action is fulfilled, failed or timed out exactly once, and timed out not too early", on: .completions,
        check: { event, facts in
            guard let action = facts.action else { return "the action must be accepted and not complete" }
            if event.kind == .actionFulfilled {
                if !action.isPerformed { return "an action is performed before it is fulfilled" }
                return facts.current.ended != nil && action.kind != .end ? "the end of the call failed this action" : nil
            }
            guard event.kind == .actionTimedOut else { return nil }
            let due = (event.createdAt ?? action.created ?? action.acceptedAt) + ActionLimits.limit(of: action.kind)
            return event.time < due ? "\(action.kind) has \(ActionLimits.limit(of: action.kind).components.seconds) s" : nil
        },
        closing: { call, facts in
            let open = call.actions.open.compactMap { facts.actions[$0] }.filter {
                $0.isPerformed && ($0.kind == .end || call.ended == nil)
            }
            guard let action = open.first, call.resetAt == nil else { return nil }
            return "\(action.kind) must be fulfilled, failed or timed out"
        })

    /// The INVITE is sent after `perform.start` and before the call begins to end; another one only after a final response to the one
    /// before (a challenge, a redirection), or after none came (`sip.unanswered`: another server is tried). `perform.start` is fulfilled
    /// after the INVITE was sent.
    static let r6 = AuditRule(
        .R6, "an INVITE is sent inside perform.start, which is fulfilled after it", on: [.sipSent, .actionFulfilled],
        check: { event, facts in
            let call = facts.current
            if event.kind == .actionFulfilled {
                guard facts.action?.kind == .start else { return nil }
                return call.invitesSent == 0 ? "the INVITE must be sent before start is fulfilled" : nil
            }
            guard let message = facts.message, message.isRequest(.invite), !call.isEstablished else { return nil }
            if !call.actions.beganStart { return "an INVITE needs perform.start" }
            if call.invitesSent > 0, call.receivedFinal == nil { return "the INVITE was sent already" }
            return call.ended != nil || call.actions.beganEnd || call.reports.ended > 0 ? "the call was ending: no INVITE" : nil
        })

    /// `report.connecting` at most once and after a 101–199 or 2xx; `report.connected` once and after the 2xx. A call whose media was
    /// opened for a 2xx is reported connected. An app may report on its own line that it connects when it has only begun to: much code
    /// does so as soon as it is asked to start.
    static let r7 = AuditRule(
        .R7, "connecting at most once after a 1xx; connected exactly once after the 2xx",
        on: [.reportConnecting, .reportConnected, .callEnded],
        check: { event, facts in
            let call = facts.current
            switch event.kind {
            case .reportConnecting:
                if call.reports.connecting > 0 { return "connecting is reported once" }
                return call.provisional.receivedEarly || call.receivedOK
                    ? nil : "connecting was reported before the far end rang: no 1xx above 100 has come"
            case .reportConnected:
                if call.reports.connected > 0 { return "connected is reported once" }
                return call.receivedOK ? nil : "connected was reported before the far end answered: no 2xx has come"
            default:
                let isMissing = call.direction == .outgoing && call.media.wasOpened && call.receivedOK && call.reports.connected == 0
                return isMissing ? "the call was answered: connected must be reported" : nil
            }
        },
        isAdvice: { event, facts in
            event.kind == .reportConnecting && facts.current.reports.connecting == 0 && facts.line(event.line).isOfApp
        })

    /// A call of a gateway that has died begins here as one that is started: `call.adopted` comes once, inside `perform.start` and before
    /// the INVITE, which is one in the dialog that it names. No other call begins with an INVITE in a dialog. So all rules about an
    /// outgoing call hold: its media is opened after the 2xx to that INVITE, and closed after its end.
    static let r21 = AuditRule(
        .R21, "a call is adopted once, inside perform.start, and its INVITE is one in the dialog that was adopted",
        on: [.callAdopted, .sipSent],
        check: { event, facts in
            let call = facts.current
            if event.kind == .callAdopted {
                if event.details.text(.callid) == nil || event.details.text(.node) == nil { return "call.adopted names Call-ID and node" }
                if call.actions.adopts != nil { return "a call is adopted once" }
                return call.actions.beganStart && call.invitesSent == 0 ? nil : "a call is adopted between perform.start and its INVITE"
            }
            guard let message = facts.message, message.isRequest(.invite), !call.isEstablished else { return nil }
            guard let adopted = call.actions.adopts else {
                return message.remoteTag == nil ? nil : "an INVITE in the dialog of another gateway needs call.adopted"
            }
            return event.details.text(.callid) == adopted ? nil : "the INVITE must be one in the dialog that was adopted"
        })
}
