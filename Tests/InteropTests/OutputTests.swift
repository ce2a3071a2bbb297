import Foundation
import Testing

extension Strains {
    /// Those who read what we say, and monitors that do not ask: they may go, and the disk may be full.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct OutputTests {
        /// In a shell: `$0` is the command.
        private static func shell(_ script: String, in folder: Folder) async throws -> (code: Int32, lines: [String]) {
            try await Program.run("/bin/sh", ["-c", script, Place.hookswitch], in: folder.path)
        }

        private static let yaml =
            "sip: { udp: [\"127.0.0.1:PORT\"] }\nmedia: { ports: FIRST-LAST }\ndata: data\nlines:\n  - { number: \"9196\", application: echo }\n"

        @Test func `a server whose reader is gone still drains, and ends with 0`() async throws {
            let folder = try Folder(), ports = try await Ports.take(100)
            let yaml = Self.yaml.replacing("PORT", with: "\(ports[0])").replacing("FIRST", with: "\(ports[10])").replacing(
                "LAST", with: "\(ports[30])")
            _ = try folder.write(yaml, to: "hookswitch.yaml")
            let run = try await Self.shell(
                "mkfifo p; \"$0\" serve --config hookswitch.yaml > p 2>&1 & read line < p; kill -TERM $!; wait $!; echo code $?", in: folder
            )
            #expect(run.lines.last == "code 0", "\(run.lines)")
            let journal = try Journal(file: folder.file("data/journal.jsonl"))
            #expect(journal.count("gateway.stopped") == 1)
        }

        @Test func `a call whose reader is gone hangs up`() async throws {
            let gateway = try await Gateway.start()
            _ = try await gateway.speech()
            let callee = try await gateway.baresip()
            let script =
                "mkfifo p; \"$0\" call 1002 --from 1001 --password secret-1001 --server \(gateway.address) --duration 60 > p & "
                + "read line < p; echo gone; wait $!; echo code $?"
            let caller = try Program("/bin/sh", ["-c", script, Place.hookswitch], in: gateway.folder.path)
            try await caller.line(containing: "gone")
            // Where "ringing" was not yet said, that is what nobody reads.
            _ = try? await callee.event("CALL_INCOMING")
            callee.accept()
            try await caller.line(containing: "code 141")
            let journal = try await gateway.stop()
            #expect(journal.all("sip.rx").contains { ["BYE", "CANCEL"].contains($0.text("method")) })
        }

        @Test func `a probe that is stopped hangs up`() async throws {
            let gateway = try await Gateway.start()
            let probe = try Program(Place.hookswitch, ["probe", gateway.address])
            try await eventually("its call is up", within: .seconds(10)) { !gateway.mediaSockets.isEmpty }
            probe.signal(SIGINT)
            #expect(try await probe.exitCode(within: .seconds(2)) == 3)
            // The gateway's socket is there before its 200 has come.
            let lines = probe.lines.all.filter { $0 != "9197 is not answered: waiting for the end of its call" }
            #expect(lines == ["calling 9197", "hookswitch: the probe was stopped"])
            let journal = try await gateway.stop()
            #expect(journal.all("sip.rx").contains { $0.text("method") == "BYE" })
        }

        @Test func `a reader of the log that stalls holds up no call`() async throws {
            let folder = try Folder(), ports = try await Ports.take(100)
            let yaml = Self.yaml.replacing("PORT", with: "\(ports[0])").replacing("FIRST", with: "\(ports[10])").replacing(
                "LAST", with: "\(ports[30])")
            let tls =
                "tls: { listen: [\"127.0.0.1:\(ports[1])\"], certificate: \(Place.certificate("server.pem")), key: \(Place.certificate("leaf.key")) }"
            _ = try folder.write(yaml.replacing("sip: {", with: "sip: { \(tls),"), to: "hookswitch.yaml")
            let script = """
                : > out; mkfifo log; exec 4<> log   # opened for reading, and not read
                "$0" serve --config hookswitch.yaml --log-level trace 2> log > out & server=$!
                until grep -q ready out; do sleep 0.1; done
                timeout 1 cat /dev/zero >&4   # until it is full: no line has room
                (trap '' PIPE   # a connection may be closed before its garbage is written
                 for source in $(seq 60); do exec 5<> /dev/tcp/127.0.0.1/\(ports[1]); printf 'OPTIONS sip:x SIP/2.0\r\n\r\n' >&5 2> /dev/null; exec 5>&-; done)
                kill -HUP $server
                "$0" call 9196 --server 127.0.0.1:\(ports[0]) --duration 2 | grep verdict
                kill -TERM $server; wait $server; echo code $?
                """
            let run = try await Program.run("/bin/bash", ["-c", script, Place.hookswitch], in: folder.path)
            #expect(run.lines == ["verdict   audio both ways", "code 0"], "\(run.lines)")
        }

