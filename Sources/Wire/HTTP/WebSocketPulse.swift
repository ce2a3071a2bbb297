public import Primitives

/// Finds out whether the peer of a WebSocket is still there: asks by pings, and keeps the time that the answer may take.
///
/// A value without a clock. It also keeps the way through NAT and proxies open.
public struct WebSocketPulse: Sendable {
    public enum Output: Sendable, Equatable {
        /// A ping is to be sent.
        case ping
        /// Nothing came since the last ping: the peer is gone.
        case gone
    }

    private let interval: Duration, patience: Duration
    /// When the next ping is due, or when the last one is too long ago.
    public private(set) var deadline: Instant
    private var isAsking = false

    /// - Parameters:
    ///   - interval: from the last that was heard to the ping.
    ///   - patience: from the ping to anything that comes.
    public init(at now: Instant, interval: Duration = .seconds(25), patience: Duration = .seconds(20)) {
        (self.interval, self.patience, deadline) = (interval, patience, now + interval)
    }

    /// Something came: a pong, or anything else.
    public mutating func hear(at now: Instant) { (isAsking, deadline) = (false, now + interval) }

    public mutating func advance(to now: Instant) -> Output? {
        guard deadline <= now else { return nil }
        guard !isAsking else { return .gone }
        (isAsking, deadline) = (true, now + patience)
        return .ping
    }
}
