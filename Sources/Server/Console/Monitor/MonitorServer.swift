import Gateway
import HTTP
import Primitives
import Runtime

/// The server that an orchestrator and a monitor ask over HTTP: `/metrics`, `/health/live` and `/health/ready`.
///
/// Thread-safe, on a lane of its own that asks the signalling lane. It answers for as long as it is kept, and holds nothing of a call.
public final class MonitorServer: Sendable {
    private let lane: Lane<HTTPServer>
    /// The address at which it listens, with the port that the kernel chose.
    public let address: SocketAddress

    /// - Parameters:
    ///   - service: what the server does beside; called on the server's lane.
    ///   - figures: called there, too; nil before the gateway runs, and when it has stopped.
    public convenience init(
        listening address: SocketAddress, service: @escaping @Sendable () -> ServiceFigures = { ServiceFigures() },
        figures: @escaping @Sendable () -> GatewayFigures?
    ) throws(SocketError) {
        try self.init(listening: address, Self.paths, notFound: "There are /metrics, /health/live and /health/ready.\n") { path in
            Self.answer(to: path, figures, service)
        }
    }

    /// - Parameters:
    ///   - paths: those that there are.
    ///   - notFound: said of every other.
    ///   - idleTimeout: the time for which a connection stays open between requests.
    ///   - answer: to a GET of a path; called on the server's lane.
    public init(
        listening address: SocketAddress, _ paths: [String], notFound: String, idleTimeout: Duration = .seconds(60),
        answer: @escaping @Sendable (String) -> HTTPReply
    ) throws(SocketError) {
        var limits = Self.limits
        limits.idleTimeout = idleTimeout
        let bounds = limits
        lane = try Lane(label: "monitor") { lane, _ throws(SocketError) in
            try HTTPServer(
                [.tcp(address)], routes: Self.routes(paths, answer), limits: bounds,
                refusal: { $0 == .notFound ? HTTPReply(.notFound, text: notFound) : HTTPReply($0) }, on: lane)
        }
        self.address = lane.sync { server, _ in server.addresses[0] } ?? address
    }

    deinit { lane.close() }

    private static let paths = ["/metrics", "/health/live", "/health/ready"]

    private static func routes(_ paths: [String], _ answer: @escaping (String) -> HTTPReply) -> HTTPRoutes {
        var routes = HTTPRoutes()
        for path in paths {
            routes.on(.get, path) { ask, responder in
                var reply = answer(path)
                reply.fields[.cacheControl] = "no-store"
                responder.reply(reply, at: ask.now)
            }
        }
        return routes
    }

    /// A monitor sends nothing but questions.
    private static var limits: HTTPServer.Limits {
        var limits = HTTPServer.Limits()
        limits.connections = 64
        (limits.request.head, limits.request.body) = (8_192, 0)
        return limits
    }

    private static func answer(to path: String, _ figures: () -> GatewayFigures?, _ service: () -> ServiceFigures) -> HTTPReply {
        guard let figures = figures() else { return HTTPReply(.serviceUnavailable, text: "not running\n") }
        switch path {
        case "/metrics": return HTTPReply(.ok, text: PrometheusText(figures, service: service()).text, type: PrometheusText.contentType)
        case "/health/ready":
            return figures.isDraining ? HTTPReply(.serviceUnavailable, text: "draining\n") : HTTPReply(.ok, text: "ready\n")
        // Alive is who answers: a gateway that drains is, and must not be restarted for it.
        default: return HTTPReply(.ok, text: "live\n")
        }
    }
}
