import Primitives

/// The fate of calls whose gateways have died, as the gateways tell that ended them in their place, or went on with them. A value.
///
/// A call is followed from one journal to the other by its UUID and its Call-ID.
public struct OrphanEnds: Sendable {
    /// A `call.orphan-ended` or `call.adopted`.
    public struct End: Equatable, Sendable {
        /// The Call-ID of the dialog.
        public let callID: Text
        /// The name of the gateway that had the call.
        public let node: Text
        /// The answer to the BYE or CANCEL; nil where the caller was refused, and where the call went on.
        public let status: Int64?
        /// The call went on at the other gateway.
        public let isAdopted: Bool
    }

    private struct Event {
        let end: End
        let journal: Int
        /// Adopted, and over.
        var isOver = false
    }

    private struct Leg: Hashable {
        let call: CallUUID
        let journal: Int
    }

    private var events: [CallUUID: [Event]] = [:]
    /// Of the INVITEs of calls that are up.
    private var callIDs: [Leg: Set<Text>] = [:]

    /// No call has been ended yet.
    public init() {}

    /// Takes an event of any of the journals; those of one gateway in their order.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - journal: the gateway's, by any number of its own.
    public mutating func note(_ event: borrowing JournalEvent, of journal: Int) {
        let details = event.details
        switch event.kind {
        case .callOrphanEnded: if let call = details.uuid(.with) { add(details, isAdopted: false, to: call, journal) }
        case .callAdopted: if let call = event.call { add(details, isAdopted: true, to: call, journal) }
        case .callEnded: if let call = event.call { noteEnd(of: call, journal) }
        case .sipReceived where isInvite(details), .sipSent where isInvite(details), .inviteReceived:
            guard let call = event.call, let callID = details.text(.callid) else { return }
            callIDs[Leg(call: call, journal: journal), default: []].insert(callID.detached)
        default: break
        }
    }

    private mutating func add(_ details: JournalEvent.Details, isAdopted: Bool, to call: CallUUID, _ journal: Int) {
        guard let callID = details.text(.callid), let node = details.text(.node) else { return }
        let end = End(
            callID: callID.detached, node: node.detached, status: isAdopted ? nil : details.number(.status), isAdopted: isAdopted)
        events[call, default: []].append(Event(end: end, journal: journal))
    }

    /// A call that was adopted keeps its Call-IDs: an earlier run of the same gateway may have had it.
    private mutating func noteEnd(of call: CallUUID, _ journal: Int) {
        let adoption = events[call]?.lastIndex { $0.end.isAdopted && $0.journal == journal }
        if let adoption { events[call]?[adoption].isOver = true } else { callIDs[Leg(call: call, journal: journal)] = nil }
    }

    /// The fate at another gateway of a call that this journal leaves unfinished: its end, before that it went on; nil: nobody has told.
    public subscript(call: CallUUID, journal: Int) -> End? {
        let known = callIDs[Leg(call: call, journal: journal)] ?? []
        let own = events[call]?.filter { known.contains($0.end.callID) } ?? []
        return (own.last { !$0.end.isAdopted } ?? own.last { $0.isOver || $0.journal != journal })?.end
    }

    private func isInvite(_ details: JournalEvent.Details) -> Bool { details.text(.method) == "INVITE" && details.number(.status) == nil }
}
