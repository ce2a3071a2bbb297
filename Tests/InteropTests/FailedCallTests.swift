import Foundation
import Testing

extension Calls {
    /// "Why did that call fail": the list of calls answers in words, as docs/guides/debugging-a-failed-call.md shows.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct FailedCallTests {
        private static let questions: [(words: [String], status: String, reason: String)] = [
            (["4444", "--register", "1001", "--password", "secret-1001"], "refused 404", "no line has this number"),
            (["9196", "--from", "1001", "--password", "guess"], "refused 401", "wrong password"),
            (["1002", "--register", "1001", "--password", "secret-1001"], "refused 480", "no device of the line is registered"),
            (["1003", "--register", "1001", "--password", "secret-1001"], "busy 486", ": 486 Busy Here"),
            (["9196", "--register", "1001", "--password", "secret-1001", "--codec", "l16/8000"], "refused 488", "no codec in common"),
            (
                ["9199", "--register", "1001", "--password", "secret-1001"], "refused 488",
                "one side demands encryption, and the other has none"
            ),
        ]

        private func gateway() async throws -> Gateway {
            var setup = Gateway.Setup()
            setup.lines =
                (1...3).map { "{ number: \"100\($0)\", password: secret-100\($0) }" } + [
                    #"{ number: "9196", application: echo }"#, #"{ number: "9199", application: echo, srtp: required }"#,
                ]
            return try await Gateway.start(setup)
        }

        private func calls(_ gateway: Gateway, _ options: String...) async throws -> [String] {
            try await Program.run(Place.hookswitch, ["calls", gateway.journalFile] + options).lines
        }

        @Test func `why a call was refused stands in the list of calls, and a wrong password of a registration below it`() async throws {
            let gateway = try await gateway()
            let busy = try Program(
                Place.hookswitch,
                ["answer", "--server", gateway.address, "--register", "1003", "--password", "secret-1003", "--reject", "486"])
            defer { busy.kill() }
            try await busy.line(containing: "; ready")
            for (words, _, _) in Self.questions {
                let call = try await Program.run(Place.hookswitch, ["call"] + words + ["--server", gateway.address, "--duration", "1"])
                #expect(call.code == 1, "\(call.lines)")
            }
            try await RegistrationTests.register(gateway, password: "guess", expires: 600, status: "401")
            busy.signal(SIGTERM)
            try await gateway.stop()
            let listed = try await calls(gateway)
            #expect(listed.count == 1 + Self.questions.count + 1, "\(listed)")
            for (line, (_, status, reason)) in zip(listed.dropFirst(), Self.questions) {
                #expect(line.contains("  \(status)  ") && line.hasSuffix(reason), "\(line)")
            }
            #expect(
                listed.last?.contains(/registrations were refused, the last of 1002 from 127.0.0.1:[0-9]+ at .*: wrong password$/) == true,
                "\(listed)")
        }

        @Test func `a call of a server that was killed is cut off, and its length is not made up`() async throws {
            let gateway = try await gateway()
            let call = try Program(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "30"])
            defer { call.kill() }
            try await call.line(containing: "answered")
            try await eventually("the call is in the journal") { try await calls(gateway).contains { $0.contains("  up  ") } }
            gateway.program.kill()
            try await gateway.program.exitCode(within: .seconds(10))
            let next = try Program(Place.hookswitch, ["serve", "--config", gateway.folder.file("hookswitch.yaml")])
            defer { next.kill() }
            try await next.line(containing: "is ready")
            try await eventually("the journal has the next run") {
                let line = try await calls(gateway, "--last", "1").dropFirst().first ?? ""
                return line.contains("  cut-off 200  –  ") && line.hasSuffix("the gateway was killed meanwhile")
            }
            try await next.stopped()
        }
    }
}
