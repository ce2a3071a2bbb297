import Glibc
import Primitives
import Runtime
import Testing

@testable import Console
@testable import Gateway

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct MonitorServerTests {
        private static func ask(_ address: SocketAddress, _ path: String, method: String = "GET") throws -> String? {
            let visitor = try Visitor(to: address)
            visitor.write("\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
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
            #expect(try Self.ask(server.address, "/metrics", method: "POST")?.contains("\r\nAllow: GET, HEAD\r\n") == true)
            let visitor = try Visitor(to: server.address)
            visitor.write("GET / SIP/2.0\r\n")
            #expect(visitor.readToEnd()?.hasPrefix("HTTP/1.1 400 Bad Request\r\n") == true)
        }

        @Test func `a connection has one question, in pieces or with another behind it`() throws {
            let server = try MonitorServer(listening: anyLoopbackPort) { GatewayFigures.idle }
            let visitor = try Visitor(to: server.address)
            visitor.write("GET /health/li")
            #expect(try Self.ask(server.address, "/health/ready")?.hasSuffix("ready\n") == true, "it keeps nobody from asking")
            visitor.write("ve HTTP/1.1\r\nHost: x\r\n\r\nGET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try #require(visitor.readToEnd())
            #expect(answer.hasSuffix("\r\n\r\nlive\n") && answer.contains("\r\nConnection: close\r\n"))
        }

        // MARK: Bounds

        /// A desk that answers with the path.
        private static func desk() throws -> (lane: Lane<MonitorListener>, address: SocketAddress) {
            let lane = try Lane<MonitorListener>(label: "desk") { lane, _ throws(SocketError) in
                try MonitorListener(anyLoopbackPort, on: lane) { HTTPResponse(200, $0) }
            }
            return (lane, try #require(lane.sync { desk, _ in desk.address }))
        }

        @Test func `who finishes before the question is whole gets no answer`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write("GET / HTTP/1.1\r\nHost: x\r\n")
            visitor.finish()
            #expect(visitor.readToEnd() == "")
            withExtendedLifetime(desk) {}
        }

        @Test func `who has not asked within ten seconds is sent away`() throws {
            let desk = try Self.desk(), silent = try Visitor(to: desk.address), slow = try Visitor(to: desk.address)
            slow.write("GET /slow HTTP/1.1\r\n")
            #expect(try Self.ask(desk.address, "/now")?.hasSuffix("/now") == true, "the two before it are accepted")
            let due = desk.lane.sync { desk, now -> Instant in
                let due = desk.deadline ?? .distantFuture
                #expect(due > now && due <= now + .seconds(10))
                desk.advance(to: due + .nanoseconds(-1))
                return due
            }
            slow.write("Host: x\r\n\r\n")
            #expect(slow.readToEnd()?.hasSuffix("/slow") == true)
            desk.lane.sync { desk, _ in
                desk.advance(to: due ?? .zero)
                #expect(desk.deadline ?? .distantFuture > due ?? .zero)
            }
            #expect(silent.readToEnd() == "")
        }

        @Test func `one visitor too many takes the place of the one that was silent for longest`() throws {
            let desk = try Self.desk(), visitors = try (0..<MonitorListener.mostConnections).map { _ in try Visitor(to: desk.address) }
            visitors[0].write("GET /first HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(visitors[0].readToEnd()?.hasSuffix("/first") == true)
            let extra = try Visitor(to: desk.address)
            #expect(visitors[1].readToEnd() == "", "the first has had its answer")
            for (visitor, path) in [(visitors[2], "/second"), (extra, "/extra")] {
                visitor.write("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(visitor.readToEnd()?.hasSuffix(path) == true)
            }
            withExtendedLifetime(desk) {}
        }
    }
}

private let anyLoopbackPort = SocketAddress(.loopback, port: 0)

/// A blocking client on the test's own thread. A read that gets nothing for eight seconds is over: the desk's own patience ends later.
private final class Visitor {
    private let descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))

    init(to address: SocketAddress) throws {
        let raw = descriptor.raw
        try #require(address.withSockaddr { connect(raw, $0, $1) } == 0)
        var timeout = timeval(tv_sec: 8, tv_usec: 0)
        setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    func write(_ text: String) {
        let sent = send(descriptor.raw, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        #expect(sent == text.utf8.count)
    }

    /// Sends nothing more.
    func finish() { shutdown(descriptor.raw, Int32(SHUT_WR)) }

    /// Everything until the server has sent its last byte; nil where it does not.
    func readToEnd() -> String? {
        var text: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor.raw, &buffer, buffer.count, 0)
            // A connection that is closed with bytes of ours unread is reset.
            guard count > 0 else { return count == 0 || errno == ECONNRESET ? String(decoding: text, as: UTF8.self) : nil }
            text += buffer[..<count]
        }
    }
}
