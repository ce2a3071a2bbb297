import Primitives

/// The timers of a client transaction: when its request is repeated (A or E), and how long an answer is waited for (B or F), or repeated
/// answers are taken (D, K or M).
struct ClientTransactionClock: Sendable {
    let isReliable: Bool
    let timers: TimerValues
    private(set) var interval: Duration
    var retransmission: Instant?
    var limit: Instant?

    init(isReliable: Bool, timers: TimerValues) { (self.isReliable, self.timers, interval) = (isReliable, timers, timers.t1) }

    /// When the next of them is due.
    var deadline: Instant? { earlier(retransmission, limit) }

    /// The request leaves.
    mutating func start(at now: Instant) {
        retransmission = isReliable ? nil : now + interval
        limit = now + timers.timeout
    }

    func isOver(at now: Instant) -> Bool { limit.map { now >= $0 } ?? false }

    /// Whether the request is to be repeated now. Each pause is followed by one of the length that `next` makes of it.
    mutating func isRepeated(at now: Instant, next: (Duration) -> Duration) -> Bool {
        guard let due = retransmission, now >= due else { return false }
        interval = next(interval)
        retransmission = now + interval
        return true
    }

    mutating func stop() { (retransmission, limit) = (nil, nil) }
}
