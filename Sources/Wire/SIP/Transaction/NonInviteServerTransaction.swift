import Primitives

/// The server transaction of every request but INVITE and ACK: RFC 3261 §17.2.2.
public struct NonInviteServerTransaction: Sendable {
    /// Tasks of the owner of the transaction.
    public enum Output: Hashable, Sendable {
        /// Send the response at hand, which becomes the last response.
        case sendResponse
        /// Send the last response again.
        case resend
        /// The response could not be sent (RFC 3261 §17.2.4).
        case transportFailed
        /// The user has said nothing for so long that a 100 is due.
        case sendTrying
        /// Forget the transaction. Always last.
        case terminated
    }

    /// The states of RFC 3261 figure 8.
    public enum State: Hashable, Sendable {
        /// Nothing was sent. Repeated requests are swallowed.
        case trying
        /// A 1xx was sent.
        case proceeding
        /// A final response was sent, and answers repeated requests until timer J.
        case completed
        /// Absorbing.
        case terminated
    }

    /// The state of the transaction.
    public private(set) var state = State.trying
    private let isReliable: Bool
    private let timers: TimerValues
    private var limit: Instant?

    /// - Parameter isReliable: TCP or TLS, over which nothing is sent again.
    public init(isReliable: Bool, timers: TimerValues) {
        (self.isReliable, self.timers) = (isReliable, timers)
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { limit }

    /// The user takes its time. A 100 must not come before its sender repeats the request only every T2 (RFC 4320 §4.1).
    public mutating func awaitUser(at now: Instant) {
        if state == .trying { limit = now + timers.untilRare }
    }

    /// A response from the user. Responses after the final one are not sent.
    public mutating func respond(status: Int, at now: Instant) -> [Output] {
        switch (state, status) {
        case (.trying, 100..<200), (.proceeding, 100..<200):
            (state, limit) = (.proceeding, nil)
            return [.sendResponse]
        case (.trying, 200..<700), (.proceeding, 200..<700):
            state = .completed
            guard !isReliable else { return [.sendResponse] + terminate() }
            limit = now + timers.timeout
            return [.sendResponse]
        default:
            return []
        }
    }

    /// The request came again.
    public func receiveRequest() -> [Output] {
        switch state {
        case .proceeding, .completed: [.resend]
        case .trying, .terminated: []
        }
    }

    /// Does what is due. A time before `deadline` makes no output.
    public mutating func advance(to now: Instant) -> [Output] {
        guard let limit, now >= limit else { return [] }
        guard state == .trying else { return terminate() }
        self.limit = nil
        return [.sendTrying]
    }

    /// The response could not be sent. The transaction ends on its own time (RFC 3261 §17.2.4, RFC 6026 §7.1).
    public func transportFailed() -> [Output] {
        switch state {
        case .proceeding, .completed: [.transportFailed]
        case .trying, .terminated: []
        }
    }

    private mutating func terminate() -> [Output] {
        (state, limit) = (.terminated, nil)
        return [.terminated]
    }
}
