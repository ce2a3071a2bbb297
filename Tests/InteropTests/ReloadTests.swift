import Foundation
import Testing

extension Calls {
    /// SIGHUP on a running server.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ReloadTests {
        private func call(_ number: String, _ gateway: Gateway) async throws -> Int32 {
            try await Program.run(Place.hookswitch, ["call", number, "--server", gateway.address, "--duration", "1"]).code
        }

        private func rewrite(_ gateway: Gateway, _ change: (String) -> String) throws {
            let path = gateway.folder.file("hookswitch.yaml")
            try change(String(contentsOfFile: path, encoding: .utf8)).write(toFile: path, atomically: true, encoding: .utf8)
            gateway.program.signal(SIGHUP)
        }

        @Test func `SIGHUP changes lines while a call is up, and a wrong file changes nothing`() async throws {
            let gateway = try await Gateway.start()
            let long = try Program(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "6"])
            try await long.line(containing: "answered")
            #expect(try await call("9198", gateway) == 1)
            try rewrite(gateway) { $0.replacing("number: \"9197\"", with: "number: \"9198\"") + "  - { number: \"9196\", open: true }\n" }
            try await gateway.program.line(containing: "the configuration stays as it was: ")
            #expect(gateway.program.transcript.contains("line 9196 is there already"), "\(gateway.program.transcript)")
            #expect(try await call("9197", gateway) == 0)
            try rewrite(gateway) { text in
                text.replacing("  - { number: \"9196\", open: true }\n", with: "").replacing(
                    "test-mode: true", with: "test-mode: true\ndrain: 9"
                )
                .replacing("  - { number: \"9196\", application: echo }\n", with: "")
            }
            try await gateway.program.line(
                containing: "the configuration was read again: lines added 9198; removed 9196, 9197")
            try await gateway.program.line(containing: "only a restart changes drain")
            #expect(try await call("9198", gateway) == 0)
            #expect(try await call("9196", gateway) == 1)
            #expect(try await long.exitCode(within: .seconds(20)) == 0, "\(long.transcript)")
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.all("configuration.reloaded").compactMap { $0.text("added") } == ["9198"])
        }
    }
}
