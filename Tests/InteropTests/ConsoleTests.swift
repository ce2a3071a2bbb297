import Foundation
import Testing

extension Strains {
    /// The web console in Debian's Chromium (`Scenarios/console.py`). Its screenshots stay in `.build/screenshots`.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ConsoleTests {
        private struct Stage {
            let gateway: Gateway, port: UInt16
            /// Messages of the mailbox.
            let sounds: Folder
            /// Seen in the list of processes as arguments of the scenario: tokens of this test alone.
            var tokens: [String] = []

            static func start() async throws -> Stage {
                let ports = try await Ports.take(1), sounds = try Folder()
                var setup = Gateway.Setup()
                setup.others = ports
                setup.lines.append(
                    #"{ number: carrier, match: "^7", trunk: { host: "127.0.0.1:9", register: true, username: x, password: y } }"#)
                setup.lines.append("{ number: \"1900\", application: record, record: \(sounds.file("mailbox")) }")
                setup.settings = [
                    "api: { listen: [\"127.0.0.1:\(ports[0])\"] }", "trace.memory: 8",
                    "push.url: \"https://hidden:hidden@push.example.test/hidden?key=hidden\"",
                ]
                return Stage(gateway: try await Gateway.start(setup), port: ports[0], sounds: sounds)
            }

            func visit(_ scene: String) throws -> Program {
                try Program(
                    Place.python,
                    [
                        Place.scenario("console.py"), scene, "http://127.0.0.1:\(port)/", gateway.address, Place.hookswitch,
                        Place.screenshots,
                    ] + tokens)
            }

            func play(_ scene: String) async throws {
                let person = try visit(scene)
                defer { person.kill() }
                let code = try await person.exitCode(within: .seconds(180))
                #expect(code == 0 && person.lines.all.last == "DONE", "\(person.transcript)")
            }
        }

        @Test func `calls are seen, held, muted and hung up in the page, as the journal has it`() async throws {
            let stage = try await Stage.start()
            try await stage.play("calls")
            let journal = try await stage.gateway.stop()
            journal.expectNothingLeft()
            let kinds = journal.events.map(\.kind)
            #expect(kinds.count { $0 == "perform.held" } == 2 && kinds.contains("perform.muted"))
            #expect(kinds.contains("perform.end"), "the page hung up, and not the telephone")
        }

        @Test func `each view shows what there is, and does what is asked`() async throws {
            let stage = try await Stage.start()
            try await stage.play("views")
            let journal = try await stage.gateway.stop()
            journal.expectNothingLeft()
            let kinds = journal.events.map(\.kind)
            #expect(kinds.contains("perform.dtmf") && kinds.contains("dnd.changed"), "\(Set(kinds).sorted())")
        }

        @Test(arguments: ["accessible", "hostile", "german", "many", "load", "sounds", "strange"]) func `the page holds`(scene: String)
            async throws
        {
            let stage = try await Stage.start()
            try await stage.play(scene)
            try await stage.gateway.stop()
        }

        @Test func `a page logs in with a token, and has its rights alone`() async throws {
            var stage = try await Stage.start()
            for scopes in ["read", "read,control,lines,admin"] {
                let made = try await Program.run(
                    Place.hookswitch,
                    ["token", "create", "t\(stage.tokens.count)", "--scopes", scopes, "--data", stage.gateway.folder.file("data")])
                stage.tokens.append(try #require(made.lines.first { $0.hasPrefix("hsw_") }, "\(made.lines)"))
            }
            try await stage.play("login")
            try await stage.gateway.stop()
        }

        @Test func `a page shows and steers a call of another gateway`() async throws {
            let ports = try await Ports.take(2), secret = try Folder()
            try secret.write(String(repeating: "a", count: 32), to: "secret")
            func start(_ number: Int) async throws -> Gateway {
                var setup = Gateway.Setup()
                setup.others = ports
                let nodes = (1...2).map { "\"gateway-\($0)=http://127.0.0.1:\(ports[$0 - 1])\"" }.joined(separator: ", ")
                setup.settings = [
                    "node: gateway-\(number)",
                    "api: { listen: [\"127.0.0.1:\(ports[number - 1])\"], nodes: [\(nodes)], nodes-secret-file: \(secret.file("secret")) }",
                ]
                return try await Gateway.start(setup)
            }
            let first = try await start(1), second = try await start(2)
            let person = try Program(
                Place.python,
                [
                    Place.scenario("console.py"), "nodes", "http://127.0.0.1:\(ports[0])/", second.address, Place.hookswitch,
                    Place.screenshots,
                ])
            defer { person.kill() }
            try await person.line(containing: "KILL", within: .seconds(120))
            let kinds = try await second.stop().events.map(\.kind)
            #expect(kinds.count { $0 == "perform.held" } == 2 && kinds.contains("perform.end"), "the page did it, and not the telephone")
            #expect(try await person.exitCode(within: .seconds(60)) == 0, "\(person.transcript)")
            #expect(try await first.stop().events.allSatisfy { $0.kind != "report.incoming" })
        }

        @Test func `a gateway that starts again is live again in the page`() async throws {
            let stage = try await Stage.start(), person = try stage.visit("restart")
            defer { person.kill() }
            try await person.line(containing: "RESTART", within: .seconds(60))
            stage.gateway.program.kill()
            _ = try await stage.gateway.program.exitCode(within: .seconds(10))
            try await stage.gateway.startAgain()
            #expect(try await person.exitCode(within: .seconds(120)) == 0, "\(person.transcript)")
            try await stage.gateway.stop()
        }
    }
}
