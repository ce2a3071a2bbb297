import Primitives
import Runtime
import Testing

@testable import Console
@testable import Gateway

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct MonitorServerTests {
        private static func ask(_ address: SocketAddress, _ path: String, method: String = "GET") throws -> String? {
            let visitor = try Visitor(to: address)
            visitor.write("\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return visitor.readToEnd()
        }

        @Test(arguments: [
            ("/metrics", false, 200, "# HELP "), ("/metrics?x=y", true, 200, "# HELP "), ("/health/live", false, 200, "live\n"),
            ("/health/live", true, 200, "live\n"), ("/health/ready", false, 200, "ready\n"), ("/health/ready", true, 503, "draining\n"),
            ("/", false, 404, "There are /metrics, /health/live and /health/ready.\n"), ("/metrics/", false, 404, "There are "),
        ])
        func `a gateway that runs answers by what it does`(path: String, isDraining: Bool, status: Int, body: String) throws {
            var figures = GatewayFigures.idle
            figures.isDraining = isDraining
            let server = try MonitorServer(listening: anyLoopbackPort) { [figures] in figures }
            let answer = try #require(try Self.ask(server.address, path))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("\r\n\r\n\(body)"), "\(answer.prefix(300))")
        }

        @Test(arguments: [("/metrics", 503), ("/health/live", 503), ("/health/ready", 503), ("/other", 404)])
        func `without a gateway nothing is ready and nothing lives`(path: String, status: Int) throws {
            let server = try MonitorServer(listening: anyLoopbackPort) { nil }
            let answer = try #require(try Self.ask(server.address, path))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\nnot running\n") == (status == 503), "\(answer)")
        }

        @Test func `the metrics are of the type that a monitor asks for, and have the length that is told`() throws {
            let server = try MonitorServer(listening: anyLoopbackPort) { GatewayFigures.idle }
            let answer = try #require(try Self.ask(server.address, "/metrics"))
            let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts[0].contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
            #expect(parts[0].contains("\r\nContent-Length: \(parts[1].utf8.count)\r\n"))
            #expect(try Exposition(String(parts[1])).values["hookswitch_draining"] == 0)
        }

        @Test func `a HEAD has no body, and what is no question is told so`() throws {
            let server = try MonitorServer(listening: anyLoopbackPort) { GatewayFigures.idle }
            let head = try #require(try Self.ask(server.address, "/health/live", method: "HEAD"))
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("\r\nContent-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
            #expect(try Self.ask(server.address, "/metrics", method: "POST")?.contains("\r\nAllow: GET, HEAD, OPTIONS\r\n") == true)
            let visitor = try Visitor(to: server.address)
            visitor.write("GET / SIP/2.0\r\n\r\n")
            #expect(visitor.readToEnd()?.hasPrefix("HTTP/1.1 400 Bad Request\r\n") == true)
        }
    }
}
