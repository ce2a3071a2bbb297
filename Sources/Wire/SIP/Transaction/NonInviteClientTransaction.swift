import Primitives

/// The client transaction of every request but INVITE and ACK: RFC 3261 §17.1.2.
public struct NonInviteClientTransaction: Sendable {
    public enum Output: Hashable, Sendable {
        /// Send the request (again).
        case sendRequest
        /// Give the response at hand to the user of the transaction.
        case deliver
        /// Timer F: nobody answered.
        case timedOut
        case transportFailed
        /// Forget the transaction. Always last.
        case terminated
    }

    public enum State: Hashable, Sendable {
        /// The request is repeated, ever more slowly. Next: `proceeding`, `completed`, or `terminated` after timer F.
        case trying
        /// A 1xx came; the request is repeated every T2 until timer F.
        case proceeding
        /// A final response came. Repeated ones are swallowed until timer K.
        case completed
        case terminated
    }

    public private(set) var state = State.trying
    private let isReliable: Bool
    private let timers: TimerValues
    private var interval: Duration
    private var retransmission: Instant?
    private var limit: Instant?

    public init(isReliable: Bool, timers: TimerValues) {
        (self.isReliable, self.timers, interval) = (isReliable, timers, timers.t1)
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { earlier(retransmission, limit) }

    public mutating func start(at now: Instant) -> [Output] {
        retransmission = isReliable ? nil : now + interval
        limit = now + timers.patience
        return [.sendRequest]
    }

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

    public mutating func advance(to now: Instant) -> [Output] {
        if let limit, now >= limit {
            let outcome: [Output] = state == .completed ? [] : [.timedOut]
            return outcome + terminate()
        }
        guard let due = retransmission, now >= due else { return [] }
        interval = state == .proceeding ? timers.t2 : timers.next(after: interval)
        retransmission = now + interval
        return [.sendRequest]
    }

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
        (state, retransmission) = (.completed, nil)
        guard !isReliable else { return [.deliver] + terminate() }
        limit = now + timers.t4
        return [.deliver]
    }

    private mutating func terminate() -> [Output] {
        (state, retransmission, limit) = (.terminated, nil, nil)
        return [.terminated]
    }
}
