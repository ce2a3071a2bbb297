import ArgumentParser
import Audio
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import Testing
import UserAgent
import Workbench

@testable import hookswitch

@Suite struct DoctorTests {
    @Test func `a machine in order is told so`() throws {
        let report = DoctorReport(findings: Examination(try configuration(), machine()).all(nil))
        #expect(!report.isSick && report.findings.allSatisfy { $0.grade == .good }, "\(report.text)")
        for subject in ["advertised", "listens", "media ports", "capacity", "relay", "buffers", "clock", "descriptors"] {
            #expect(report.findings.contains { $0.subject == subject })
        }
    }

    struct Illness: Sendable {
        var subject: String, text: String, remedy: String
        var settings: [String] = []
        var change: @Sendable (inout Machine) -> Void = { _ in }
    }

    @Test(arguments: [
        Illness(
            subject: "media ports", text: "the kernel may give 40000-40099 to any program (ip_local_port_range)",
            remedy: "net.ipv4.ip_local_reserved_ports=40000-40099",
            settings: ["media.ports=40000-40099"]),
        Illness(
            subject: "advertised", text: "127.0.0.1 is told to other machines", remedy: "advertise.address",
            settings: ["advertise.address=127.0.0.1"]),
        Illness(subject: "clock", text: "hpet: reading it takes a system call", remedy: "clocksource=tsc") { $0.clockSource = "hpet" },
        Illness(
            subject: "descriptors", text: "1024 may be open, 20064 can be needed", remedy: "ulimit -n",
            settings: ["media.ports=10000-29999"]
        ) { $0.descriptorLimit = 1_024 },
        Illness(
            subject: "relay", text: "by sockets: bpf(2) is refused", remedy: "cap_add: [BPF, NET_ADMIN, PERFMON]",
            settings: ["media.kernel-relay=required"]
        ) { $0.relayRefusal = { .init("bpf(2) is refused") } },
        Illness(subject: "advertised", text: "an address of a container's network", remedy: "advertise.address") {
            $0.addresses = [IPAddress("172.17.0.2")!]
        },
    ])
    func `what is broken is named with what mends it`(illness: Illness) throws {
        var machine = machine()
        illness.change(&machine)
        let report = DoctorReport(findings: Examination(try configuration(illness.settings), machine).all(nil)),
            bad = report.findings.filter { $0.grade == .bad }
        #expect(bad.map(\.subject) == [illness.subject] && bad.first?.text.contains(illness.text) == true, "\(report.text)")
        #expect(bad.first?.remedy?.contains(illness.remedy) == true)
    }

    @Test func `addresses are told of the families that are listened on, and none that only a cable knows`() throws {
        var machine = machine()
        machine.addresses = [IPAddress("192.0.2.7")!, IPAddress("169.254.3.4")!, IPAddress("2001:db8::7")!, IPAddress("fe80::7")!]
        func told(_ settings: [String]) throws -> [String] {
            Examination(try configuration(settings), machine).all(nil).filter { $0.subject == "advertised" }.map {
                "\($0.text.prefix { $0 != " " })"
            }.sorted()
        }
        #expect(try told([]) == ["192.0.2.7"])
        #expect(try told(["sip.udp=0.0.0.0:5060,[::]:5060"]) == ["192.0.2.7", "2001:db8::7"])
        #expect(try told(["sip.tcp=[2001:db8::9]:5060"]) == ["192.0.2.7", "2001:db8::9"])
    }

