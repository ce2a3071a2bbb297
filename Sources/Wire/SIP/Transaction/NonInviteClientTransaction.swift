import Primitives

/// The client transaction of every request but INVITE and ACK: RFC 3261 §17.1.2.
public struct NonInviteClientTransaction: Sendable {
    /// Tasks of the owner of the transaction.
    public enum Output: Hashable, Sendable {
        /// Send the request (again).
        case sendRequest
        /// Give the response at hand to the user of the transaction.
        case deliver
        /// Timer F: nobody answered.
        case timedOut
        /// The request could not be sent (RFC 3261 §17.1.4); its user gets that in place of a response.
        case transportFailed
        /// Forget the transaction. Always last.
        case terminated
    }

    /// The states of RFC 3261 figure 6.
    public enum State: Hashable, Sendable {
        /// The request is repeated, ever more slowly. Next: `proceeding`, `completed`, or `terminated` after timer F.
        case trying
        /// A 1xx came; the request is repeated every T2 until timer F.
        case proceeding
        /// A final response came. Repeated ones are swallowed until timer K.
        case completed
        /// Absorbing.
        case terminated
    }

    /// The state of the transaction.
    public private(set) var state = State.trying
    private var clock: ClientTransactionClock

    /// - Parameter isReliable: TCP or TLS, over which nothing is sent again.
    public init(isReliable: Bool, timers: TimerValues) { clock = ClientTransactionClock(isReliable: isReliable, timers: timers) }

    /// When `advance` next has something to do.
    public var deadline: Instant? { clock.deadline }

    /// Sends the request, and begins timers E and F. Once, before anything else.
    public mutating func start(at now: Instant) -> [Output] {
        clock.start(at: now)
        return [.sendRequest]
    }

    /// A response to the request came. What the state has no use for makes no output.
    public mutating func receive(status: Int, at now: Instant) -> [Output] {
        switch (state, status) {
        case (.trying, 100..<200), (.proceeding, 100..<200):
            state = .proceeding
            return [.deliver]
        case (.trying, 200..<700), (.proceeding, 200..<700):
            return complete(at: now)
        default:
            return []
        }
    }

    /// Does what is due. A time before `deadline` makes no output.
    public mutating func advance(to now: Instant) -> [Output] {
        if clock.isOver(at: now) {
            let outcome: [Output] = state == .completed ? [] : [.timedOut]
            return outcome + terminate()
        }
        let timers = clock.timers, isProceeding = state == .proceeding
        return clock.isRepeated(at: now) { isProceeding ? timers.t2 : timers.next(after: $0) } ? [.sendRequest] : []
    }

    /// The request could not be sent, or its connection is gone.
    public mutating func transportFailed() -> [Output] {
        switch state {
        case .trying, .proceeding: [.transportFailed] + terminate()
        case .completed: terminate()
        case .terminated: []
        }
    }

    /// The user does not wait any longer.
    public mutating func abandon() -> [Output] { state == .terminated ? [] : terminate() }

    private mutating func complete(at now: Instant) -> [Output] {
        (state, clock.retransmission) = (.completed, nil)
        guard !clock.isReliable else { return [.deliver] + terminate() }
        clock.limit = now + clock.timers.t4
        return [.deliver]
    }

    private mutating func terminate() -> [Output] {
        state = .terminated
        clock.stop()
        return [.terminated]
    }
}