        @Test func `a second signal ends the calls that are up, and the contract holds`() async throws {
            let gateway = try await Gateway.start(.init(settings: ["drain: 60"]))
            let caller = try Program(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "60"])
            try await caller.line(containing: "answered")
            gateway.program.signal(SIGTERM)
            try await gateway.program.line(containing: "draining: 1 calls are up")
            // What comes with the first signal is the same wish: it is said again until it is another.
            var code: Int32?
            while code == nil {
                gateway.program.signal(SIGTERM)
                code = try? await gateway.program.exitCode(within: .milliseconds(500))
            }
            #expect(code == 0)
            #expect(gateway.program.lines.all.contains { $0.contains("0 violations") }, "\(gateway.program.transcript)")
            try await gateway.cleanJournal().expectNothingLeft()
            try await caller.exitCode(within: .seconds(10))
        }

        @Test(.enabled(if: getuid() == 0, "a full device is made"))
        func `results that a full disk does not take, and readers that are gone`() async throws {
            let gateway = try await Gateway.start()
            _ = try await Program.run(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "1"])
            try await gateway.stop()
            // Like /dev/full, which other programs need.
            try #require(mknod(gateway.folder.file("full"), S_IFCHR | 0o666, 1 << 8 | 7) == 0)
            for command in ["audit", "audit --json", "ladder"] {
                let run = try await Self.shell("\"$0\" \(command) data/journal.jsonl > full; echo code $?", in: gateway.folder)
                #expect(run.lines == ["hookswitch: standard output cannot be written: No space left on device", "code 3"])
            }
            let run = try await Self.shell(
                "mkfifo q; \"$0\" ladder data/journal.jsonl > q & exec 3< q; exec 3<&-; wait $!; echo code $?", in: gateway.folder)
            #expect(run.lines == ["code 141"] || run.lines == ["code 0"], "\(run.lines)")
        }

        /// Its number would go to a file or a socket of ours, and what is printed with it.
        @Test func `a standard output that is closed is told of, and nothing is printed into a socket or a journal`() async throws {
            let folder = try Folder(), ports = try await Ports.take(1)
            for command in ["ping 127.0.0.1:\(ports[0]) --timeout 1", "check", "--version"] {
                let run = try await Self.shell("\"$0\" \(command) >&-; echo code $?", in: folder)
                #expect(run.lines == ["hookswitch: standard output cannot be written: Bad file descriptor", "code 3"], "\(command)")
            }
            let peer = try UDPPeer()
            let run = try await Self.shell("\"$0\" call sip:1@127.0.0.1:\(peer.port) --timeout 1 <&- >&- 2>&-; echo code $?", in: folder)
            #expect(run.lines == ["code 3"])
            while let text = peer.receive(within: .milliseconds(100)) {
                #expect(text.contains(" sip:1@127.0.0.1"), "no datagram but SIP: \(text)")
            }
        }

        @Test func `a ladder has no colours where NO_COLOR is set`() async throws {
            let gateway = try await Gateway.start()
            _ = try await Program.run(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "1"])
            try await gateway.stop()
            for (setting, isColoured) in [("NO_COLOR=", true), ("NO_COLOR=1", false)] {
                let run = try await Self.shell("\(setting) script -qec \"$0 ladder data/journal.jsonl\" /dev/null", in: gateway.folder)
                #expect(
                    run.code == 0 && run.lines.joined().contains("INVITE") && run.lines.joined().contains("\u{1B}[") == isColoured,
                    "\(setting)")
            }
        }

        @Test func `visitors that leave without a question hold no place`() async throws {
            let ports = try await Ports.take(1)
            var setup = Gateway.Setup()
            (setup.others, setup.settings) = (ports, ["metrics: { listen: \"127.0.0.1:\(ports[0])\" }"])
            let gateway = try await Gateway.start(setup)
            for _ in 0..<200 { _ = try TCPPeer(port: ports[0]) }
            let asked = ContinuousClock.now
            try await eventually("it answers", within: .seconds(5)) {
                try await Program.run(
                    "/bin/bash",
                    [
                        "-c",
                        "exec 3<>/dev/tcp/127.0.0.1/\(ports[0]); printf 'GET /health/live HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3",
                    ]
                ).lines.contains { $0.hasPrefix("HTTP/1.1 200") }
            }
            #expect(ContinuousClock.now - asked < .seconds(5))
            try await gateway.stop()
        }
    }
}
