import Primitives
import SIP

// Why a call failed, or what was wrong with it, in words.
extension CallDetailRecord {
    /// It was not answered, or it was and something was wrong with it.
    public var isTroubled: Bool { disposition != .up && trouble != nil }

    /// The failure in a few words, without a full stop; nil where nothing failed.
    public var trouble: String? {
        switch disposition {
        case .up, .elsewhere: nil
        case .answered: conversationTrouble
        case .cutOff: cutWords
        default: failure
        }
    }

    /// The trouble, else who ended the call, else what it does now; and the rules by which an app may do better.
    public var reason: String {
        let advice = legs.flatMap(\.advice).reduce(into: [String]()) { if !$0.contains($1.description) { $0.append($1.description) } }
        return verdict + (advice.isEmpty ? "" : "; advice: \(advice.joined(separator: ", "))")
    }

    private var verdict: String {
        if let trouble { return trouble }
        if disposition == .elsewhere { return "another device answered" }
        if disposition == .up { return first.isConversation ? "goes on" : first.rang == nil ? "is being set up" : "rings" }
        switch endedBy {
        case .caller: return "the caller hung up"
        case .callee: return "the callee hung up"
        case .gateway, nil: return "the gateway hung up"
        }
    }

    private var cutWords: String {
        if first.isPartial { return "its beginning is missing in the journal" }
        if first.hasGap { return "events are missing in the journal" }
        return first.cut == .runEnded ? "the gateway was killed meanwhile" : "the journal ends before the call does"
    }

    // MARK: Not answered

    private var failure: String {
        if let own = first.ownFailure { return own }
        switch disposition {
        case .cancelled where first.course.isCancelled && first.course.isEndedByFarEnd: return "the caller gave up" + ringing
        case .cancelled where first.course.isCancelled: return "we gave up" + ringing
        case .cancelled where first.response == nil: return "it was given up"
        case .missed: return branchFailure ?? "nobody answered" + ringing
        default: return branchFailure ?? first.finalWords ?? first.endWords
        }
    }

    /// `, after 12.0 s of ringing`
    private var ringing: String {
        guard let rang = first.rang else { return " before it rang" }
        return " after \(((first.ended ?? first.last).time - rang.time).tenths) s of ringing"
    }

    /// The failures of the branches that the gateway called for it.
    private var branchFailure: String? {
        let told = branches.compactMap { leg in
            (leg.ownFailure ?? leg.finalWords).map { "\(leg.to?.shortAddress ?? leg.line.description): \($0)" }
        }
        guard !told.isEmpty else { return nil }
        return told.prefix(3).joined(separator: "; ") + (told.count > 3 ? "; and \(told.count - 3) more" : "")
    }

    // MARK: Answered

    private var conversationTrouble: String? {
        // Both legs of a bridge may say the same.
        let found = (silences + legs.flatMap(\.endTroubles)).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return found.isEmpty ? nil : found.joined(separator: "; ")
    }

    private var silences: [String] {
        [("caller", heardCaller), ("callee", heardCallee)].compactMap { name, heard in
            switch heard {
            case .silent: "the \(name) was not heard: packets of silence"
            case .nothing: "the \(name) was not heard: no packets"
            default: nil
            }
        }
    }
}

extension LegRecord {
    /// The failure in the words of the gateway itself.
    fileprivate var ownFailure: String? {
        if let refusal = ending.refusal { return refusal.description }
        if let error = ending.reportError { return Self.words(ofReportError: error) }
        if let cause = ending.mediaRefusal { return Self.words(ofMediaRefusal: cause) }
        if let action = course.timedOut {
            return action == "answer" ? "the answer was not completed in time" : "\(action) was not completed in time"
        }
        guard let cause = ending.pushCause else { return nil }
        return cause == "timeout" ? "the device did not wake in time" : "the device was not woken: \(cause)"
    }

    /// `486 Busy Here (Q.850 17: user busy)`, or that nothing came.
    fileprivate var finalWords: String? {
        guard let response else { return nil }
        if response.sender == .nobody {
            let place = remote.map { " from \($0)" } ?? ""
            return response.status == 408 ? "no answer\(place)" : "nothing can be sent to \(remote?.description ?? "the far end")"
        }
        let phrase = response.phrase ?? Message.reasonPhrase(response.status)
        return "\(response.status) \(phrase)" + (causeWords.map { " (\($0))" } ?? "")
    }

