import Primitives

/// The INVITE client transaction: RFC 3261 §17.1.1 with the Accepted state of RFC 6026 §7.2.
///
/// It holds no message. Its owner keeps the bytes of the request and does what the outputs say, in their order.
public struct InviteClientTransaction: Sendable {
    /// Tasks of the owner of the transaction.
    public enum Output: Hashable, Sendable {
        /// Send the request (again).
        case sendRequest
        /// Send the ACK for the response at hand; the same bytes every time.
        case sendAcknowledgement
        /// Give the response at hand to the user of the transaction.
        case deliver
        /// Timer B: nobody answered.
        case timedOut
        /// The request could not be sent (RFC 3261 §17.1.4); its user gets that in place of a response.
        case transportFailed
        /// Forget the transaction. Always last.
        case terminated
    }

    /// The states of RFC 3261 figure 5, with the Accepted state of RFC 6026.
    public enum State: Hashable, Sendable {
        /// The request is repeated. Next: `proceeding`, `accepted`, `completed`, or `terminated` after timer B.
        case calling
        /// A 1xx came, and nothing limits the wait.
        case proceeding
        /// A 2xx came. Further 2xx (of forks) are delivered until timer M.
        case accepted
        /// A 300–699 came. Repeated ones are acknowledged until timer D.
        case completed
        /// Absorbing.
        case terminated
    }

    /// The state of the transaction.
    public private(set) var state = State.calling
    private var clock: ClientTransactionClock

    /// - Parameter isReliable: TCP or TLS, over which nothing is sent again.
    public init(isReliable: Bool, timers: TimerValues) { clock = ClientTransactionClock(isReliable: isReliable, timers: timers) }

    /// When `advance` next has something to do.
    public var deadline: Instant? { clock.deadline }

    /// Sends the request, and begins timers A and B. Once, before anything else.
    public mutating func start(at now: Instant) -> [Output] {
        clock.start(at: now)
        return [.sendRequest]
    }

    /// A response to the request came. What the state has no use for makes no output.
    public mutating func receive(status: Int, at now: Instant) -> [Output] {
        switch (state, status) {
        case (.calling, 100..<200), (.proceeding, 100..<200):
            state = .proceeding
            clock.stop()
            return [.deliver]
        case (.calling, 200..<300), (.proceeding, 200..<300):
            (state, clock.retransmission, clock.limit) = (.accepted, nil, now + clock.timers.timeout)
            return [.deliver]
        case (.accepted, 200..<300):
            return [.deliver]
        case (.calling, 300..<700), (.proceeding, 300..<700):
            return complete(at: now)
        case (.completed, 300..<700):
            return [.sendAcknowledgement]
        default:
            return []
        }
    }

    /// Does what is due. A time before `deadline` makes no output.
    public mutating func advance(to now: Instant) -> [Output] {
        if clock.isOver(at: now) {
            let outcome: [Output] = state == .calling ? [.timedOut] : []
            return outcome + terminate()
        }
        return clock.isRepeated(at: now) { $0 * 2 } ? [.sendRequest] : []
    }

    /// The transport lost the connection or could not send. Whoever has said 1xx is not waited for any less: the answer may come over
    /// another connection (RFC 3261 §17.1.1.2, figure 5). A 2xx that arrived stays answered.
    public mutating func transportFailed() -> [Output] {
        switch state {
        case .calling: [.transportFailed] + terminate()
        case .completed: terminate()
        case .proceeding, .accepted, .terminated: []
        }
    }

    /// Its user has gone on without it: nothing is repeated. Whoever has taken it may still answer until timer B.
    public mutating func passOver() { clock.retransmission = nil }

    /// Its user gives up on it, for example 64·T1 after a CANCEL (RFC 3261 §9.1).
    public mutating func abandon() -> [Output] { state == .terminated ? [] : terminate() }

    private mutating func complete(at now: Instant) -> [Output] {
        (state, clock.retransmission) = (.completed, nil)
        guard !clock.isReliable else { return [.sendAcknowledgement, .deliver] + terminate() }
        clock.limit = now + clock.timers.d
        return [.sendAcknowledgement, .deliver]
    }

    private mutating func terminate() -> [Output] {
        state = .terminated
        clock.stop()
        return [.terminated]
    }
}

/// The earlier of two deadlines, either of which may not be set.
func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
