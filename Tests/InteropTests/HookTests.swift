import Foundation
import Testing

extension Calls {
    /// A program that decides over HTTP what becomes of each call.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct HookTests {
        private static let program = """
            import http.server, json, sys
            class Hook(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    call = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                    answer = {'5001': {'number': '9196'}, '5002': {'reject': 486}}.get(call['dialled'], {})
                    body = json.dumps(answer).encode()
                    self.send_response(200)
                    self.send_header('Content-Length', str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    print('asked about', call['dialled'], 'by', call.get('line'), flush=True)
                def log_message(self, *words): pass
            server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Hook)
            print('listens', flush=True)
            server.serve_forever()
            """

        @Test func `a program sends calls elsewhere, refuses them, and is not needed for the rest`() async throws {
            let ports = try await Ports.take(1)
            let hook = try Program("/usr/bin/env", ["python3", "-c", Self.program, "\(ports[0])"])
            try await hook.line(containing: "listens")
            var setup = Gateway.Setup()
            setup.others = ports
            setup.settings = ["hook: { url: \"http://127.0.0.1:\(ports[0])/\", default: \"number 9197\" }"]
            let gateway = try await Gateway.start(setup)
            func call(_ number: String, _ more: [String] = []) async throws -> (code: Int32, lines: [String]) {
                try await Program.run(Place.hookswitch, ["call", number, "--server", gateway.address, "--duration", "1"] + more)
            }
            let sent = try await call("5001", ["--register", "1001", "--password", "secret-1001"])
            #expect(sent.code == 0, "9196 answers: \(sent.lines)")
            #expect(hook.lines.all.contains("asked about 5001 by 1001"), "\(hook.transcript)")
            let refused = try await call("5002")
            #expect(refused.code == 1 && refused.lines.contains { $0.contains("486") }, "\(refused.lines)")
            #expect(try await call("9196").code == 0, "as dialled")
            hook.kill()
            _ = try await hook.exitCode(within: .seconds(10))
            #expect(try await call("5003").code == 0, "the default is the tone")

            let journal = try await gateway.stop()
            #expect(journal.all("hook.answered").compactMap { $0.text("text") } == ["number 9196", "reject 486", "as-dialled"])
            #expect(journal.all("hook.defaulted").map { $0.text("text") } == ["number 9197"])
            #expect(journal.all("hook.defaulted").first?.text("cause") == "the hook cannot be reached")
            #expect(journal.count("hook.asked") == 4 && journal.count("report.incoming") == 3)
            // The question comes before anything rings.
            for (asked, reported) in zip(
                journal.events.indices.filter { journal.events[$0].kind == "hook.answered" }.dropLast(),
                journal.events.indices.filter { journal.events[$0].kind == "report.incoming" })
            {
                #expect(asked < reported)
            }
            journal.expectNothingLeft()
        }

        /// A gateway, and a program that has one answer for each number.
        private static func start(_ answers: String, _ lines: [String] = []) async throws -> (gateway: Gateway, hook: Program) {
            let ports = try await Ports.take(1)
            let program = Self.program.replacing("{'5001': {'number': '9196'}, '5002': {'reject': 486}}", with: answers)
            let hook = try Program("/usr/bin/env", ["python3", "-c", program, "\(ports[0])"])
            try await hook.line(containing: "listens")
            var setup = Gateway.Setup()
            setup.others = ports
            setup.settings = ["hook: { url: \"http://127.0.0.1:\(ports[0])/\", default: \"reject 503\" }"]
            setup.lines += lines
            return (try await Gateway.start(setup), hook)
        }

        private static func telephone(_ line: Int, at gateway: Gateway, after: Int = 0) async throws -> Program {
            let words = "answer --register \(line) --password secret-\(line) --server \(gateway.address) --after \(after)"
            let phone = try Program(Place.hookswitch, words.split(separator: " ").map(String.init))
            try await phone.line(containing: "registered")
            return phone
        }

        @Test func `a program answers in the words of a line`() async throws {
            let elsewhere = try await Gateway.start()
            let trunk = "{ number: \"8\", trunk: { host: \"\(elsewhere.address)\" } }"
            let (gateway, hook) = try await Self.start(
                "{'1002': {'application': 'echo'}, '9197': {'ring': ['1001']}, '9196': {'trunk': '8'}, '1001': {'devices': '9196'}}",
                [trunk])
            let phone = try await Self.telephone(1001, at: gateway)
            for number in ["1002", "9197", "9196", "1001"] {
                let words = ["call", number, "--server", gateway.address, "--duration", "0.5"]
                let call = try await Program.run(Place.hookswitch, words)
                #expect(call.code == 0, "\(number): \(call.lines)")
            }
            try await phone.stopped()
            hook.kill()
            let journal = try await gateway.stop(), other = try await elsewhere.stop()
            #expect(
                journal.all("hook.answered").compactMap { $0.text("text") } == [
                    "application echo", "ring 1001", "trunk 8", "number 9196",
                ])
            #expect(phone.lines.all.contains { $0.contains("answered") }, "the member of the group: \(phone.transcript)")
            #expect(other.count("report.incoming") == 1, "over the trunk")
            journal.expectNothingLeft()
        }

        @Test func `transactions of a program are performed in their order when the call is reported`() async throws {
            let (gateway, hook) = try await Self.start(
                """
                {'1002': {'transactions': [{'actions': [{'type': 'CXAnswerCallAction'}]},
                {'actions': [{'type': 'CXSetHeldCallAction', 'onHold': True}]}, {'actions': [{'type': 'CXSetHeldCallAction', 'onHold': False}]},
                {'actions': [{'type': 'CXEndCallAction'}]}]}}
                """)
            let phone = try await Self.telephone(1002, at: gateway, after: 60_000)
            _ = try await Program.run(
                Place.hookswitch, ["call", "1002", "--server", gateway.address, "--duration", "60"], within: .seconds(40))
            try await phone.stopped()
            hook.kill()
            let journal = try await gateway.stop()
            let reported = try #require(journal.all("report.incoming").first?.call)
            let kinds = ["report.incoming.ok", "perform.answer", "perform.held", "perform.end"]
            let performed = journal.events.filter { $0.call == reported && kinds.contains($0.kind) }.map(\.kind)
            #expect(performed == ["report.incoming.ok", "perform.answer", "perform.held", "perform.held", "perform.end"])
            journal.expectNothingLeft()
        }
    }
}
