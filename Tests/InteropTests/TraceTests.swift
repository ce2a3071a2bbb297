import Foundation
import FoundationNetworking
import Testing

extension Calls {
    /// What others read of our messages: the trace, HEP, and the log.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct TraceTests {
        private static let secret = "secret-1001"

        /// A gateway that traces to a file and to whoever listens on the port, and says all in JSON.
        private func gateway(_ folder: Folder, _ ports: Ports) async throws -> Gateway {
            var setup = Gateway.Setup()
            setup.tls = []
            setup.lines = [
                #"{ number: "1001", password: secret-1001 }"#, #"{ number: "1002", password: secret-1002 }"#,
                #"{ number: "9196", application: echo, srtp: optional }"#,
            ]
            setup.others = ports
            setup.settings = [
                "trace: { file: \(folder.file("t.pcapng")), hep: \"127.0.0.1:\(ports[0])\" }", "log: { level: debug, format: json }",
                "metrics: { listen: \"127.0.0.1:\(ports[1])\" }",
            ]
            return try await Gateway.start(setup)
        }

        /// Registers with a password over TLS and makes a call with SDES: 401, 200, INVITE with keys, BYE.
        private func call(_ gateway: Gateway) async throws {
            let call = try await Program.run(
                Place.hookswitch,
                [
                    "call", "9196", "--server", "127.0.0.1:\(gateway.tlsPort)", "--transport", "tls", "--ca", Place.certificate("ca.pem"),
                    "--tls-name", "gateway.example.test", "--register", "1001", "--password", Self.secret, "--srtp", "sdes", "--duration",
                    "0.5",
                ])
            #expect(call.code == 0, "\(call.lines)")
        }

        private func run(_ program: String, _ arguments: [String]) async throws -> [String] {
            let result = try await Program.run(program, arguments)
            #expect(result.code == 0, "\(result.lines)")
            return result.lines.filter { !$0.contains("Running as user") }
        }