    /// The first cause that says more than that all was as usual.
    private var causeWords: String? {
        for reason in reasons {
            guard let cause = reason.cause else { continue }
            if reason.isQ850, ![16, 31].contains(cause) { return "Q.850 \(cause): \(reason.text?.description ?? Q850.words(cause))" }
            if reason.isSIP, cause != 200 { return reason.text?.description ?? "\(cause) \(Message.reasonPhrase(cause))" }
        }
        return nil
    }

    fileprivate var endWords: String {
        switch ending.reason {
        case "reset": "CallKit was reset"
        case "endTimedOut", "startTimedOut", "answerFailed", "startFailed": "an action of CallKit failed (\(ending.reason ?? ""))"
        default: causeWords ?? "it failed, and the journal does not say why"
        }
    }

    /// Faults at the end of a conversation.
    fileprivate var endTroubles: [String] {
        guard isConversation || !violations.isEmpty else { return [] }
        var found: [String] = []
        if let cause = ending.mediaRefusal { found.append(Self.words(ofMediaRefusal: cause)) }
        if direction == .incoming, !course.isAcknowledged, ending.reason == "failed" {
            found.append("the 200 was never acknowledged")
        } else if let causeWords {
            found.append("ended by \(course.isEndedByFarEnd ? "the far end" : "the gateway"): \(causeWords)")
        } else if ending.reason == "failed" || ending.reason == "reset" {
            found.append(endWords)
        }
        if course.isByeUnanswered { found.append("our BYE was not answered") }
        if !violations.isEmpty { found.append("broke \(violations.map(\.description).joined(separator: ", "))") }
        return found
    }

    private static func words(ofReportError name: Text) -> String {
        switch name {
        case "filteredByDoNotDisturb": RequestRefusal.doNotDisturb.words.description
        case "filteredByBlockList": RequestRefusal.blocked.words.description
        case "maximumCallGroupsReached": RequestRefusal.lineFull.words.description
        case "unentitled": "the line may not take calls"
        default: "the line's system refused it (\(name))"
        }
    }

    private static func words(ofMediaRefusal cause: Text) -> String {
        switch cause {
        case "no-port", "ports-exhausted": RequestRefusal.ports.words.description
        case "codec": "no codec in common, or encryption that one side demands"
        case "bind", "media-failed": "the media port could not be opened"
        default: "no media: \(cause)"
        }
    }
}

extension Text {
    /// `1001@example.test` of an address as `"Alice" <sip:1001@example.test>`; what is none, as it is.
    public var shortAddress: String {
        guard let uri = (try? NameAddress(parsing: self))?.uri, !uri.host.isEmpty else { return description }
        let port = uri.port.map { ":\($0)" } ?? ""
        return (uri.user.map { "\($0)@" } ?? "") + uri.host.description + port
    }
}

extension Duration {
    /// Seconds with one decimal.
    fileprivate var tenths: String {
        let tenths = wholeMilliseconds / 100
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// The causes of ITU-T Q.850 that SIP carries, in its words.
enum Q850 {
    static func words(_ cause: Int) -> String {
        let words: [Int: String] = [
            1: "unallocated number", 3: "no route to destination", 16: "normal call clearing", 17: "user busy", 18: "no user responding",
            19: "no answer from user", 20: "subscriber absent", 21: "call rejected", 22: "number changed", 25: "exchange routing error",
            27: "destination out of order", 28: "invalid number format", 31: "normal, unspecified", 34: "no circuit or channel available",
            38: "network out of order", 41: "temporary failure", 42: "switching equipment congestion", 47: "resource unavailable",
            55: "incoming calls barred", 57: "bearer capability not authorized", 58: "bearer capability not available",
            63: "service or option not available", 65: "bearer capability not implemented", 79: "service or option not implemented",
            87: "user not member of closed group", 88: "incompatible destination", 102: "recovery on timer expiry",
            127: "interworking, unspecified",
        ]
        return words[cause] ?? "cause \(cause)"
    }
}
