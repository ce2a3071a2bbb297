import CallJournal
import CallKit
import Primitives
import SIP

/// Why a leg ends, in SIP's words: what the other side is told when it is our turn to say it.
public struct EndCause: Equatable, Sendable {
    /// The final response while the leg rings.
    public var status: Int
    /// nil: the standard phrase of the status.
    public var phrase: Text?
    /// RFC 3326 values for BYE and CANCEL; in a response only those of Q.850 may stand (RFC 6432 §3).
    public var reasons: [Reason]
    /// Seconds after which it is worth to call again; goes with a final response.
    public var retryAfter: Int?

    public init(status: Int, phrase: Text? = nil, reasons: [Reason], retryAfter: Int? = nil) {
        self.status = status
        self.phrase = phrase
        self.reasons = reasons
        self.retryAfter = retryAfter
    }

    /// The human hung up (mapping O8–O10).
    public static let normalClearing = EndCause(status: 603, reasons: [.q850(16, "Normal call clearing")])
    /// The human does not want the call that rings (mapping I17).
    public static let declined = EndCause(status: 603, reasons: [.q850(21)])
    /// Another device of the line answered (RFC 3326, cause 200).
    public static let answeredElsewhere = EndCause(status: 480, reasons: [.completedElsewhere])
    /// No answer came in time.
    public static let ringTimeout = EndCause(status: 480, reasons: [.sip(408, "Request Timeout"), .q850(19)])
    /// A registered device cannot be reached. Not 503, which would say that all of this gateway cannot be used (RFC 3261 §16.7 item 6).
    public static let subscriberAbsent = EndCause(status: 480, reasons: [.q850(20, "Subscriber absent")])
    /// The ACK of a 200 did not come.
    public static let answerTimeout = EndCause(status: 504, reasons: [.q850(102)])
    /// Media could not be opened or started.
    public static let mediaFailed = EndCause(status: 500, phrase: "Media Failed", reasons: [.q850(41, "media-failed")])
    /// Another program has the port that was drawn; the next call draws another.
    public static func portTaken(retryAfter: Int) -> EndCause {
        EndCause(status: 503, reasons: [.q850(41, "media-port-taken")], retryAfter: retryAfter)
    }
    /// The media range has no free port.
    public static func noPort(retryAfter: Int) -> EndCause {
        EndCause(status: 503, reasons: [.q850(34, "no media port")], retryAfter: retryAfter)
    }
    /// No codec, or no encryption, in common.
    public static let notAcceptable = EndCause(status: 488, reasons: [.q850(65)])
    /// For no cause of its own.
    public static let failed = EndCause(status: 500, reasons: [.q850(41)])
    /// No new calls are taken.
    public static let draining = EndCause(status: 503, reasons: [.q850(41, "Server is shutting down")])
    /// The call has lasted as long as a call may.
    public static let maximumDuration = EndCause(status: 480, reasons: [.q850(102, "Maximum duration")])
    /// No packet came for too long.
    public static let mediaTimeout = EndCause(status: 480, reasons: [.q850(41, "Media timeout")])
    /// The far end knows the dialog no more (481).
    public static let dialogLost = EndCause(status: 500, reasons: [.q850(41, "Dialog lost")])
    /// The far end refused the end of a hold.
    public static let resumeRefused = EndCause(status: 488, reasons: [.q850(65, "Resume refused")])
    /// The gateway that had the call has died.
    public static let gatewayLost = EndCause(status: 500, reasons: [.q850(41, "gateway lost")])
    /// The session was not refreshed (RFC 4028 §10).
    public static let sessionExpired = EndCause(status: 500, reasons: [.sip(408, "Session timer expired")])
    /// The PRACK of a reliable 18x did not come (RFC 3262 §3).
    public static let unacknowledgedProvisional = EndCause(status: 504, reasons: [.q850(102)])
    /// The far end talks with somebody else now.
    public static let transferred = EndCause(status: 480, reasons: [.q850(16, "Transferred")])
    /// Our refresh of the session was refused.
    public static let refreshFailed = EndCause(status: 500, reasons: [.q850(41, "Session refresh failed")])

    /// A far end's final response, as the near side of a bridge gets it; where it names no cause of Q.850, with that of its own status.
    /// A device's 503 is a 500: the near end would leave all of this gateway alone (RFC 3261 §16.7 step 6, RFC 3263 §4.3). That of a trunk
    /// passes, but says no time, and is as good as 500 then (RFC 3261 §21.5.4).
    /// - Parameters:
    ///   - response: nil where none came, and the status is ours.
    ///   - isDevice: it is one that is registered with us, and not a trunk.
    public static func passing(status: Int, _ response: Message?, isDevice: Bool = false) -> EndCause {
        if isDevice, status == 503, response == nil { return subscriberAbsent }
        let near = isDevice && status == 503 ? 500 : StatusTable.passedStatus(status)
        var reasons = response?.reasons ?? []
        if let own = StatusTable.q850(forStatus: status), !reasons.contains(where: { $0.isQ850 && $0.cause != nil }) {
            reasons.removeAll(where: \.isQ850)
            reasons.append(.q850(own))
        }
        return EndCause(
            status: near, phrase: near == status ? response?.reasonPhrase?.printable : nil, reasons: reasons,
            retryAfter: near == status && near != 503 ? response?.retryAfter.map { Int($0) } : nil)
    }

    /// The cause for the other branches of a fork that one of them ended for all (RFC 3326 §3.1).
    package var endingFork: EndCause {
        guard !reasons.contains(where: \.isSIP) else { return self }
        var cause = self
        cause.reasons.insert(.sip(status, phrase ?? Message.reasonPhrase(status)), at: 0)
        return cause
    }

    /// The cause of Q.850, 1 to 127: that of its reasons, or the one that stands for a status among them; nil where none is known.
    public var q850: Int? {
        let known = reasons.first { $0.isQ850 && $0.cause != nil }?.cause
        let cause = known ?? reasons.first { $0.isSIP && $0.cause ?? 0 >= 400 }?.cause.flatMap(StatusTable.q850(forStatus:))
        return cause.flatMap { (1...127).contains($0) ? $0 : nil }
    }

    /// The reasons that may stand in a response.
    public var responseReasons: [Reason] { reasons.filter(\.isQ850) }
}

extension Reason {
    package static func q850(_ cause: Int, _ text: Text? = nil) -> Reason { Reason(protocol: "Q.850", cause: cause, text: text) }
    package static func sip(_ cause: Int, _ text: Text? = nil) -> Reason { Reason(protocol: "SIP", cause: cause, text: text) }
}
