import Foundation
import Testing

/// A running `hookswitch serve`, with a configuration, a journal and a run of ports of its own.
final class Gateway: Sendable {
    struct Setup {
        /// Ports for media; SIP and the clients have others.
        var mediaPorts = 80
        var clientPorts = 200
        /// Entries of `lines`, as YAML.
        var lines: [String] = Setup.usual
        /// Further settings, as YAML lines at the top level.
        var settings: [String] = []
        var usesIPv6 = false
        /// `media.codecs`, as YAML has it; nil: the usual ones.
        var codecs: String?
        /// Further entries of `sip.tls`, such as `client-ca: FILE`; nil: no TLS.
        var tls: [String]?
        /// Listens for WebSockets, in the clear and over TLS, with the certificate of TLS.
        var usesWebSockets = false
        /// Ports that the lines name, kept for as long as the gateway is.
        var others: Ports?

        static let usual = [
            #"{ number: "1001", password: secret-1001, name: Alice }"#, #"{ number: "1002", password: secret-1002, name: Bob }"#,
            #"{ number: "9196", application: echo }"#, #"{ number: "9197", application: tone }"#,
        ]
    }

    let folder: Folder
    let ports: Ports
    let others: Ports?
    private(set) nonisolated(unsafe) var program: Program
    let mediaRange: ClosedRange<UInt16>
    let sipPort: UInt16

    /// Ports for the clients of the test.
    func clientPort(_ index: Int) -> UInt16 { ports[10 + index] }

    /// Starts it and waits until it is ready.
    static func start(_ setup: Setup = Setup(), environment: [String: String] = [:]) async throws -> Gateway {
        let ports = try await Ports.take(setup.clientPorts + setup.mediaPorts)
        let gateway = try Gateway(setup, ports, environment)
        try await gateway.program.line(containing: "is ready")
        return gateway
    }

    private init(_ setup: Setup, _ ports: Ports, _ environment: [String: String]) throws {
        folder = try Folder()
        others = setup.others
        self.ports = ports
        sipPort = ports[0]
        mediaRange = ports.part(setup.clientPorts, setup.mediaPorts)
        let file = try folder.write(Self.yaml(setup, sipPort: sipPort, media: mediaRange, data: folder.file("data")), to: "hookswitch.yaml")
        program = try Program(Place.hookswitch, ["serve", "--config", file], environment: environment, playsSound: true)
    }

    static func yaml(_ setup: Setup, sipPort: UInt16, media: ClosedRange<UInt16>, data: String) -> String {
        let addresses = ["\"127.0.0.1:\(sipPort)\""] + (setup.usesIPv6 ? ["\"[::1]:\(sipPort)\""] : [])
        let lines = setup.lines.map { "  - \($0)" }
        let text =
            [
                "domain: 127.0.0.1", "sip:", "  udp: [\(addresses.joined(separator: ", "))]",
                "  tcp: [\(addresses.joined(separator: ", "))]",
            ] + tls(setup, sipPort + 1) + webSockets(setup, sipPort) + [
                "media:", "  ports: \(media.lowerBound)-\(media.upperBound)",
            ] + (setup.codecs.map { ["  codecs: [\($0)]"] } ?? []) + ["test-mode: true"]
        let journal = setup.settings.contains { $0.hasPrefix("journal:") || $0.hasPrefix("journal.file") } ? [] : ["data: \(data)"]
        // A debug build beside two other groups of tests may be late; overload has its tests in virtual time.
        let limits = setup.settings.contains { $0.hasPrefix("limits") } ? [] : ["limits.backlog: 0"]
        return (text + journal + limits + setup.settings + ["lines:"] + lines).joined(separator: "\n") + "\n"
    }

    /// Stops it and starts it again, with all that it keeps.
    func restart() async throws {
        try await program.stopped()
        try await startAgain()
    }

    /// After it has ended, by itself or not.
    func startAgain() async throws {
        program = try Program(Place.hookswitch, ["serve", "--config", folder.file("hookswitch.yaml")], playsSound: true)
        try await program.line(containing: "is ready")
    }

    private static func tls(_ setup: Setup, _ port: UInt16) -> [String] {
        guard let further = setup.tls else { return [] }
        let files = [("certificate", "server.pem"), ("key", "leaf.key"), ("ca", "ca.pem")].map { "\($0): \(Place.certificate($1))" }
        return ["  tls: { listen: [\"127.0.0.1:\(port)\"], \((files + further).joined(separator: ", ")) }"]
    }

    private static func webSockets(_ setup: Setup, _ port: UInt16) -> [String] {
        guard setup.usesWebSockets else { return [] }
        return ["  ws: [\"127.0.0.1:\(port + 2)\"]"] + (setup.tls == nil ? [] : ["  wss: { listen: [\"127.0.0.1:\(port + 3)\"] }"])
    }

    var webSocketPort: UInt16 { sipPort + 2 }
    var secureWebSocketPort: UInt16 { sipPort + 3 }
    var tlsPort: UInt16 { sipPort + 1 }
    var address: String { "127.0.0.1:\(sipPort)" }
    var journalFile: String { folder.file("data/journal.jsonl") }

    // MARK: The kernel's view

    /// Ports of the media range that the gateway's process has sockets on.
    var mediaSockets: [UInt16] { KernelSockets.udpPorts(of: program.pid).filter(mediaRange.contains).sorted() }

    func waitForNoMediaSocket(within limit: Duration = .seconds(30)) async throws {
        try await eventually("no media socket is left", within: limit) { mediaSockets.isEmpty }
    }

    // MARK: The end

    /// SIGTERM, exit 0, and a journal that the audit finds clean.
    @discardableResult
    func stop(within limit: Duration = .seconds(20)) async throws -> Journal {
        try await waitForNoMediaSocket()
        program.signal(SIGTERM)
        let code = try await program.exitCode(within: limit)
        #expect(code == 0, "\(program.transcript)")
        #expect(program.lines.all.contains { $0.contains("0 violations") }, "\(program.transcript)")
        return try await cleanJournal()
    }

    /// The journal, after `hookswitch audit` found nothing wrong with it.
    func cleanJournal() async throws -> Journal {
        let audit = try await Program.run(Place.hookswitch, ["audit", "--json", journalFile])
        #expect(audit.code == 0, "the audit is clean: \(audit.lines.joined(separator: "\n"))")
        let journal = try Journal(file: journalFile)
        #expect(journal.events.count > 0)
        return journal
    }
}
