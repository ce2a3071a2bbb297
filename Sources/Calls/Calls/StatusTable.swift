import CallJournal
import CallKit
import Primitives
import SIP

/// SIP ⇄ CallKit ⇄ Q.850, row by row.
///
/// One function a table: a status or a `Reason` becomes an ended reason, a refused report becomes a status, a status a Q.850 cause and
/// back.
public enum StatusTable {
    /// Gives the reason for the end of an outgoing call that got a final response.
    ///
    /// - Parameter sawProvisional: a 101–199 came before; a time-out after ringing is nobody's failure.
    public static func endedReason(status: Int, sawProvisional: Bool) -> CXCallEndedReason {
        switch status {
        case 486, 600: .unanswered
        case 408: sawProvisional ? .unanswered : .failed
        case 480, 487: .unanswered
        case 603, 607: .remoteEnded
        default: .failed
        }
    }

    /// Gives the reason for the end of a ringing call that the caller cancelled (RFC 3326 §3.1, RFC 8197 §4).
    public static func endedReason(cancel reasons: [Reason]) -> CXCallEndedReason {
        for reason in reasons {
            switch (reason.isSIP, reason.cause ?? 0) {
            case (true, 200): return .answeredElsewhere
            case (true, 600), (true, 603), (true, 607), (true, 608): return .declinedElsewhere
            case (true, 408), (true, 480), (true, 487): return .unanswered
            case (false, 18), (false, 19), (false, 102): return .unanswered
            default: continue
            }
        }
        return .remoteEnded
    }

    /// Gives the reason for the end of a confirmed call that the far end took down.
    public static func endedReason(bye reasons: [Reason]) -> CXCallEndedReason {
        for reason in reasons {
            switch (reason.isSIP, reason.cause ?? 0) {
            case (true, 200): return .answeredElsewhere
            case (true, 408), (true, 500...599): return .failed
            case (false, 34), (false, 38), (false, 41), (false, 42), (false, 44), (false, 47), (false, 102), (false, 127): return .failed
            default: continue
            }
        }
        return .remoteEnded
    }

    /// The answer to an INVITE whose report the system refused.
    public static func refusal(of error: any Error) -> EndCause {
        if let incoming = error as? CXErrorCodeIncomingCallError { return refusal(of: incoming.code) }
        if let transaction = error as? CXErrorCodeRequestTransactionError, transaction.code == .maximumCallGroupsReached {
            return EndCause(status: 486, reasons: [.q850(17)])
        }
        return EndCause(status: 500, reasons: [.q850(41)])
    }

    static func refusal(of code: CXErrorCodeIncomingCallError.Code) -> EndCause {
        switch code {
        case .unentitled: EndCause(status: 403, reasons: [.q850(21)])
        case .callUUIDAlreadyExists: EndCause(status: 482, reasons: [])
        case .filteredByDoNotDisturb: EndCause(status: 480, phrase: "Do Not Disturb", reasons: [.q850(31)])
        case .filteredByBlockList: EndCause(status: 607, phrase: "Unwanted", reasons: [.q850(21)])
        case .filteredDuringRestrictedSharingMode, .callIsProtected, .filteredBySensitiveParticipants:
            EndCause(status: 480, reasons: [.q850(31)])
        case .unknown: EndCause(status: 500, reasons: [.q850(41)])
        }
    }

    /// The refusal of an incoming call that the application itself reported ended (mapping §5b).
    public static func cause(of reason: CXCallEndedReason) -> EndCause {
        switch reason {
        case .failed: .failed
        case .remoteEnded: EndCause(status: 480, reasons: [.q850(31)])
        case .unanswered: EndCause(status: 480, reasons: [.sip(408, "Request Timeout"), .q850(19)])
        case .answeredElsewhere: .answeredElsewhere
        case .declinedElsewhere: EndCause(status: 603, reasons: [.q850(21)])
        }
    }

    /// The far end's status as the near end may see it: what concerns only our own hop does not pass.
    public static func passedStatus(_ status: Int) -> Int {
        switch status {
        case 401, 407: 403
        case 300..<400, 430: 480
        case 415: 488
        // Headers that these must carry (Allow, Unsupported, Min-SE) are of that hop, too.
        case 405, 416, 420...423, 481...483, 491, 494, 505, 513: 500
        case 400..<700: status
        default: 500
        }
    }

    /// RFC 3398 §8.2.6.1, with 607 and 608 added; nil where no cause is defined.
    public static func q850(forStatus status: Int) -> Int? {
        switch status {
        case 400, 481, 500, 503: 41
        case 401, 402, 403, 407, 603, 607, 608: 21
        case 404, 485, 604: 1
        case 405: 63
        case 406, 415, 501: 79
        case 408, 504: 102
        case 410: 22
        case 413, 414, 416, 420, 421, 423, 513: 127
        case 480: 18
        case 482, 483: 25
        case 484: 28
        case 486, 600: 17
        case 487: nil
        case 488, 606: 65
        case 502: 38
        default: 31
        }
    }

    /// RFC 3398 §7.2.4.1.
    public static func status(forQ850 cause: Int) -> Int {
        switch cause {
        case 1, 2, 3, 26: 404
        case 17: 486
        case 18: 408
        case 19, 20, 31: 480
        case 21: 403
        case 22, 23: 410
        case 27: 502
        case 28: 484
        case 29, 79: 501
        case 34, 38, 41, 42, 47, 58, 88: 503
        case 55, 57, 87: 403
        case 65, 70: 488
        case 102: 504
        default: 500
        }
    }
}
