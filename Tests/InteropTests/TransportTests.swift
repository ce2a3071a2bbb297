import Foundation
import Testing

extension Calls {
    /// Calls over TCP and IPv6.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct TransportTests {
        @Test(arguments: [Sipp.Transport.tcp, .tcpPerCall], ["127.0.0.1", "::1"])
        func `twenty calls over TCP`(transport: Sipp.Transport, host: String) async throws {
            try await Self.echoCalls(transport, host)
        }

        @Test func `twenty calls over UDP and IPv6`() async throws {
            try await Self.echoCalls(.udp, "::1")
        }

        private static func echoCalls(_ transport: Sipp.Transport, _ host: String) async throws {
            let gateway = try await Gateway.start(.init(mediaPorts: 200, clientPorts: 200, usesIPv6: true))
            var plan = Sipp.Plan(
                scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(20), target: "9196", calls: 20, rate: 20)
            (plan.transport, plan.host) = (transport, host)
            try await Sipp.run(plan, to: gateway)
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.packets.count == 20 && journal.packets.values.allSatisfy { $0.sent > 10 && $0.received > 10 })
            let transports = Set(journal.all("sip.rx").compactMap { $0.text("transport") })
            #expect(transports == [transport == .udp ? "udp" : "tcp"])
        }

        @Test(arguments: [("limits: { connections-per-source: 2 }", 2), ("limits: { connections: 3 }", 3)])
        func `one connection more than is allowed is closed, and the stop says how many`(setting: String, most: Int) async throws {
            let gateway = try await Gateway.start(.init(settings: [setting]))
            let connections = try (0..<5).map { _ in try Self.connect(to: gateway.sipPort) }
            defer { for connection in connections { close(connection) } }
            try await eventually("the others are closed", within: .seconds(10)) { connections.count(where: Self.isClosed) == 5 - most }
            #expect(!connections.prefix(most).contains(where: Self.isClosed))
            try await gateway.stop()
            #expect(gateway.program.lines.all.contains { $0.contains("\(5 - most) (connections)") }, "\(gateway.program.transcript)")
        }

        @Test func `a trusted source has more connections than others`() async throws {
            let gateway = try await Gateway.start(
                .init(settings: ["limits: { connections-per-source: 2 }", "access: { trusted: [127.0.0.0/8] }"]))
            let connections = try (0..<5).map { _ in try Self.connect(to: gateway.sipPort) }
            defer { for connection in connections { close(connection) } }
            try await eventually("all stand", within: .seconds(10)) { Self.connections(gateway) >= 5 }
            #expect(!connections.contains(where: Self.isClosed))
            try await gateway.stop()
            #expect(!gateway.program.lines.all.contains { $0.contains("(connections)") })
        }

        private static func connect(to port: UInt16) throws -> Int32 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in(port: port)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else { throw Unmet("no connection: \(String(cString: strerror(errno)))") }
            return descriptor
        }

        /// The other side has ended it.
        private static func isClosed(_ descriptor: Int32) -> Bool {
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK))
            return count == 0 || count < 0 && errno != EAGAIN
        }

        @Test func `a callee that registered over TCP is called over its connection`() async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: ["pcmu"], calleeTransport: "tcp")
            let before = Self.connections(gateway)
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 3)
            try await pair.callee.waitForRecording(of: 3)
            #expect(Self.connections(gateway) == before, "no connection was opened for the call")
            pair.caller.hangUp()
            try await pair.callee.event("CALL_CLOSED")
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["udp", "tcp"])
        }

        /// Sockets of the gateway, which are its listeners and what came in over them.
        private static func connections(_ gateway: Gateway) -> Int { KernelSockets.tcpSocketCount(of: gateway.program.pid) }
    }
}
