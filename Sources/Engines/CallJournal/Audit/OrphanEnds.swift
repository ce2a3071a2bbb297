import Primitives

/// The ends of calls whose gateways have died, as the gateways tell that ended them in their place. A value.
///
/// A call is followed from one journal to the other by its UUID and its Call-ID.
public struct OrphanEnds: Sendable {
    /// A `call.orphan-ended`.
    public struct End: Equatable, Sendable {
        /// The Call-ID of the dialog.
        public let callID: Text
        /// The name of the gateway that had the call.
        public let node: Text
        /// The answer to the BYE or CANCEL; nil where the caller was refused.
        public let status: Int64?
    }

    private var ends: [CallUUID: End] = [:]
    /// Of the INVITEs of calls that are up.
    private var callIDs: [CallUUID: Set<Text>] = [:]

    /// No call has been ended yet.
    public init() {}

    /// Takes an event of any of the journals; those of one gateway in their order.
    public mutating func note(_ event: borrowing JournalEvent) {
        let details = event.details
        switch event.kind {
        case .callOrphanEnded:
            guard let call = details.uuid(.with), let callID = details.text(.callid), let node = details.text(.node) else { return }
            ends[call] = End(callID: callID.detached, node: node.detached, status: details.number(.status))
        case .callEnded: if let call = event.call { callIDs[call] = nil }
        case .sipReceived where isInvite(details), .sipSent where isInvite(details), .inviteReceived:
            if let call = event.call, let callID = details.text(.callid) { callIDs[call, default: []].insert(callID.detached) }
        default: break
        }
    }

    /// Another gateway's end of a call that its own journal leaves unfinished; nil: nobody has ended it.
    public subscript(call: CallUUID) -> End? {
        guard let end = ends[call], callIDs[call]?.contains(end.callID) == true else { return nil }
        return end
    }

    private func isInvite(_ details: JournalEvent.Details) -> Bool { details.text(.method) == "INVITE" && details.number(.status) == nil }
}
