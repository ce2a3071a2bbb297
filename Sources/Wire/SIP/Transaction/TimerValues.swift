/// The base timers of RFC 3261 §17.1.1.1, from which every transaction timer is derived.
public struct TimerValues: Hashable, Sendable {
    /// The estimated round trip.
    public var t1: Duration { didSet { timeout = t1 * 64 } }
    /// The longest interval between retransmissions of a non-INVITE request or of a response to INVITE.
    public var t2: Duration
    /// The time that a message may stay in the network.
    public var t4: Duration
    /// The time that an INVITE client waits for repeated final responses over UDP (timer D, at least 32 s).
    public var d: Duration
    /// 64·T1: timers B, F, H, J, L and M, and the patience of a dialog that waits for an ACK.
    public private(set) var timeout: Duration

    /// The values that RFC 3261 table 4 recommends, unless others are given.
    public init(
        t1: Duration = .milliseconds(500), t2: Duration = .seconds(4), t4: Duration = .seconds(5), d: Duration = .seconds(32)
    ) {
        (self.t1, self.t2, self.t4, self.d, timeout) = (t1, t2, t4, d, t1 * 64)
    }

    /// The time until a sender over UDP repeats a request no more often than every T2 (timer E).
    public var untilRare: Duration {
        var (sum, interval) = (t1, next(after: t1))
        while interval < t2 { (sum, interval) = (sum + interval, next(after: interval)) }
        return sum
    }

    /// The interval after `interval`: twice as long, at most T2.
    public func next(after interval: Duration) -> Duration { min(interval * 2, t2) }
}
