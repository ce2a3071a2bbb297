import Dispatch
import FlyingFox
import FlyingSocks
import Foundation
import Gateway
import Primitives
import Synchronization

/// What an orchestrator and a monitor ask a gateway over HTTP: `/metrics`, `/health/live` and `/health/ready`.
///
/// Thread-safe. It answers for as long as it is kept, and holds nothing of a call.
public final class MonitorServer: Sendable {
    /// Why it does not listen. The description is one sentence for a person.
    public struct StartError: Error, CustomStringConvertible {
        public let description: String
    }

    private let task: Task<Void, Never>

    /// Returns when it listens.
    /// - Parameter figures: nil when the gateway has stopped.
    public init(listening address: Primitives.SocketAddress, figures: @escaping @Sendable () -> GatewayFigures?) throws(StartError) {
        let server = HTTPServer(address: try Self.native(address), timeout: 15, logger: .disabled, handler: Self.handler(figures))
        let start = Start()
        task = Task { do { try await server.run() } catch { start.settle("\(error)") } }
        let watch = Task { if (try? await server.waitUntilListening(timeout: 5)) != nil { start.settle(nil) } }
        let failure = start.wait()
        watch.cancel()
        guard let failure else { return }
        task.cancel()
        throw StartError(description: failure.contains("Address already in use") ? "TCP \(address) is already in use by another program" : "TCP \(address): \(failure)")
    }

    deinit { task.cancel() }

    private static func native(_ address: Primitives.SocketAddress) throws(StartError) -> any FlyingSocks.SocketAddress {
        do {
            if address.address.family == .v4 { return try sockaddr_in.inet(ip4: "\(address.address)", port: address.port) }
            return try sockaddr_in6.inet6(ip6: "\(address.address)", port: address.port)
        } catch { throw StartError(description: "\(address) is no address to listen on") }
    }

    private static func handler(_ figures: @escaping @Sendable () -> GatewayFigures?) -> RoutedHTTPHandler {
        var routes = RoutedHTTPHandler()
        routes.appendRoute("GET /metrics") { _ in
            guard let figures = figures() else { return response(.serviceUnavailable, "stopped\n") }
            return response(.ok, PrometheusText(figures).text, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        // Alive is who answers: a gateway that drains is, and must not be restarted for it.
        routes.appendRoute("GET /health/live") { _ in figures() == nil ? response(.serviceUnavailable, "stopped\n") : response(.ok, "live\n") }
        routes.appendRoute("GET /health/ready") { _ in
            guard let figures = figures() else { return response(.serviceUnavailable, "stopped\n") }
            return figures.isDraining ? response(.serviceUnavailable, "draining\n") : response(.ok, "ready\n")
        }
        return routes
    }

    private static func response(_ status: HTTPStatusCode, _ text: String, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: [.contentType: type], body: Data(text.utf8))
    }

    /// Whether it came to listen: told once, by whoever knows first.
    private final class Start: Sendable {
        private let outcome = Mutex<(isKnown: Bool, failure: String?)>((false, nil))
        private let known = DispatchSemaphore(value: 0)

        func settle(_ failure: String?) {
            let isFirst = outcome.withLock { outcome in
                defer { if !outcome.isKnown { outcome = (true, failure) } }
                return !outcome.isKnown
            }
            if isFirst { known.signal() }
        }

        func wait() -> String? {
            guard known.wait(timeout: .now() + .seconds(5)) == .success else { return "it did not start to listen within five seconds" }
            return outcome.withLock(\.failure)
        }
    }
}