    @Test func `what check and serve warn of is noted, and the kernel's ports once`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let directory = folder + "/spam.csv",
            settings = ["sip.udp=127.0.0.1:40002", "sip.tcp=", "media.ports=40000-40099", "directories.identify=spam=\(directory)"]
        let report = DoctorReport(findings: Examination(try configuration(settings), machine()).all(nil)),
            notes = report.findings.filter { $0.subject == "settings" }
        #expect(
            notes.allSatisfy { $0.grade == .note } && report.findings.filter { $0.text.contains("the kernel") }.count == 1, "\(report.text)"
        )
        #expect(
            notes.map(\.text) == [
                "SIP's udp 127.0.0.1:40002 is one of the media ports 40000-40099: no call can have it",
                "no line has enabled the directory spam (see 'directories' of a line)",
            ])
    }

    @Test func `names that are not found and small buffers are noted`() throws {
        var machine = machine()
        (machine.resolve, machine.receiveBufferLimit) = ({ _, _ in nil }, 212_992)
        let findings = Examination(try configuration(["domain=calls.example.test"]), machine).all(nil).filter { $0.grade == .note }
        #expect(findings.map(\.subject) == ["buffers", "names"])
        #expect(findings[1].text == "calls.example.test has no address here")
    }

    @Test(
        arguments: [
            (#"ports: ["5060:5060/udp", "20000-20199:20000-20199/udp"]"#, nil), (#"network_mode: host"#, nil),
            (
                #"ports: ["5060:5060/udp", "${BIND:-127.0.0.1}:20000-20099:20000-20099/udp"]"#,
                "does not publish media ports 20100-20199/udp"
            ),
            (#"ports: ["5060:5060/tcp", "20000-20199:20000-20199/udp"]"#, "does not publish SIP's 5060/udp"),
            (#"ports: ["5060:5060/udp", "30000-30199:20000-20199/udp"]"#, "publishes 20000-20199 under another number"),
            (#"ports: [{ target: 5060, published: 5060, protocol: udp }, { target: 20000-20199, protocol: udp }]"#, nil),
        ] as [(String, String?)])
    func `ports are compared with those that a compose file publishes`(service: String, complaint: String?) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "compose-\(UUID()).yaml")
        try "services:\n  gateway:\n    \(service)\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let findings = Examination(try configuration(), machine()).all(try ComposePorts(path: file.path)).filter { $0.subject == "compose" }
        #expect(findings.count == 1 && (findings[0].grade == .bad) == (complaint != nil), "\(findings)")
        if let complaint { #expect(findings[0].text.contains(complaint)) }
    }

    @Test func `the repository's own compose file and configuration fit together`() throws {
        let docker = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Docker")
        let configuration = try ConfigurationFile.load(docker.appending(path: "hookswitch.yaml").path, environment: [:], flags: [])
        let findings = Examination(configuration, machine()).all(try ComposePorts(path: docker.appending(path: "compose.yaml").path)).filter
        { $0.subject == "compose" }
        #expect(findings.count == 2 && findings.allSatisfy { $0.grade == .good }, "\(findings)")
        let text = try String(contentsOf: docker.appending(path: "compose.yaml"), encoding: .utf8)
        for service in ["  bridge:", "  host:"] {
            let part = try #require(text.components(separatedBy: service + "\n").last?.components(separatedBy: "\n\n").first)
            #expect(part.contains("HOOKSWITCH_ADVERTISE_ADDRESS"), "\(service) cannot be told its address")
        }
    }

    @Test(
        arguments: [
            (
                ["sip.udp=0.0.0.0:5060"],
                "dns: { ports: [\"5353:53/udp\"] }\n  gateway: { ports: [\"5060:5060/udp\", \"20000-20199:20000-20199/udp\"] }", [nil]
            ),
            (["sip.tcp=0.0.0.0:5060"], "gateway: { ports: [\"20000-20199:20000-20199/udp\"] }", ["does not publish SIP's 5060/tcp"]),
            (["sip.tcp=0.0.0.0:5060"], "gateway: { ports: [\"5060:5060\", \"20000-20199:20000-20199/udp\"] }", [nil]),
            (["sip.tcp=0.0.0.0:5060"], "dns: { ports: [\"5353:53/udp\"] }", ["does not publish SIP's 5060/tcp"]),
        ] as [([String], String, [String?])])
    func `services that publish nothing of ours are not judged, and SIP over TCP is`(
        settings: [String], services: String, complaints: [String?]
    ) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "compose-\(UUID()).yaml")
        try "services:\n  \(services)\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = try ConfigurationFile.load(
            nil, environment: [:],
            flags: settings + ["domain=192.0.2.7"] + (settings == ["sip.tcp=0.0.0.0:5060"] ? ["sip.udp="] : ["sip.tcp="]))
        let findings = Examination(configuration, machine()).all(try ComposePorts(path: file.path)).filter { $0.subject == "compose" }
        #expect(findings.count == complaints.count, "\(findings)")
        for (finding, complaint) in zip(findings, complaints) {
            #expect((finding.grade == .good) == (complaint == nil) && finding.text.contains(complaint ?? "gateway publishes"), "\(finding)")
        }
    }

    @Test(arguments: [
        ("services:\n\ta: b", ":2: is no YAML: the line is indented with a tab; YAML takes spaces"),
        ("[1]", ": is no compose file: it has no 'services'"),
    ])
    func `a compose file that cannot be understood is told with the reason`(yaml: String, complaint: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "compose-\(UUID()).yaml").path
        try Data(yaml.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let failure = try #require(throws: Failure.self) { try ComposePorts(path: file) }
        #expect(failure.message == file + complaint && failure.exitCode == 2)
        #expect(throws: Failure.self) { try ComposePorts(path: "") }
    }

    @Test func `whatever a start needs is tried: sockets of every kind, and the folder`() throws {
        var machine = machine()
        machine.bindFailure = { address, isTCP in "\(isTCP ? "TCP" : "UDP") \(address.port) is taken" }
        machine.folderFailure = { _ in .unwritable }
        let findings = Examination(try configuration(["metrics.listen=127.0.0.1:9464", "data=d"]), machine).all(nil)
        #expect(
            findings.filter { $0.subject == "listens" }.map(\.text) == [
                "udp 0.0.0.0:5060: UDP 5060 is taken", "tcp 0.0.0.0:5060: TCP 5060 is taken", "metrics 127.0.0.1:9464: TCP 9464 is taken",
            ])
        #expect(findings.filter { $0.subject == "data" }.map(\.grade) == [.bad])
    }

    /// Which the resolver of the C library does not know here.
    @Test func `names are asked for as a server asks`() throws {
        let configuration = try configuration(["dns.servers=127.0.0.1:1"])
        #expect(Machine.here.resolve(.init(host: "trunk.localhost"), configuration) != nil)
        #expect(Machine.here.resolve(.init(host: "trunk.invalid"), configuration) == nil)
    }

    @Test func `a folder is free, somebody's, or cannot be had`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID())").path
        #expect(Machine.here.folderFailure(folder + "/new/one") == nil)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let claim = try LockFile(folder)
        #expect(Machine.here.folderFailure(folder) == .inUse)
        withExtendedLifetime(claim) {}
        #expect(Machine.here.folderFailure("/dev/null/x") == .noFolder("/dev/null"))
    }

    private func configuration(_ settings: [String] = []) throws -> ServeConfiguration {
        var configuration = try ConfigurationFile.load(
            nil, environment: ["HOOKSWITCH_SIP_UDP": "0.0.0.0:5060", "HOOKSWITCH_SIP_TCP": "0.0.0.0:5060"], flags: settings)
        if !settings.contains(where: { $0.hasPrefix("domain") }) { configuration.gateway.domain = "192.0.2.7" }
        return configuration
    }

    private func machine() -> Machine {
        Machine(
            addresses: [IPAddress("192.0.2.7")!], ephemeral: 32_768...60_999,
            receiveBufferLimit: 8 << 20, sendBufferLimit: 8 << 20, clockSource: "tsc", descriptorLimit: 65_536, cores: 2,
            resolve: { _, _ in 3 }, folderFailure: { _ in nil }, database: { _ in .good(milliseconds: 3) },
            relayRefusal: { nil }, bindFailure: { _, _ in nil })
    }
}

