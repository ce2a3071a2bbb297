import Primitives
import SIP

// Rules about how a call ends.
extension AuditRule {
    /// BYE, CANCEL and a final refusal of the INVITE need a reason in the journal: `perform.end`, `report.ended`, a reset, a failed answer
    /// or start, refused media, an end by the far end, or (refusal) a call that was not reported. The dialogs of lost forks are exempt, and
    /// those of servers that we went on without because their INVITE had no answer in time (`sip.unanswered`).
    static let r8 = AuditRule(
        .R8, "we end a dialog only for a reason that the journal shows before", on: [.sipSent],
        check: { _, facts in
            let call = facts.current
            guard let message = facts.message, !call.isLostFork(message) else { return nil }
            let isRefusal = message.isInviteResponse(300..<700) && call.isOfInvite(message) && call.sentOK == nil
            guard message.isRequest(.bye) || message.isRequest(.cancel) || isRefusal else { return nil }
            if call.isEnding || call.media.isRefused || isRefusal && call.reports.incoming == .none { return nil }
            return "\(message.status.map(String.init) ?? message.method.description) needs perform.end or report.ended"
        })

    /// After the far end ended a call (BYE, CANCEL, a final error) there is exactly one `report.ended` and no `perform.end`, unless that
    /// action was accepted before, or a failed action had ended the call. While the place is looked for that a 3xx names (`sip.lookup`) the
    /// user may end the call; if nobody does, its end is reported all the same. An app may end on its own line what the far end has ended: it
    /// sends nothing, though the recents have it as the user's doing.
    static let r9 = AuditRule(
        .R9, "a remote end is reported exactly once and not performed", on: [.performEnd, .reportEnded, .callEnded],
        check: { event, facts in
            let call = facts.current
            switch event.kind {
            case .performEnd:
                guard let end = call.remoteEnd, let accepted = facts.action?.acceptedSequence else { return nil }
                return accepted > end ? "the far end had ended the call: report its end, and ask for none (no perform.end)" : nil
            case .reportEnded:
                return call.reports.ended > 0 && call.ended == nil ? "the end is reported once" : nil
            default:
                let isOurs =
                    call.actions.beganEnd || call.actions.failedStartOrAnswer || call.resetAt != nil || call.isRefused || call.ended != nil
                return (call.remoteEnd != nil || call.retry.isLooking) && call.reports.ended == 0 && !isOurs
                    ? "the far end ended the call: report.ended must come first" : nil
            }
        },
        isAdvice: { event, facts in event.kind == .performEnd && facts.line(event.line).isOfApp })

    /// A call that was accepted or started ends once with `call.ended`. After that nothing happens to it but the rest of SIP, completions
    /// of actions, deactivation, closing and release. (What media must not do then is M3 and M4, what SIP must not do is R3 and R6, what
    /// the far end ended is R9.)
    static let r10 = AuditRule(
        .R10, "every call ends exactly once, and ended is absorbing",
        on: .performs + [
            .callEnded, .reportIncoming, .reportIncomingAccepted, .reportIncomingRefused, .reportConnecting, .reportConnected,
            .reportUpdated,
            .reportEnded, .remoteHold, .dtmfReceived, .earlyMediaIgnored,
        ],
        check: { event, facts in
            let call = facts.current
            guard call.ended != nil, !(event.kind == .performEnd && call.remoteEnd != nil), call.resetAt == nil || event.kind == .callEnded
            else { return nil }
            return event.kind == .callEnded ? "a call ends once" : "the call had ended: no \(event.kind.rawValue)"
        },
        closing: { call, _ in
            let existed = call.reports.incoming == .accepted || call.actions.beganStart
            return existed && call.ended == nil && call.resetAt == nil ? "call.ended must come" : nil
        })

    /// As callee, BYE waits for the ACK or for 64·T1 after the 200 (RFC 3261 §15).
    static let r11 = AuditRule(
        .R11, "a callee sends BYE after the ACK or 64·T1", on: [.sipSent],
        check: { event, facts in
            let call = facts.current
            guard let message = facts.message, message.isRequest(.bye), call.direction == .incoming else { return nil }
            guard let answered = call.sentOK else { return "a callee that has not answered has nothing to BYE" }
            return call.receivedACK || event.time >= answered + facts.options.t1 * 64 ? nil : "BYE must wait for the ACK"
        })

