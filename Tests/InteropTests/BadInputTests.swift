import Foundation
import Testing

extension Strains {
    /// A person's mistakes, a hostile network and a full disk: one clear line, the right exit code, and a process that lives.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct BadInputTests {
        // MARK: It cannot start

        @Test(arguments: ["udp", "tcp"])
        func `a port in use is one clear line and exit code 3`(transport: String) async throws {
            let ports = try await Ports.take(1), folder = try Folder()
            let holder = try await Gateway.start(.init(settings: ["# the holder of the port"]))
            let file = try folder.write(
                "sip:\n  \(transport): [\"\(holder.address)\"]\nmedia:\n  ports: \(ports[0])-\(ports[20])\nlines: []\n",
                to: "hookswitch.yaml")
            try await Self.fails(["serve", "--config", file], code: 3, saying: holder.address)
            try await holder.program.stopped()
        }

        static let mistakes: [(yaml: String, says: String)] = [
            ("domain: a.test\nsip:\n  udpp: [\"127.0.0.1:5060\"]\n", ":3: unknown setting 'sip.udpp' (did you mean 'sip.udp'?)"),
            ("domain: a.test\nmedia: { ports: 2000-1000 }\n", ":2: media.ports: takes a range of ports"),
            ("lines:\n  - { number: \"1001\", pasword: x }\n", ":2: line 1001: pasword: unknown setting (did you mean 'password'?)"),
            ("lines:\n  - { number: \"1\", password: a }\n  - { number: \"1\", password: b }\n", ":3: line 1 is there already"),
            ("domain: [\n", ": is no YAML"),
            ("domain: pbx.example.test:5060\n", ":1: domain: takes a host name or an address alone"),
            ("media:\n  codecs: []\n", ":2: media.codecs: takes one codec or more"),
            ("domain: a.test\ndomain: b.test\n", ":1: 'domain' is set twice"),
            (
                "domain: a.test\nsip:\n  udp: [\"0.0.0.0:5060\", \"127.0.0.1:5060\"]\n",
                ":3: sip.udp: 127.0.0.1:5060 cannot be listened on beside 0.0.0.0:5060"
            ),
            ("lines:\n  - { number: \"1\", group: { members: [\"9\"] } }\n", ":2: line 1: its member 9 is no line"),
            ("lines:\n  - { number: \"1\", open: true, directories: [spam] }\n", ":2: line 1: directories: no directory is named 'spam'"),
        ]

        @Test(arguments: mistakes)
        func `a bad configuration is named with file and line, and exit code 2`(mistake: (yaml: String, says: String)) async throws {
            let folder = try Folder()
            let file = try folder.write(mistake.yaml, to: "hookswitch.yaml")
            try await Self.fails(["serve", "--config", file], code: 2, saying: file)
            try await Self.fails(["check", "--config", file], code: 2, saying: mistake.says)
        }

        @Test(arguments: [
            "data: /proc/none\n", "journal: { file: /proc/none/journal.jsonl }\n",
            "sip:\n  tls: { listen: [\"127.0.0.1:1\"], certificate: /none/cert.pem, key: /none/key.pem }\n",
        ])
        func `what the machine does not let it have is one clear line and exit code 3`(setting: String) async throws {
            let folder = try Folder(), ports = try await Ports.take(100)
            let yaml = "sip: { udp: [\"127.0.0.1:\(ports[0])\"] }\nmedia: { ports: \(ports[10])-\(ports[20]) }\n"
            let file = try folder.write(setting.hasPrefix("sip") ? setting : yaml + setting, to: "hookswitch.yaml")
            try await Self.fails(["serve", "--config", file], code: 3, saying: "/none")
        }

        @Test func `a database that is none is one clear line and exit code 3`() async throws {
            let folder = try Folder(), ports = try await Ports.take(100)
            _ = try folder.folder("data")
            let database = try folder.write(String(repeating: "no database ", count: 100), to: "data/hookswitch.sqlite")
            let yaml =
                "sip: { udp: [\"127.0.0.1:\(ports[0])\"] }\nmedia: { ports: \(ports[10])-\(ports[20]) }\ndata: \(folder.file("data"))\n"
            let file = try folder.write(yaml, to: "hookswitch.yaml")
            try await Self.fails(["serve", "--config", file], code: 3, saying: "the database \(database): file is not a database")
        }

        @Test func `a second server on the same data is one clear line and exit code 3`() async throws {
            let gateway = try await Gateway.start(), ports = try await Ports.take(100), folder = try Folder()
            let data = gateway.folder.file("data")
            let yaml = "sip: { udp: [\"127.0.0.1:\(ports[0])\"] }\nmedia: { ports: \(ports[10])-\(ports[20]) }\ndata: \(data)\n"
            let file = try folder.write(yaml, to: "hookswitch.yaml")
            try await Self.fails(["serve", "--config", file], code: 3, saying: "the folder \(data) is in use by another hookswitch")
            try await gateway.stop()
        }

