import Foundation
import Testing

extension Calls {
    /// How calls end, seen from the side that is told: sipp on both ends, through a trunk line.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct CallFlowTests {
        /// What the callee answers, and what the caller must see.
        static let refusals = [
            ("486", "486"), ("603", "603"), ("480", "480"), ("404", "404"), ("488", "488"), ("401", "403"), ("302", "480"),
        ]

        @Test(arguments: refusals)
        func `the caller sees why it was refused`(callee: String, caller: String) async throws {
            let (gateway, calleePort) = try await Self.trunkGateway()
            let far = try Sipp(
                .init(
                    scenario: "callee-refuses", values: ["STATUS": callee], port: calleePort, mediaPort: gateway.clientPort(20),
                    user: "1002"), to: gateway)
            try await far.ready()
            try await Self.refused(caller, at: gateway)
            try await far.succeeds()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("media.opened") == 0, "nothing was answered")
        }

        @Test func `a callee that does not answer is cancelled when the ring time is over`() async throws {
            let (gateway, calleePort) = try await Self.trunkGateway(", ring-timeout: 2")
            let far = try Sipp(
                .init(scenario: "callee-cancelled", port: calleePort, mediaPort: gateway.clientPort(20), user: "1002"), to: gateway)
            try await far.ready()
            try await Self.refused("480", at: gateway)
            try await far.succeeds()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("media.opened") == 0)
            #expect(journal.all("report.ended").contains { $0.text("reason") == "unanswered" })
        }

        @Test func `a caller that gives up cancels the callee`() async throws {
            let (gateway, calleePort) = try await Self.trunkGateway()
            let far = try Sipp(
                .init(scenario: "callee-cancelled", port: calleePort, mediaPort: gateway.clientPort(20), user: "1002"), to: gateway)
            try await far.ready()
            try await Sipp.run(
                .init(
                    scenario: "caller-cancels", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "1002",
                    duration: 300), to: gateway)
            try await far.succeeds()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("media.opened") == 0)
        }

        @Test func `a callee that hangs up ends the caller's call`() async throws {
            let (gateway, calleePort) = try await Self.trunkGateway()
            let far = try Sipp(
                .init(scenario: "callee-hangs-up", port: calleePort, mediaPort: gateway.clientPort(20), user: "1002"), to: gateway)
            try await far.ready()
            try await Sipp.run(
                .init(scenario: "caller-waits", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "1002"), to: gateway
            )
            try await far.succeeds()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.packets.values.allSatisfy { $0.received > 10 && $0.sent > 10 })
        }

        @Test(arguments: [("5555", "404"), ("1001", "480")])
        func `a number that nobody has, and a line where nobody is registered`(number: String, status: String) async throws {
            let gateway = try await Gateway.start()
            try await Self.refused(status, at: gateway, number: number)
            try await gateway.program.stopped()
        }

        private static func trunkGateway(_ more: String = "") async throws -> (Gateway, UInt16) {
            let trunk = try await Ports.take(1)
            let gateway = try await Gateway.start(
                .init(lines: [#"{ number: "1002", trunk: { host: "127.0.0.1:\#(trunk[0])" }\#(more) }"#], others: trunk))
            return (gateway, trunk[0])
        }

        private static func refused(_ status: String, at gateway: Gateway, number: String = "1002") async throws {
            let plan = Sipp.Plan(
                scenario: "caller-refused", values: ["STATUS": status], port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                target: number)
            try await Sipp.run(plan, to: gateway)
        }
    }
}
