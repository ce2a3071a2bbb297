import Foundation
import Testing

extension Calls {
    /// What a line has of a telephone, with a real server, a real client and a real database.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct TelephoneTests {
        private static func register(_ gateway: Gateway) async throws {
            let values = ["EXPIRES": "600", "STATUS": "200", "CONTACTPORT": "\(gateway.clientPort(20))"]
            var plan = Sipp.Plan(scenario: "register", values: values, port: gateway.clientPort(40), mediaPort: gateway.clientPort(30))
            (plan.user, plan.password) = ("1002", "secret-1002")
            try await Sipp.run(plan, to: gateway)
        }

        private static func isRefused(_ target: String, _ status: Int, by gateway: Gateway, as user: String = "+15550100") async throws {
            var plan = Sipp.Plan(
                scenario: "caller-refused", values: ["STATUS": "\(status)"], port: gateway.clientPort(4), mediaPort: gateway.clientPort(10),
                target: target)
            plan.user = user
            try await Sipp.run(plan, to: gateway)
        }

        @Test func `a device that registered is called after the server was started again`() async throws {
            let gateway = try await Gateway.start()
            try await Self.register(gateway)
            try await gateway.restart()
            let callee = try Sipp(
                .init(scenario: "callee", port: gateway.clientPort(20), mediaPort: gateway.clientPort(30), user: "1002"), to: gateway)
            try await callee.ready()
            try await Sipp.run(
                .init(scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "1002", duration: 200),
                to: gateway)
            try await callee.succeeds()
            try await gateway.stop()
        }

        @Test func `Do Not Disturb that a device dialled is on after a restart, and off when it dials that`() async throws {
            var setup = Gateway.Setup()
            setup.settings = ["refusals: { do-not-disturb: 603 }"]
            let gateway = try await Gateway.start(setup)
            var plan = Sipp.Plan(
                scenario: "caller-digest", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "*78", duration: 300)
            (plan.user, plan.password) = ("1002", "secret-1002")
            try await Sipp.run(plan, to: gateway)
            try await Self.isRefused("1002", 603, by: gateway)
            try await gateway.restart()
            try await Self.isRefused("1002", 603, by: gateway)
            plan.target = "*79"
            try await Sipp.run(plan, to: gateway)
            try await Self.isRefused("1002", 480, by: gateway)
            let journal = try await gateway.stop()
            #expect(journal.count("dnd.changed") == 2)
        }

        @Test func `a call directory blocks, and one that is out of order says so and leaves the last one in force`() async throws {
            let folder = try Folder()
            let file = try folder.write("+15550100\n+15550101\n", to: "spam.csv")
            var setup = Gateway.Setup()
            setup.lines.append(#"{ number: "2000", open: true, directories: [spam] }"#)
            setup.settings = ["directories: { block: [\"spam=\(file)\"], call-info: \"https://example.test/card\" }"]
            let gateway = try await Gateway.start(setup)
            try await gateway.program.line(containing: "directory spam: 2 numbers blocked, 0 identified")
            try await Self.isRefused("2000", 608, by: gateway)
            try await Self.isRefused("2000", 480, by: gateway, as: "+15550102")
            _ = try folder.write("+15550103\n+15550102\n", to: "spam.csv")
            try await gateway.restart()
            try await gateway.program.line(
                containing: "\(file):2: 15550102 comes after 15550103: the numbers must ascend (sort -n); still in force: 2 numbers blocked"
            )
            try await Self.isRefused("2000", 608, by: gateway)
            try await Self.isRefused("2000", 480, by: gateway, as: "+15550102")
            try await gateway.stop()
        }
    }
}
