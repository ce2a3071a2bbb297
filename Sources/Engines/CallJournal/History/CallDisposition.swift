import Primitives
import SIP

/// The end of a call or a leg, in one word.
public enum CallDisposition: String, CaseIterable, Sendable {
    /// It was answered and is over.
    case answered
    /// It rang, and nobody answered.
    case missed
    /// Whoever called gave up.
    case cancelled
    case busy
    /// The user did not want it.
    case declined
    /// It became no call: 3xx, 4xx.
    case refused
    /// 5xx, no answer from the network, or nothing that could be opened.
    case failed
    /// Another device answered. Of a leg.
    case elsewhere
    /// It goes on.
    case up
    /// Its end is not in the journal: the program was killed, or events are missing.
    case cutOff = "cut-off"
}

extension CallDisposition {
    /// The disposition that a final response other than a 2xx has by itself.
    public init(ofFinal status: Int, hasRung: Bool) {
        switch status {
        case 486, 600: self = .busy
        case 603, 607, 608: self = .declined
        case 487: self = .cancelled
        case 408: self = hasRung ? .missed : .failed
        case 480: self = hasRung ? .missed : .refused
        case 300..<500: self = .refused
        default: self = .failed
        }
    }
}

extension LegRecord {
    public var disposition: CallDisposition {
        guard isOver else { return cut == nil && !hasGap ? .up : .cutOff }
        if isConversation { return .answered }
        // Media that ran was that of a conversation: there is none before an answer.
        if isPartial, response == nil { return sound.wasRunning ? .answered : .cutOff }
        // The end came later than a response, or instead of it.
        switch ending.reason {
        case "answeredElsewhere": return .elsewhere
        case "declinedElsewhere": return .declined
        default: break
        }
        if course.isCancelled { return ending.reason == "unanswered" ? .missed : .cancelled }
        return response.map(disposition) ?? dispositionOfEnd
    }

    /// The status that decided: 200, or that of the final response; nil while there is none, or where none was sent.
    public var status: Int? { answered == nil ? response.flatMap { $0.sender == .nobody ? nil : $0.status } : 200 }

    /// The answer became a conversation. Of an outgoing call CallKit is told so.
    var isConversation: Bool { answered != nil && (direction != .outgoing || course.isConnected || hasGap) }

    private func disposition(_ response: FinalResponse) -> CallDisposition {
        response.status == 480 && !isUnanswered ? .refused : CallDisposition(ofFinal: response.status, hasRung: rang != nil)
    }

    /// Nobody took it, as Q.850 or the system says; of our own calls also where nothing else is said.
    private var isUnanswered: Bool {
        let causes = reasons.filter(\.isQ850).compactMap(\.cause)
        return course.isEndedBySystem || causes.contains { [18, 19, 102].contains($0) } || causes.isEmpty && direction == .outgoing
    }

    private var dispositionOfEnd: CallDisposition {
        switch ending.reason {
        case "unanswered", "startTimedOut": .missed
        case "remoteEnded", "action": .cancelled
        default: ending.pushCause.map { $0 == "cancelled" ? .cancelled : .missed } ?? (course.beganEnd ? .cancelled : .failed)
        }
    }
}
