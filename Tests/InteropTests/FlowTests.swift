import Foundation
import Testing

extension Calls {
    /// What telephones and carriers do in a call besides calling: reliable responses, updates, timers, transfers, late offers, and the
    /// oddities of real ones.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct FlowTests {
        private static let lines = [
            #"{ number: "9196", application: echo }"#, #"{ number: "9195", script: { answer: true, after: 500 } }"#,
            #"{ number: "9194", script: { ring: true } }"#,
            #"{ number: "1003", open: true }"#,
        ]

        @Test func `callers`() async throws {
            let gateway = try await Gateway.start(.init(lines: Self.lines))
            for (index, flow) in SippFlow.callers.enumerated() { try await Self.play(flow, at: gateway, index) }
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
        }

        @Test func `callees`() async throws {
            let (gateway, trunk) = try await Self.gatewayWithTrunk()
            for (index, flow) in SippFlow.callees.enumerated() {
                let far = try Sipp(Self.plan(flow, port: trunk, mediaPort: gateway.clientPort(100), target: nil), to: gateway)
                try await far.ready()
                try await Sipp.run(
                    .init(
                        scenario: "caller", port: gateway.clientPort(2 * index), mediaPort: gateway.clientPort(110), target: flow.target,
                        duration: 500), to: gateway)
                try await far.succeeds()
            }
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("early-media.ignored") > 3, "183s came with descriptions, and opened nothing")
        }

        @Test func `transfers`() async throws {
            let (gateway, trunk) = try await Self.gatewayWithTrunk()
            for (index, flow) in SippFlow.transfers.enumerated() {
                let scenario = flow.endsAtCallee ? "callee-hangs-up" : "callee"
                let far = try Sipp(
                    .init(scenario: scenario, port: trunk, mediaPort: gateway.clientPort(100), duration: 2_000, user: "1002"), to: gateway)
                try await far.ready()
                try await Self.play(flow, at: gateway, index)
                try await far.succeeds()
            }
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("transfer.done") > 3 && journal.count("transfer.failed") == 1)
        }

        private static func gatewayWithTrunk() async throws -> (Gateway, UInt16) {
            let trunk = try await Ports.take(1)
            let line = #"{ number: "1002", trunk: { host: "127.0.0.1:\#(trunk[0])", username: "1002", password: secret } }"#
            return (try await Gateway.start(.init(lines: lines + [line], others: trunk)), trunk[0])
        }

        private static func plan(_ flow: SippFlow, port: UInt16, mediaPort: UInt16, target: String?) -> Sipp.Plan {
            Sipp.Plan(
                scenario: flow.name, script: flow.script, port: port, mediaPort: mediaPort, target: target,
                user: target == nil ? "1002" : flow.caller)
        }

        private static func play(_ flow: SippFlow, at gateway: Gateway, _ index: Int) async throws {
            try await Sipp.run(
                plan(flow, port: gateway.clientPort(2 * index), mediaPort: gateway.clientPort(110), target: flow.target), to: gateway)
        }
    }
}