        private static func fails(_ arguments: [String], code: Int32, saying text: String) async throws {
            let (ended, lines) = try await Program.run(Place.hookswitch, arguments)
            #expect(ended == code, "\(lines)")
            #expect(lines.count == 1 && lines[0].contains(text), "one line that says '\(text)': \(lines)")
        }

        // MARK: A hostile network

        @Test func `torture messages and noise leave it alive, clean and answering`() async throws {
            let gateway = try await Gateway.start()
            let peer = try UDPPeer()
            #expect(peer.options(gateway) == "SIP/2.0 200 OK")
            let corpus = try Self.corpus()
            #expect(corpus.count > 40)
            for message in corpus {
                peer.send(message, to: gateway.sipPort)
                #expect(peer.options(gateway) == "SIP/2.0 200 OK", "after \(String(decoding: message.prefix(60), as: UTF8.self))")
            }
            var random = NoiseSource(seed: 4475)
            for _ in 0..<2_000 { peer.send(random.noise(from: corpus), to: gateway.sipPort) }
            #expect(peer.options(gateway) == "SIP/2.0 200 OK")
            let before = ProcessReading(gateway.program.pid)
            for round in 0..<8 {
                for _ in 0..<1_000 { peer.send(random.noise(from: corpus), to: gateway.sipPort) }
                #expect(peer.options(gateway) == "SIP/2.0 200 OK", "seed 4475, round \(round)")
            }
            #expect(gateway.mediaSockets.isEmpty, "no message of these was answered with media")
            try await ProcessReading.expectNoGrowth(of: gateway.program.pid, since: before)
            try await gateway.program.stopped(within: .seconds(30))
            #expect(gateway.program.lines.all.contains { $0.contains("0 violations") })
        }

        @Test func `noise over TCP costs the connection, not the process`() async throws {
            let gateway = try await Gateway.start()
            var random = NoiseSource(seed: 3261)
            var before: ProcessReading?
            for round in 0..<3 {
                for message in try Self.corpus() {
                    let connection = try TCPPeer(port: gateway.sipPort)
                    connection.send(message + random.noise(from: [message]))
                }
                #expect(try UDPPeer().options(gateway) == "SIP/2.0 200 OK", "seed 3261, round \(round)")
                // Answers may leave for five seconds after a peer has said its last word.
                try await eventually("no connection is left, only the listener", within: .seconds(20)) {
                    KernelSockets.tcpSocketCount(of: gateway.program.pid) == 1
                }
                if let before { try await ProcessReading.expectNoGrowth(of: gateway.program.pid, since: before) }
                before = before ?? ProcessReading(gateway.program.pid)
            }
            try await gateway.program.stopped()
            #expect(gateway.program.lines.all.contains { $0.contains("0 violations") })
        }

        private static func corpus() throws -> [[UInt8]] {
            let files = FileManager.default.enumerator(at: Place.corpus, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
            return try files.filter { $0.pathExtension == "dat" }.sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
        }

        // MARK: A full disk

        @Test func `a journal that cannot be written is one clear line, and calls go on`() async throws {
            let gateway = try await Gateway.start(.init(settings: ["journal: { file: /dev/full }"]))
            try await gateway.program.line(containing: "the journal cannot be written: cannot write /dev/full: No space left on device")
            try await Sipp.run(
                .init(
                    scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "9196", calls: 10, rate: 10,
                    duration: 300), to: gateway)
            try await gateway.program.stopped()
            #expect(gateway.program.lines.all.count { $0.contains("cannot be written") } == 1, "it says so once")
        }

        @Test(.enabled(if: getuid() == 0, "a small file system is mounted"))
        func `a disk that fills while it runs and is emptied again`() async throws {
            let disk = try SmallDisk(kilobytes: 64)
            let gateway = try await Gateway.start(.init(mediaPorts: 200, settings: ["journal: { file: \(disk.path)/journal.jsonl }"]))
            let plan = Sipp.Plan(
                scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "9196", calls: 30, rate: 30,
                duration: 200)
            try await Sipp.run(plan, to: gateway)
            try await gateway.program.line(containing: "the journal cannot be written")
            #expect(try UDPPeer().options(gateway) == "SIP/2.0 200 OK")
            try disk.grow(kilobytes: 8_192)
            try await Sipp.run(plan, to: gateway)
            try await gateway.program.line(containing: "the journal is written again")
            try await gateway.program.stopped()
            #expect(
                gateway.program.lines.all.count { $0.contains("cannot be written") } <= 3,
                "it does not come and go with every few bytes of room")
        }
    }
}