/// Which of the four ways is dead: from what was seen, and from real calls.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ProbeTests {
    private static let good = ProbeEvidence(
        number: "9197", hasAnswer: true, status: 200, isByeAnswered: true, contact: SocketAddress("192.0.2.7:5060", defaultPort: 1),
        media: SocketAddress("192.0.2.7:20000", defaultPort: 1), hasMedia: true,
        sent: 150, received: 150, isOwnHeard: true)

    struct Case: Sendable {
        var verdict: String, dead: [String]
        var remedy: String?
        var edit: @Sendable (_ tone: inout ProbeEvidence, _ echo: inout ProbeEvidence) -> Void = { _, _ in }
    }

    @Test(arguments: [
        Case(verdict: "all four ways work", dead: []),
        Case(verdict: "dead: SIP out", dead: ["SIP out"], remedy: "is it running") { tone, _ in tone = ProbeEvidence(number: "9197") },
        Case(
            verdict: "dead: SIP out", dead: ["SIP out"],
            remedy: "advertise.address: 192.0.2.7 (HOOKSWITCH_ADVERTISE_ADDRESS), in place of 172.17.0.2"
        ) { tone, _ in
            (tone.repeatedAcceptances, tone.isByeAnswered, tone.contact) = (4, false, SocketAddress("172.17.0.2:5060", defaultPort: 1))
        },
        Case(verdict: "dead: SIP out", dead: ["SIP out"], remedy: "let UDP 5060 through both ways") { _, echo in echo.isByeAnswered = false
        },
        Case(verdict: "all four ways work", dead: []) { tone, _ in (tone.endedBy, tone.isByeAnswered) = (.them, false) },
        Case(verdict: "all four ways work", dead: []) { tone, _ in tone.repeatedAcceptances = 1 },
        Case(
            verdict: "dead: RTP out", dead: ["RTP out"],
            remedy: "advertise.address: 192.0.2.7 (HOOKSWITCH_ADVERTISE_ADDRESS), in place of 172.17.0.2"
        ) { tone, echo in
            (tone.isOwnHeard, echo.isOwnHeard, echo.received, tone.media, echo.media) = (
                false, false, 0, SocketAddress("172.17.0.2:20000", defaultPort: 1), nil
            )
        },
        Case(verdict: "dead: RTP out", dead: ["RTP out"], remedy: "let UDP 20000 and the rest of media.ports through") { tone, echo in
            (tone.isOwnHeard, echo.isOwnHeard, echo.received) = (false, false, 0)
        },
        Case(verdict: "dead: RTP in", dead: ["RTP in"], remedy: "a firewall or NAT before this machine") { tone, echo in
            (tone.received, echo.received, tone.isOwnHeard, echo.isOwnHeard) = (0, 0, false, false)
        },
        Case(verdict: "our own sound came back from 9197", dead: []) { tone, echo in echo.isOwnHeard = false },
        Case(verdict: "not known: RTP out, RTP in", dead: [], remedy: "name numbers that answer") { tone, echo in
            (tone.status, echo.status) = (404, 404)
        },
        Case(verdict: "no call was connected: 9197 was answered too late (--timeout)", dead: [], remedy: "a longer --timeout") {
            tone, echo in
            (tone.isLate, tone.hasMedia, tone.received, tone.isOwnHeard) = (true, false, 0, false)
            echo = tone
        },
        Case(verdict: "no call was connected: 9197: the 200 has no description", dead: []) { tone, echo in
            (tone.failure, tone.hasMedia, tone.received, tone.isOwnHeard) = ("the 200 has no description", false, 0, false)
            echo = tone
        },
    ])
    func `the dead way is named, with what mends it, and none where no media was tried`(test: Case) {
        var tone = Self.good, echo = Self.good
        echo.number = "9196"
        test.edit(&tone, &echo)
        let report = ProbeReport(
            server: SocketAddress("192.0.2.7:5060", defaultPort: 1)!, usesTCP: false, tone: tone, echo: tone.hasAnswer ? echo : nil)
        #expect(report.text.contains(test.verdict), "\(report.text)")
        #expect(report.ways.filter { $0.state == .dead }.map(\.name) == test.dead)
        let isKnown = !test.verdict.hasPrefix("not known") && !test.verdict.hasPrefix("no call")
        #expect(report.status == (test.dead.isEmpty && isKnown ? .good : test.dead.isEmpty ? .cannotRun : .bad))
        if let remedy = test.remedy { #expect(report.ways.contains { $0.remedy?.contains(remedy) == true }, "\(report.text)") }
    }

    @Test(arguments: [true, false]) func `what mends SIP is told of the transport that was tried`(usesTCP: Bool) {
        var echo = Self.good
        echo.isByeAnswered = false
        let reports = [(ProbeEvidence(number: "9197"), nil), (Self.good, echo)].map { tone, echo in
            ProbeReport(server: SocketAddress("192.0.2.7:5060", defaultPort: 1)!, usesTCP: usesTCP, tone: tone, echo: echo).ways[0].remedy
                ?? ""
        }
        #expect(
            reports[0].contains(usesTCP ? "sip.tcp: [" : "sip.udp: [")
                && reports[1].contains("let \(usesTCP ? "TCP" : "UDP") 5060 through"), "\(reports)")
    }

    @Test func `real calls to a target in order find all four alive`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        let report = try probe("\(target.address)")
        #expect(report.ways.allSatisfy { $0.state == .alive }, "\(report.text)")
    }

    @Test func `a BYE that is refused has arrived`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        target.phone.post { client, _ in
            // What comes for it gets 481.
            client.phone.onEvent = { call, event, now in if case .connected = event { call.session?.vanish(at: now) } }
        }
        let report = try probe("\(target.address)")
        #expect(report.ways[0] == ProbeReport.Way(name: "SIP out", state: .alive, text: "INVITE, ACK and BYE arrive"), "\(report.text)")
    }

    @Test func `where no echo comes back the target's own reports of our packets are believed`() throws {
        let target = try FaultyTarget { number, call in call.script.source = number == 1 ? .tone(.init(440)) : .silence }
        defer { target.phone.close() }
        let report = try probe("\(target.address)")
        #expect(
            report.ways.allSatisfy { $0.state == .alive } && report.ways[2].text == "the gateway reports that our packets arrive",
            "\(report.text)")
    }

    /// A 200 that crosses our CANCEL; one that says nothing of media; and none, for which we do not blame whoever ends what we have
    /// cancelled.
    @Test(arguments: [
        ("200 OK", "9197 was answered too late (--timeout)"), (nil, "9197: the 200 has no description"),
        ("487 Request Terminated", "9197 was not answered in time (--timeout)"),
    ])
    func `where no media was open, no way of RTP is dead`(atCancel: String?, reason: String) throws {
        let target = try DumbTarget(atCancel: atCancel)
        let report = try probe("\(target.address) --timeout 1")
        #expect(report.status == .cannotRun && report.ways.map(\.state) == [.alive, .alive, .unknown, .unknown], "\(report.text)")
        #expect(report.ways[3].text == "no call was connected: \(reason)")
    }

    @Test func `where nobody listens, SIP is dead`() throws {
        let report = try probe("127.0.0.1:\(try FreePorts.block(of: 2, .v4).lowerBound) --timeout 1")
        #expect(report.status == .bad && report.ways[0].state == .dead && report.ways[2].state == .unknown, "\(report.text)")
    }

    private func probe(_ arguments: String) throws -> ProbeReport {
        try #require(try Hookswitch.parseAsRoot(("probe " + arguments).split(separator: " ").map(String.init)) as? Probe).examine()
    }
}
