import CallJournal
import Primitives

/// A call as CallKit sees it, with what is known of its SIP dialog and its sound: a fold over its events.
struct CallState: Sendable {
    enum Phase: String, Sendable, Encodable, CaseIterable {
        /// Started or reported, and not connected.
        case ringing, connecting, connected, ended
    }

    let id: CallUUID
    let line: Text
    let isOutgoing: Bool
    /// The far end, as CallKit's handle names it.
    var remote: Text?
    var from: Text?, to: Text?
    var phase: Phase
    var isOnHold = false, isMuted = false
    /// The far end holds.
    var isHeldByRemote = false
    /// A call of the group that it moved to last; nil where it left its group.
    var joined: CallUUID?
    /// Of a call that has ended: the others of its conversation.
    var groupedWith: [CallUUID] = []
    var callID: Text?, codec: Text?
    /// The status of the final response to the INVITE.
    var status: Int64?
    /// Nanoseconds since 1970-01-01 UTC.
    let begun: UInt64
    var connected: UInt64?, ended: UInt64?
    /// Why it ended: a CXCallEndedReason, or what CallKit did.
    var endReason: Text?
    /// The name of the CallEnder.
    var endedBy: Text?
    /// The cause of Q.850.
    var q850: Int64?
    /// Packets that came and that left, when the media had stopped.
    var received: Int64?, sent: Int64?
    /// The sound from the far end, and ours as the far end reported it (`heard`, `silent` …); nil where nothing was measured.
    var incomingBasis: Text?, outgoingBasis: Text?
    /// The last event of it.
    var sequence: UInt64

    /// nil for an event that begins none.
    init?(_ event: borrowing JournalEvent) {
        guard let call = event.call else { return nil }
        switch event.kind {
        case .reportIncoming: isOutgoing = false
        case .performStart: isOutgoing = true
        default: return nil
        }
        (id, line, phase, begun, sequence) = (call, event.line.detached, .ringing, event.wall, event.sequence)
        remote = event.details.text(.remote)?.detached
    }

    /// Takes an event of the call.
    ///
    /// - Parameter isOn: of an action that was fulfilled and switches something: what to.
    mutating func note(_ event: borrowing JournalEvent, as type: EventType?, isOn: Bool?) {
        sequence = event.sequence
        let details = event.details
        switch event.kind {
        case .sipSent, .sipReceived: noteMessage(details)
        case .reportConnecting: if phase == .ringing { phase = .connecting }
        case .remoteHold: isHeldByRemote = details.flag(.on)
        case .mediaOpened, .mediaUpdated: codec = details.text(.codec)?.detached ?? codec
        case .mediaStopped:
            (received, sent) = (details.number(.received) ?? received, details.number(.packets) ?? sent)
            incomingBasis = details.text(.incoming)?.detached
            outgoingBasis = details.text(.outgoing)?.detached
        case .reportEnded: endReason = details.text(.reason)?.detached
        case .callEnded:
            (phase, ended) = (.ended, event.wall)
            endReason = details.text(.reason)?.detached ?? endReason
            (endedBy, q850) = (details.text(.endedBy)?.detached, details.number(.q850))
        default: break
        }
        switch type {
        case .callConnected: (phase, connected) = (.connected, event.wall)
        case .callHeld, .callResumed: isOnHold = isOn ?? isOnHold
        case .callMuted, .callUnmuted: isMuted = isOn ?? isMuted
        default: break
        }
    }

    /// Takes from the dialog: its Call-ID, and the final response to its first INVITE.
    private mutating func noteMessage(_ details: JournalEvent.Details) {
        guard details.text(.method) == "INVITE", phase != .ended else { return }
        callID = callID ?? details.text(.callid)?.detached
        guard connected == nil, let status = details.number(.status), status >= 200 else { return }
        self.status = status
    }
}