    /// CANCEL needs a provisional response to the INVITE that it cancels (RFC 3261 §9.1).
    static let r12 = AuditRule(
        .R12, "no CANCEL before a provisional response", on: [.sipSent],
        check: { _, facts in
            guard let message = facts.message, message.isRequest(.cancel) else { return nil }
            return facts.current.mayCancel(message) ? nil : "CANCEL must wait for a provisional response"
        })

    /// After `report.incoming.error` the INVITE is refused with a status that fits the error (mapping §4), or with 487 when it was
    /// cancelled; nothing is performed.
    static let r13 = AuditRule(
        .R13, "a refused report gets a fitting status and performs nothing", on: .performs + [.sipSent],
        check: { event, facts in
            let call = facts.current
            guard case .refused(let error) = call.reports.incoming else { return nil }
            guard event.kind == .sipSent else { return "the report was refused: nothing is performed" }
            guard let message = facts.message, message.isInviteResponse(300..<700), let status = message.status else { return nil }
            if status == 487, call.receivedCancel { return nil }
            let allowed = RefusalStatus.allowed(for: error)
            return allowed.contains(status) ? nil : "\(error) is answered with one of \(allowed)"
        },
        closing: { call, _ in call.isRefused && call.sentFinal == nil ? "the refused INVITE needs a final response" : nil })

    /// A reset ends every live call of the line within the limit and with a message that ends its dialog (one that the far end
    /// sent counts, and so does an INVITE that got no response at all); nothing is performed for it any more.
    static let r17 = AuditRule(
        .R17, "a reset ends every call of the line in time, with a SIP message, and nothing is performed any more",
        on: .performs + [.callEnded],
        check: { event, facts in
            guard let reset = facts.current.resetAt else { return nil }
            if event.kind.isPerform { return "the provider was reset: no \(event.kind.rawValue)" }
            return event.time > reset + facts.options.resetLimit ? "the reset must end the call in time" : nil
        },
        closing: { call, _ in
            guard call.resetAt != nil else { return nil }
            if call.ended == nil { return "the reset must end the call" }
            return call.isSignalled ? nil : "the reset must end the dialog"
        })

    /// A Reason header in a response that we send carries Q.850 values only (RFC 6432 §3).
    static let r18 = AuditRule(
        .R18, "Reason in a response is Q.850", on: [.sipSent],
        check: { event, facts in
            guard facts.message?.status != nil, let reason = event.details.text(.reason) else { return nil }
            return ReasonHeader.protocols(of: reason).allSatisfy { $0.equalsIgnoringCase("Q.850") }
                ? nil : "a response carries Q.850 reasons only"
        })
}

/// The final statuses that fit an error of an incoming report (mapping §4, defaults and alternatives).
enum RefusalStatus {
    static func allowed(for error: Text) -> [Int64] {
        switch error {
        case "filteredByDoNotDisturb": [480, 486, 600, 603]
        case "filteredByBlockList": [403, 480, 603, 607, 608]
        case "callUUIDAlreadyExists": [482]
        case "unentitled": [403, 404]
        case "maximumCallGroupsReached": [486, 600]
        case "filteredDuringRestrictedSharingMode", "callIsProtected", "filteredBySensitiveParticipants": [480]
        default: [500, 503]
        }
    }
}

enum ReasonHeader {
    /// The protocol of each value: what stands before the first semicolon. Commas inside quoted text do not separate.
    static func protocols(of header: Text) -> [Text] {
        var values: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in header.bytes {
            if byte == 0x2C, !isQuoted { values.append([]); continue }
            if byte == 0x22, !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == 0x5C && !isEscaped
            values[values.count - 1].append(byte)
        }
        return values.map { Text($0.prefix { $0 != 0x3B }).trimmed }
    }
}
