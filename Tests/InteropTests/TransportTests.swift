import Foundation
import Testing

extension Calls {
    /// Calls over TCP and IPv6.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct TransportTests {
        @Test(arguments: [Sipp.Transport.tcp, .tcpPerCall], ["127.0.0.1", "::1"])
        func `twenty calls over TCP`(transport: Sipp.Transport, host: String) async throws {
            try await Self.echoCalls(transport, host)
        }

        @Test func `twenty calls over UDP and IPv6`() async throws {
            try await Self.echoCalls(.udp, "::1")
        }

        private static func echoCalls(_ transport: Sipp.Transport, _ host: String) async throws {
            let gateway = try await Gateway.start(.init(mediaPorts: 200, clientPorts: 200, usesIPv6: true))
            var plan = Sipp.Plan(scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(20), target: "9196", calls: 20, rate: 20)
            (plan.transport, plan.host) = (transport, host)
            try await Sipp.run(plan, to: gateway)
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.packets.count == 20 && journal.packets.values.allSatisfy { $0.sent > 10 && $0.received > 10 })
            let transports = Set(journal.all("sip.rx").compactMap { $0.text("transport") })
            #expect(transports == [transport == .udp ? "udp" : "tcp"])
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
