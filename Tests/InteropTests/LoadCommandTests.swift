import Foundation
import Testing

extension Strains {
    /// `hookswitch load` as a program, on a running gateway.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct LoadCommandTests {
        private static let lines = [
            #"{ number: "1001", password: secret-1001 }"#, #"{ number: "1002", password: secret-1002 }"#,
            #"{ number: "1003", password: secret-1003 }"#,
            #"{ number: "1004", password: secret-1004 }"#, #"{ number: "9196", application: echo }"#,
        ]

        private static func gateway() async throws -> Gateway {
            try await Gateway.start(.init(mediaPorts: 400, clientPorts: 500, lines: lines))
        }

        private static func ports(_ gateway: Gateway) -> [String] { ["--ports", "\(gateway.clientPort(20))-\(gateway.clientPort(420))"] }

        /// Runs it, and reads its report.
        private static func load(_ gateway: Gateway, _ arguments: [String]) async throws -> (
            code: Int32, report: [String: Any], lines: [String]
        ) {
            let file = gateway.folder.file("load.json")
            let run = try await Program.run(
                Place.hookswitch, ["load"] + arguments + ports(gateway) + ["--json", file], within: .seconds(90))
            let report = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: file))) as? [String: Any]
            return (run.code, try #require(report), run.lines)
        }

        @Test func `accounts register and call each other through the gateway, and both are back to where they were`() async throws {
            let gateway = try await Self.gateway()
            let arguments = [
                gateway.address, "--accounts", "1001..1004", "--password", "secret-{}", "--rate", "4", "--calls", "12", "--talk-time", "2",
                "--concurrent", "20",
            ]
            let target = ["--target-journal", gateway.journalFile, "--target-pid", "\(gateway.program.pid)", "--witness"]
            let run = try await Self.load(gateway, arguments + target + ["--slo", "setup_max<20s"])
            let counts = try #require(run.report["counts"] as? [String: Any]),
                metrics = try #require(run.report["metrics"] as? [String: Any])
            #expect(counts["answered"] as? Int == 12 && counts["good"] as? Int == 12, "\(run.lines.joined(separator: "\n"))")
            for name in ["setup", "invite_transit", "answer_transit", "bye_transit", "delay", "jitter", "loss"] {
                #expect(metrics[name] is [String: Any], "\(name) is measured")
            }
            let leaks = try #require(run.report["leaks"] as? [String: Any]), journal = try #require(leaks["journal"] as? [String: Int])
            #expect((leaks["leftovers"] as? [String])?.isEmpty == true && leaks["notJudged"] == nil)
            let witness = try #require(run.lines.last { $0.hasPrefix("witness: ") })
            #expect(witness.contains("24 calls (24 with media), ") && witness.contains(Witness.agreement), "\(witness)")
            #expect((leaks["targetMemory"] as? [String: Any])?["after"] as? Int ?? 0 > 1_000_000)
            #expect(journal["media.opened"] == 24 && journal["media.closed"] == 24)
            #expect(run.code == 0 || run.code == 3, "good, or not to be believed on a busy machine")
            #expect(
                try #require(run.report["run"] as? [String: Any])["command"] as? String == nil || !run.lines.joined().contains("secret-{}"))
            try await gateway.stop()
        }

        @Test(arguments: ["sdes", "dtls"])
        func `accounts call each other over TLS, encrypted at both ends`(keying: String) async throws {
            let lines = (1...4).map { #"{ number: "100\#($0)", password: secret-100\#($0), srtp: required, srtp-keying: \#(keying) }"# }
            let gateway = try await Gateway.start(.init(mediaPorts: 400, clientPorts: 500, lines: lines, tls: []))
            let way = ["127.0.0.1:\(gateway.tlsPort)", "--transport", "tls", "--ca", Place.certificate("ca.pem"), "--srtp", keying]
            let run = try await Self.load(
                gateway,
                way + [
                    "--accounts", "1001..1004", "--password", "secret-{}", "--rate", "4", "--calls", "8", "--talk-time", "2", "--slo",
                    "encrypted>=100",
                ])
            let counts = try #require(run.report["counts"] as? [String: Any]),
                encryption = try #require(run.report["encryption"] as? [String: Any])
            #expect(counts["answered"] as? Int == 8, "\(run.lines.joined(separator: "\n"))")
            // A first flight that crosses the 200 is lost, and sent again after a second: the report says so, and rightly.
            if keying == "sdes" { #expect(counts["good"] as? Int == 8, "\(run.lines.joined(separator: "\n"))") }
            #expect(encryption[keying] as? Int == 16 && encryption["share"] as? Int == 100, "both ends of each call: \(encryption)")
            if keying == "sdes" { #expect(run.code == 0 || run.code == 3, "good, or not to be believed on a busy machine") }
            let journal = try await gateway.stop()
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["tls"])
        }

        private static func manyLines(_ count: Int) -> [String] {
            (1...count).map { "{ number: \"\(1_000 + $0)\", password: secret-\(1_000 + $0) }" }
        }

        @Test(arguments: ["ws", "wss"]) func `each account calls and is called over a WebSocket of its own`(transport: String) async throws
        {
            let gateway = try await Gateway.start(
                .init(mediaPorts: 400, clientPorts: 500, lines: Self.manyLines(40), tls: [], usesWebSockets: true))
            let isSecure = transport == "wss", port = isSecure ? gateway.secureWebSocketPort : gateway.webSocketPort
            let way = ["127.0.0.1:\(port)", "--transport", transport] + (isSecure ? ["--ca", Place.certificate("ca.pem")] : [])
            let run = try await Self.load(
                gateway,
                way + [
                    "--accounts", "1001..1040", "--password", "secret-{}", "--connect-rate", "200", "--rate", "10", "--calls", "20",
                    "--talk-time", "1", "--slo", "setup_max<20s",
                ])
            let accounts = try #require(run.report["accounts"] as? [String: Any]),
                connections = try #require(accounts["connections"] as? [String: Any]),
                counts = try #require(run.report["counts"] as? [String: Any])
            #expect(accounts["registered"] as? Int == 40 && accounts["seconds"] as? Double ?? 0 >= 0.19, "200 a second: \(accounts)")
            #expect(connections["opened"] as? Int == 40)
            #expect(connections["ends"] as? [String: Int] == ["refused": 0, "closedByPeer": 0, "unanswered": 0, "broken": 0])
            #expect(counts["answered"] as? Int == 20, "\(run.lines.joined(separator: "\n"))")
            #expect(run.lines.contains("connections  40 WebSockets opened, one for each account; lost: none"))
            #expect((run.report["leaks"] as? [String: Any])?["leftovers"] as? [String] == [])
            let journal = try await gateway.stop()
            let invites = journal.all("sip.rx").filter { $0.text("method") == "INVITE" }
            let callers = Set(invites.filter { $0.number("status") == nil }.compactMap { $0.text("remote") }),
                callees = Set(invites.filter { $0.number("status") == 200 }.compactMap { $0.text("remote") })
            #expect(callers.count == 20 && callees.count == 20 && callers.isDisjoint(with: callees), "\(callers), \(callees)")
        }

        @Test func `WebSockets that the gateway turns away are told with their number`() async throws {
            let gateway = try await Gateway.start(
                .init(lines: Self.manyLines(20), settings: ["limits.connections-per-source: 8"], usesWebSockets: true))
            let run = try await Program.run(
                Place.hookswitch,
                ["load", "127.0.0.1:\(gateway.webSocketPort)", "--transport", "ws", "--accounts", "1001..1020", "--password", "secret-{}"]
                    + Self.ports(gateway),
                within: .seconds(60))
            #expect(run.code == 3 && run.lines.joined().contains(" refused"), "\(run.lines)")
            try await gateway.stop()
        }

        @Test func `a number that nobody has is counted by its status, and the exit code is not 0`() async throws {
            let gateway = try await Self.gateway()
            let run = try await Self.load(gateway, ["sip:5555@\(gateway.address)", "--rate", "10", "--calls", "5"])
            let counts = try #require(run.report["counts"] as? [String: Any])
            #expect((counts["byStatus"] as? [String: Int]) == ["404": 5])
            #expect(run.code == 1 || run.code == 3)
            #expect(run.lines.contains { $0.hasPrefix("found        refused: 5 calls (1, 2, 3, 4, 5): 404") })
            try await gateway.program.stopped()
        }

        @Test func `interrupted, it hangs up and still reports`() async throws {
            let gateway = try await Self.gateway()
            let program = try Program(
                Place.hookswitch,
                ["load", "sip:9196@\(gateway.address)", "--rate", "10", "--calls", "1000", "--talk-time", "60", "--stream", "/dev/stderr"]
                    + Self.ports(gateway))
            defer { program.kill() }
            try await program.line(containing: #""answered":"#)
            program.signal(SIGINT)
            _ = try await program.exitCode(within: .seconds(30))
            #expect(program.lines.all.contains { $0.hasPrefix("calls ") && $0.hasSuffix("stopped early") }, "\(program.transcript)")
            #expect(program.lines.all.contains { $0.hasPrefix("left behind  nothing") }, "\(program.transcript)")
            try await gateway.stop()
        }

        @Test func `a browser sees the run while it lasts, and then its report`() async throws {
            let gateway = try await Gateway.start(), ports = try await Ports.take(1)
            let load = try Program(
                Place.hookswitch,
                [
                    "load", "sip:9196@\(gateway.address)", "--rate", "5", "--calls", "50", "--talk-time", "2", "--expect", "echo", "--web",
                    "127.0.0.1:\(ports[0])",
                ])
            defer { load.kill() }
            try await load.line(containing: "the run is shown at http://127.0.0.1:\(ports[0])/")
            let page = try Program(Place.python, [Place.scenario("load.py"), "http://127.0.0.1:\(ports[0])/", Place.screenshots])
            defer { page.kill() }
            #expect(try await page.exitCode(within: .seconds(90)) == 0 && page.lines.all.last == "DONE", "\(page.transcript)")
            let code = try await load.exitCode(within: .seconds(30))
            // On a busy machine the tool is late itself, and does not call the target good.
            let shown = code == 0 ? "verdict: good" : "verdict: not measured: the tool "
            #expect((code == 0 || code == 3) && page.lines.all.contains { $0.hasPrefix(shown) }, "\(code): \(page.transcript)")
            try await gateway.stop().expectNothingLeft()
        }
    }
}
