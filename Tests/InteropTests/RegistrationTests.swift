import Foundation
import Testing

extension Calls {
    /// Who may register and call, with real clients.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct RegistrationTests {
        @Test func `baresip registers with the right password only`() async throws {
            let gateway = try await Gateway.start()
            let source = try Recordings.tone(in: gateway.folder)
            let right = try await Baresip.start(
                .init(
                    user: "1001", password: "secret-1001", codecs: ["pcmu"], port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                    source: source), at: gateway)
            try await right.waitUntilRegistered()
            let wrong = try await Baresip.start(
                .init(
                    user: "1002", password: "guess", codecs: ["pcmu"], port: gateway.clientPort(60), mediaPort: gateway.clientPort(70),
                    source: source), at: gateway)
            try await wrong.program.line(containing: "401 Unauthorized")
            #expect(!wrong.program.lines.all.contains { $0.contains("200 OK") })
            try await gateway.program.stopped()
        }

        @Test(arguments: [("secret-1002", "200"), ("guess", "401")])
        func `sipp registers with the right password only`(password: String, status: String) async throws {
            let gateway = try await Gateway.start()
            try await Self.register(gateway, password: password, expires: 600, status: status)
            try await gateway.program.stopped()
        }

        @Test func `a device that unregistered is not called`() async throws {
            let gateway = try await Gateway.start()
            try await Self.register(gateway, expires: 600)
            let callee = try Sipp(
                .init(scenario: "callee", port: gateway.clientPort(20), mediaPort: gateway.clientPort(30), user: "1002"), to: gateway)
            try await callee.ready()
            try await Sipp.run(
                .init(scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "1002", duration: 200),
                to: gateway)
            try await callee.succeeds()
            try await Self.register(gateway, expires: 0)
            try await Sipp.run(
                .init(
                    scenario: "caller-refused", values: ["STATUS": "480"], port: gateway.clientPort(4), mediaPort: gateway.clientPort(10),
                    target: "1002"), to: gateway)
            let journal = try await gateway.stop()
            #expect(journal.count("report.incoming") == 1)
        }

        @Test func `a registration that is too brief is refused`() async throws {
            let gateway = try await Gateway.start()
            try await Self.register(gateway, expires: 1, status: "423")
            try await gateway.program.stopped()
        }

        @Test func `a caller that names a line of ours proves it`() async throws {
            let gateway = try await Gateway.start()
            let peer = try UDPPeer()
            peer.send(Array(peer.request("INVITE", "9196", gateway, from: "1001", callID: "unproven").utf8), to: gateway.sipPort)
            let answer = peer.receive { !$0.hasPrefix("SIP/2.0 100") }
            #expect(answer?.hasPrefix("SIP/2.0 401") == true, "\(answer ?? "nothing")")
            #expect(answer?.contains("WWW-Authenticate: Digest") == true)

            var plan = Sipp.Plan(
                scenario: "caller-digest", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "9196", duration: 300)
            (plan.user, plan.password) = ("1001", "secret-1001")
            try await Sipp.run(plan, to: gateway)
            let journal = try await gateway.stop()
            #expect(journal.count("report.incoming") == 1, "the one that proved it")
        }

        static func register(_ gateway: Gateway, password: String = "secret-1002", expires: Int, status: String = "200")
            async throws
        {
            let values = ["EXPIRES": "\(expires)", "STATUS": status, "CONTACTPORT": "\(gateway.clientPort(20))"]
            var plan = Sipp.Plan(scenario: "register", values: values, port: gateway.clientPort(40), mediaPort: gateway.clientPort(30))
            (plan.user, plan.password) = ("1002", password)
            try await Sipp.run(plan, to: gateway)
        }
    }
}