        @Test func `a call over TLS is read in the trace by us, tshark and sngrep, without passwords and keys`() async throws {
            let folder = try Folder(), gateway = try await gateway(folder, Ports.take(2)), file = folder.file("t.pcapng")
            try await call(gateway)
            try await gateway.waitForNoMediaSocket()
            let refused = try await Program.run(Place.hookswitch, ["call", "4444", "--server", gateway.address, "--duration", "1"])
            #expect(refused.code == 1)
            let metrics = try await URLSession.shared.data(from: #require(URL(string: "http://127.0.0.1:\(gateway.others![1])/metrics"))).0
            #expect(String(decoding: metrics, as: UTF8.self).contains(#"hookswitch_trace_messages_total{fate="not-written"} 0"#))
            try await gateway.stop()

            // Ourselves.
            let calls = try await run(Place.hookswitch, ["trace", file, "--json", "--method", "INVITE"]).map(Self.object)
            #expect(
                calls.map { $0["status"] as? String } == ["answered", "refused"]
                    && calls.map { $0["transport"] as? String } == ["tls", "udp"])
            let first = try #require(calls.first?["callID"] as? String)
            let flow = try await run(Place.hookswitch, ["trace", file, first]).joined(separator: "\n")
            #expect(flow.contains("INVITE (SDP) ─") && flow.contains("a=crypto:") && flow.contains("inline:****"), "\(flow)")
            let all = try await run(Place.hookswitch, ["trace", file, "--method", "REGISTER"])
            #expect(all.contains { $0.contains("REGISTER") && $0.contains("answered") })

            // tshark: SIP, right checksums, both directions.
            let checks = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
            let fields = ["sip.CSeq.method", "sip.Status-Code", "ip.checksum.status", "udp.checksum.status"].flatMap { ["-e", $0] }
            let packets = try await run(
                "/usr/bin/tshark",
                ["-r", file, "-d", "udp.port==\(gateway.tlsPort),sip", "-d", "udp.port==\(gateway.sipPort),sip", "-T", "fields"] + checks
                    + fields
            ).map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
            #expect(packets.allSatisfy { $0.count == 4 && $0[2] == "1" && $0[3] == "1" }, "\(packets)")
            for expected in [
                ["REGISTER", "401"], ["REGISTER", "200"], ["INVITE", "200"], ["BYE", "200"], ["INVITE", "404"], ["ACK", ""],
            ] {
                #expect(packets.contains { Array($0.prefix(2)) == expected }, "\(expected) of \(packets)")
            }

            // sngrep reads it and writes it again.
            _ = try await run("/usr/bin/sngrep", ["-N", "-q", "-I", file, "-O", folder.file("again.pcap")])
            try await eventually("sngrep has written both calls") {
                let text = Self.text(folder.file("again.pcap"))
                return text.contains(first) && text.contains("SIP/2.0 404")
            }

            // No secret anywhere.
            let journal = try await gateway.cleanJournal()
            #expect(journal.count("register.accepted") > 0)
            let log = gateway.program.lines.all.joined(separator: "\n")
            for text in [Self.text(file), log] {
                for word in ["response=", Self.secret, "nc=00000001", "cnonce="] { #expect(!text.contains(word), "\(word)") }
            }
            #expect(Self.text(file).contains("Authorization: Digest ****"))
        }

        @Test func `sngrep hears of each message by HEP, and tshark reads what it wrote`() async throws {
            let folder = try Folder(), taken = try await Ports.take(2)
            let sngrep = try Program("/usr/bin/sngrep", ["-L", "udp:127.0.0.1:\(taken[0])", "-N", "-q", "-O", folder.file("heard.pcap")])
            try await eventually("sngrep listens") { KernelSockets.udpPorts(of: sngrep.pid).contains(taken[0]) }
            let gateway = try await gateway(folder, taken)
            try await call(gateway)
            try await eventually("sngrep has written the call's end") { Self.text(folder.file("heard.pcap")).contains("BYE sip:") }
            #expect(!Self.text(folder.file("heard.pcap")).contains("response="))
            sngrep.signal(SIGTERM)
            try await gateway.stop()
            let ports = ["udp", "tcp"].flatMap { ["-d", "\($0).port==\(gateway.tlsPort),sip"] }
            let read = try await run(
                "/usr/bin/tshark",
                ["-r", folder.file("heard.pcap")] + ports + ["-Y", "sip", "-T", "fields", "-e", "sip.CSeq.method", "-e", "sip.Status-Code"])
            for expected in ["REGISTER\t401", "INVITE\t200", "BYE\t200"] { #expect(read.contains(expected), "\(expected) of \(read)") }
        }

        @Test(arguments: [("headers", 12), ("whole", 172)]) func `RTP is in the file by choice`(choice: String, payload: Int) async throws {
            let folder = try Folder(), file = folder.file("t.pcapng")
            var setup = Gateway.Setup()
            setup.settings = ["trace: { file: \(file), rtp: \(choice) }"]
            let gateway = try await Gateway.start(setup)
            let call = try await Program.run(
                Place.hookswitch,
                [
                    "call", "9196", "--server", gateway.address, "--register", "1001", "--password", Self.secret, "--codec", "pcmu",
                    "--duration",
                    "1",
                ])
            #expect(call.code == 0, "\(call.lines)")
            try await gateway.stop()
            let decode = ["-o", "rtp.heuristic_rtp:TRUE", "--enable-heuristic", "rtp_udp", "-d", "udp.port==\(gateway.sipPort),sip"]
            let fields = ["rtp.p_type", "frame.len", "frame.cap_len", "udp.srcport"].flatMap { ["-e", $0] }
            let packets = try await run("/usr/bin/tshark", ["-r", file] + decode.dropFirst(2) + ["-Y", "rtp", "-T", "fields"] + fields)
                .map { $0.split(separator: "\t").compactMap { Int($0) } }
            let sent = packets.filter { gateway.mediaRange.contains(UInt16($0[3])) }
            #expect(sent.count > 30 && packets.count - sent.count > 30, "both ways: \(packets.count)")
            #expect(packets.allSatisfy { $0[0] == 0 && $0[1] == 28 + 172 && $0[2] == 28 + payload }, "\(packets.first ?? [])")
            #expect(try await run(Place.hookswitch, ["trace", file, "--method", "INVITE"]).count == 2)
            // One call, with its packets.
            let number = try #require(
                try await run(Place.hookswitch, ["trace", file, "--method", "INVITE"]).last?.split(separator: " ").first)
            _ = try await run(Place.hookswitch, ["trace", file, String(number), "-o", folder.file("one")])
            let own = try await run(
                "/usr/bin/tshark", ["-r", folder.file("one")] + decode.dropFirst(2) + ["-Y", "rtp", "-T", "fields"] + fields)
            #expect(own.count == packets.count)
            let methods = try await run(
                "/usr/bin/tshark", ["-r", folder.file("one")] + decode.suffix(2) + ["-T", "fields", "-e", "sip.Method"])
            #expect(Set(methods) == ["INVITE", "ACK", "BYE", ""], "no REGISTER: \(methods)")
        }

        @Test(arguments: [nil, SIGTERM]) func `a terminal shows the list and a call by keys, and is given back`(end: Int32?) async throws {
            let folder = try Folder(), gateway = try await gateway(folder, Ports.take(2))
            _ = try await Program.run(Place.hookswitch, ["call", "4444", "--server", gateway.address, "--duration", "1"])
            let keys = try CommandPipe(folder.file("keys")), saved = "stty -g > \(folder.path)"
            let words = "stty rows 60 cols 110; \(saved)/before; echo $$ > \(folder.path)/pid; "
            let shown = "\(Place.hookswitch) trace --follow \(folder.file("t.pcapng"))"
            let terminal = try Program(
                "/bin/sh", ["-c", "exec script -qefc '\(words)\(shown); echo \"ended with $?\"; \(saved)/after' /dev/null < \(keys.path)"])
            defer { terminal.kill() }
            try await terminal.line(containing: "> 1  ")
            #expect(
                terminal.lines.all.contains { $0.contains("\u{1B}[?1049h") } && terminal.lines.all.contains { $0.contains("refused 404") })
            // Enter, as each command of the pipe ends.
            keys.say("")
            try await terminal.line(containing: "SIP/2.0 404 Not Found")
            if let end {
                let shell = try #require(Int32(Self.text(folder.file("pid")).trimmingCharacters(in: .newlines)))
                let children = Self.text("/proc/\(shell)/task/\(shell)/children").split(separator: " ").compactMap { Int32($0) }
                let child = try #require(children.first)
                #expect(children.count == 1 && kill(child, end) == 0)
            } else {
                // Back to the list, and the end.
                keys.say("qq")
            }
            try await terminal.line(containing: "ended with 0")
            try await eventually("the terminal is as it was") {
                let before = Self.text(folder.file("before"))
                return !before.isEmpty && Self.text(folder.file("after")) == before
            }
            #expect(terminal.lines.all.contains { $0.contains("\u{1B}[?25h\u{1B}[?1049l") })
            try await gateway.stop()
        }

