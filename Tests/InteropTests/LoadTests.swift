import Foundation
import Testing

extension Strains {
    /// sipp on both ends at 20 calls a second, with RTP.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct LoadTests {
        /// 20 calls a second of a second each are 20 at a time; two ports for each leg, as many in quarantine, and room for a slow machine.
        private static func gateway(_ lines: [String], _ others: Ports? = nil) async throws -> Gateway {
            try await Gateway.start(.init(mediaPorts: 600, clientPorts: 1_000, lines: lines, others: others))
        }

        private static func caller(_ gateway: Gateway, _ target: String) throws -> Sipp {
            try Sipp(
                .init(
                    scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(90), target: target, calls: 200, rate: 20
                ), to: gateway)
        }

        @Test func `two hundred calls to the echo all succeed and leave nothing`() async throws {
            let gateway = try await Self.gateway(Gateway.Setup.usual)
            #expect(gateway.mediaSockets.isEmpty)
            try await Sipp.run(
                .init(scenario: "caller", port: gateway.clientPort(20), mediaPort: gateway.clientPort(22), target: "9196"), to: gateway)
            try await gateway.waitForNoMediaSocket()
            let descriptors = KernelSockets.descriptorCount(of: gateway.program.pid)   // with what the first call makes once and for all
            let caller = try Self.caller(gateway, "9196")
            try await eventually("the witness sees media") { !gateway.mediaSockets.isEmpty }
            try await caller.succeeds()
            try await gateway.waitForNoMediaSocket()
            try await eventually("as many descriptors as before") { KernelSockets.descriptorCount(of: gateway.program.pid) == descriptors }
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            Self.expectAudio(in: journal, legs: 201)
        }

        @Test func `two hundred calls to a registered callee all succeed at both ends`() async throws {
            let gateway = try await Self.gateway(Gateway.Setup.usual)
            let port = gateway.clientPort(10)
            var registration = Sipp.Plan(
                scenario: "register", values: ["EXPIRES": "600", "STATUS": "200", "CONTACTPORT": "\(port)"], port: port,
                mediaPort: gateway.clientPort(12))
            (registration.user, registration.password) = ("1002", "secret-1002")
            try await Sipp.run(registration, to: gateway)
            try await Self.bridge(gateway, calleePort: port)
        }

        @Test func `two hundred calls to a trunk all succeed at both ends`() async throws {
            let trunk = try await Ports.take(1)
            let gateway = try await Self.gateway([#"{ number: "1002", trunk: { host: "127.0.0.1:\#(trunk[0])" } }"#], trunk)
            try await Self.bridge(gateway, calleePort: trunk[0])
        }

        private static func bridge(_ gateway: Gateway, calleePort: UInt16) async throws {
            let callee = try Sipp(
                .init(scenario: "callee", port: calleePort, mediaPort: gateway.clientPort(510), calls: 200, user: "1002"), to: gateway)
            defer { callee.program.kill() }
            try await callee.ready()
            #expect(gateway.mediaSockets.isEmpty)
            let caller = try caller(gateway, "1002")
            defer { caller.program.kill() }
            try await caller.succeeds()
            try await callee.succeeds()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            expectAudio(in: journal, legs: 400)
        }

        /// A second is 50 packets; every leg got and sent some of them, however busy the machine is, and all together most.
        private static func expectAudio(in journal: Journal, legs: Int) {
            let packets = journal.packets
            #expect(packets.count == legs)
            let silent = packets.filter { $0.value.sent < 25 || $0.value.received < 25 }
            #expect(silent.isEmpty, "legs without a second of audio: \(silent)")
        }
    }
}
