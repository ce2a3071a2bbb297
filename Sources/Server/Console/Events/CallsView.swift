import CallJournal
import Primitives

/// The calls that there are and the last that ended, folded from the journal's events as they come: what reads answer from.
struct CallsView {
    /// Calls that ended and are still shown.
    static let mostEnded = 1_000
    /// Requests whose call has not begun yet.
    private static let mostRequests = 10_000

    private(set) var calls: [CallUUID: CallState] = [:]
    private var ended = FIFO<CallUUID>()
    /// Facts of INVITEs, until their calls are reported.
    private var requests: [CallUUID: (from: Text?, to: Text?, callID: Text?)] = [:]
    /// Actions that were asked for and switch something, until they are done.
    private var switching: [CallUUID: Bool] = [:]
    /// Actions that were asked for and move a call, until they are done: a call of the group that is joined, or nil.
    private var moving: [CallUUID: CallUUID?] = [:]
    private(set) var conversations = Conversations()

    /// Takes an event; its type outside, where it is told.
    mutating func note(_ event: borrowing JournalEvent) -> EventType? {
        let isOn = noteSwitch(event), type = EventType(event, isOn: isOn)
        if event.kind == .gatewayStarted { begin() }
        guard let call = event.call else { return type }
        if calls[call] != nil {
            calls[call]?.note(event, as: type, isOn: isOn)
            noteMove(of: call, event)
            switch event.kind {
            case .callEnded: noteEnd(of: call)
            case .reportIncomingRefused: noteRefusal(of: call)
            default: break
            }
        } else if event.kind == .inviteReceived {
            let details = event.details
            if requests.count >= Self.mostRequests { requests.removeAll() }
            requests[call] = (details.text(.from)?.detached, details.text(.to)?.detached, details.text(.callid)?.detached)
        } else if event.kind == .callRefused {
            requests[call] = nil
        } else if var state = CallState(event) {
            if let request = requests.removeValue(forKey: call) { (state.from, state.to, state.callID) = request }
            calls[call] = state
            conversations.begin(call)
        }
        return type
    }

    /// Calls of another run are over, and so are its actions.
    private mutating func begin() {
        (requests, switching, moving) = ([:], [:], [:])
        for call in calls.values where call.phase != .ended {
            calls[call.id]?.phase = .ended
            calls[call.id]?.endReason = "gatewayKilled"
            calls[call.id]?.endedBy = CallEnder.gateway.text
            noteEnd(of: call.id)
        }
    }

    /// Whether what an action switches goes on or off: known since it was performed.
    private mutating func noteSwitch(_ event: borrowing JournalEvent) -> Bool? {
        switch event.kind {
        case .performHeld, .performMuted:
            if let action = event.details.uuid(.action) { switching[action] = event.details.flag(.on) }
            return nil
        case .actionFulfilled, .actionFailed, .actionTimedOut:
            return event.details.uuid(.action).flatMap { switching.removeValue(forKey: $0) }
        default: return nil
        }
    }

    private mutating func noteMove(of call: CallUUID, _ event: borrowing JournalEvent) {
        let details = event.details
        switch event.kind {
        case .performGroup: if let action = details.uuid(.action) { moving[action] = .some(details.uuid(.with)) }
        case .actionFailed, .actionTimedOut: if let action = details.uuid(.action) { moving[action] = nil }
        case .actionFulfilled:
            guard let other = details.uuid(.action).flatMap({ moving.removeValue(forKey: $0) }) else { return }
            calls[call]?.joined = other
            if let other { conversations.move(call, to: other) } else { conversations.begin(call) }
        case .transferred: if let other = details.uuid(.with) { conversations.move(call, to: other) }
        default: break
        }
    }

    /// The line's system never had it: no end follows.
    private mutating func noteRefusal(of call: CallUUID) {
        calls[call] = nil
        conversations.end(call)
    }

    private mutating func noteEnd(of call: CallUUID) {
        calls[call]?.groupedWith = conversations.others(than: call)
        conversations.end(call)
        ended.append(call)
        if ended.count > Self.mostEnded, let oldest = ended.popFirst() { calls[oldest] = nil }
    }
}