        @Test func `a collector that nobody runs holds up no call`() async throws {
            let folder = try Folder(), ports = try await Ports.take(2), gateway = try await gateway(folder, ports)
            try await call(gateway)
            try await gateway.stop()
        }

        @Test func `the log has a line for each call's end, each registration and each message, as JSON`() async throws {
            let folder = try Folder(), gateway = try await gateway(folder, Ports.take(2))
            try await call(gateway)
            _ = try await Program.run(Place.hookswitch, ["call", "4444", "--server", gateway.address, "--duration", "1"])
            try await RegistrationTests.register(gateway, password: "guess", expires: 600, status: "401")
            try await gateway.program.line(containing: #""event":"call""#)
            try await gateway.stop()
            let lines = gateway.program.lines.all.filter { $0.hasPrefix("{") }.map(Self.object)
            let calls = lines.filter { $0["event"] as? String == "call" }
            #expect(calls.map { $0["disposition"] as? String } == ["answered", "refused"], "\(calls)")
            #expect(calls.map { $0["status"] as? Int } == [200, 404] && calls.allSatisfy { $0["level"] as? String == "info" })
            #expect(calls.first?["duration"] as? Double ?? 0 > 0.4 && (calls.first?["from"] as? String)?.hasPrefix("1001@") == true)
            let registrations = lines.filter { $0["event"] as? String == "registration" }.map { $0["outcome"] as? String }
            #expect(registrations == ["accepted", "removed", "refused"], "\(registrations)")
            let messages = lines.filter { $0["event"] as? String == "message" }
            #expect(messages.contains { $0["line"] as? String == "SIP/2.0 401 Unauthorized" && $0["direction"] as? String == "sent" })
            #expect(messages.allSatisfy { $0["level"] as? String == "debug" } && messages.count > 8)
        }

        private static func object(_ line: String) -> [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
        }

        /// Its bytes as text, whatever else is in it.
        private static func text(_ file: String) -> String {
            String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        }
    }
}
