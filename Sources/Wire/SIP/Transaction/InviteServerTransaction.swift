import Primitives

/// The INVITE server transaction: RFC 3261 §17.2.1 with the Accepted state of RFC 6026 §7.1.
///
/// The 100 is its user's to send. Repeating a 2xx until the ACK is the dialog's work (RFC 3261 §13.3.1.4), not this machine's.
public struct InviteServerTransaction: Sendable {
    /// Tasks of the owner of the transaction.
    public enum Output: Hashable, Sendable {
        /// Send the response at hand, which becomes the last response.
        case sendResponse
        /// Send the last response again.
        case resend
        /// Give the ACK at hand to the dialog: it acknowledges a 2xx although it carries the branch of the INVITE.
        case deliverAcknowledgement
        /// Timer H: no ACK came for a 300–699.
        case timedOut
        /// The response could not be sent (RFC 3261 §17.2.4).
        case transportFailed
        /// Forget the transaction. Always last.
        case terminated
    }

    /// The states of RFC 3261 figure 7, with the Accepted state of RFC 6026.
    public enum State: Hashable, Sendable {
        /// No final response yet. Next: `accepted` or `completed`; nothing limits the wait.
        case proceeding
        /// A 2xx was sent. Repeated INVITEs are swallowed until timer L.
        case accepted
        /// A 300–699 was sent, and is repeated until the ACK or timer H.
        case completed
        /// The ACK came. Repeated ones are swallowed until timer I.
        case confirmed
        /// Absorbing.
        case terminated
    }

    /// The state of the transaction.
    public private(set) var state = State.proceeding
    private let isReliable: Bool
    private let timers: TimerValues
    private var hasResponded = false
    private var interval: Duration
    private var retransmission: Instant?
    private var limit: Instant?

    /// - Parameter isReliable: TCP or TLS, over which nothing is sent again.
    public init(isReliable: Bool, timers: TimerValues) {
        (self.isReliable, self.timers, interval) = (isReliable, timers, timers.t1)
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { earlier(retransmission, limit) }

    /// A response from the user. Responses after the final one are not sent, except further 2xx.
    public mutating func respond(status: Int, at now: Instant) -> [Output] {
        switch (state, status) {
        case (.proceeding, 100..<200):
            hasResponded = true
            return [.sendResponse]
        case (.proceeding, 200..<300):
            (state, limit) = (.accepted, now + timers.timeout)
            return [.sendResponse]
        case (.accepted, 200..<300):
            return [.sendResponse]
        case (.proceeding, 300..<700):
            (state, limit) = (.completed, now + timers.timeout)
            retransmission = isReliable ? nil : now + interval
            return [.sendResponse]
        default:
            return []
        }
    }

    /// The INVITE came again.
    public mutating func receiveInvite() -> [Output] {
        switch state {
        case .proceeding: hasResponded ? [.resend] : []
        case .completed: [.resend]
        case .accepted, .confirmed, .terminated: []
        }
    }

    /// An ACK with the branch of the INVITE.
    public mutating func receiveAcknowledgement(at now: Instant) -> [Output] {
        switch state {
        case .accepted:
            return [.deliverAcknowledgement]
        case .completed:
            (state, retransmission) = (.confirmed, nil)
            guard !isReliable else { return terminate() }
            limit = now + timers.t4
            return []
        case .proceeding, .confirmed, .terminated:
            return []
        }
    }

    /// Does what is due. A time before `deadline` makes no output.
    public mutating func advance(to now: Instant) -> [Output] {
        if let limit, now >= limit {
            let outcome: [Output] = state == .completed ? [.timedOut] : []
            return outcome + terminate()
        }
        guard let due = retransmission, now >= due else { return [] }
        interval = timers.next(after: interval)
        retransmission = now + interval
        return [.resend]
    }

    /// The response could not be sent. The transaction stays as it is (RFC 6026 §7.1).
    public func transportFailed() -> [Output] {
        switch state {
        case .proceeding, .accepted, .completed: [.transportFailed]
        case .confirmed, .terminated: []
        }
    }

    private mutating func terminate() -> [Output] {
        (state, retransmission, limit) = (.terminated, nil, nil)
        return [.terminated]
    }
}
