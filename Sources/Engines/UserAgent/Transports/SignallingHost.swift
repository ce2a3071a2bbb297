import Primitives
import Runtime

/// The resident of a signalling lane: sockets, what takes their messages, and the timers of both.
///
///     let lane = try Lane(label: "signalling") { lane, now throws(SocketError) in
///         try SignallingHost(transports: Transports(configuration, on: lane)) { transports in UserAgent(…, network: transports, …) }
///     }
///     lane.post { host, now in host.endpoint.… }
public final class SignallingHost<Endpoint: SignallingEndpoint>: LaneResident {
    /// The sockets.
    public let transports: Transports
    /// The receiver of the messages.
    public let endpoint: Endpoint

    /// - Parameter make: makes the endpoint over the transports, which carry nothing before it returns.
    public init(transports: Transports, make: (Transports) -> Endpoint) {
        self.transports = transports
        endpoint = make(transports)
        transports.endpoint = endpoint
    }

    /// The earlier of both.
    public var deadline: Instant? {
        guard let transports = transports.deadline else { return endpoint.deadline }
        return min(transports, endpoint.deadline ?? .distantFuture)
    }

    /// Failures of the sockets first: what waits for an answer over a lost connection must not be sent again.
    public func advance(to now: Instant) {
        transports.advance(to: now)
        endpoint.advance(to: now)
    }

    deinit { transports.close() }
}
