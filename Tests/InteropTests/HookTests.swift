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
    }
}
