import Foundation
import Gateway
import Glibc
import Primitives
import Testing

@testable import hookswitch

/// `hookswitch serve` as a process of its own, with its state in a database: one that can be killed.
final class GatewayProcess {
    let address: SocketAddress
    let journal: String
    private let log: String
    private let process = Process()
    private static let folder = Result { try SoundFolder() }

    private static var program: String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "hookswitch").path
    }

    /// Returns when it serves.
    /// - Parameter further: settings beside those that each test has, as YAML; lines go on.
    init(_ url: String, node: String, address given: SocketAddress? = nil, further: String = "") throws {
        address = try given ?? SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound)
        let folder = try Self.folder.get().path + "/\(UUID())", ports = try FreePorts.block(of: 20, .v4, in: 12_000...19_999)
        (journal, log) = (folder + "/data/journal.jsonl", folder + "/log")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data((PostgresServer.password + "\n").utf8).write(to: URL(filePath: folder + "/password"))
        let yaml = """
            data: ["\(folder)/data", "\(url)"]
            data-password-file: \(folder)/password
            node: \(node)
            sip: { udp: ["\(address)"], tcp: ["\(address)"] }
            media: { ports: \(ports.lowerBound)-\(ports.upperBound) }
            lines:
              - { number: "1001", open: true }
              - { number: "1002", open: true }
            \(further)
            """
        try Data(yaml.utf8).write(to: URL(filePath: folder + "/hookswitch.yaml"))
        try Data().write(to: URL(filePath: log))
        let output = try #require(FileHandle(forWritingAtPath: log))
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["serve", "--config", folder + "/hookswitch.yaml"]
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let serves = waits(60) { events.contains { $0.kind == .gatewayStarted } || !process.isRunning }
        try #require(serves && process.isRunning, "\(said)")
    }

    deinit { kill() }

    /// At once, as a machine that dies.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// As a machine that stands still for a while.
    func pause(_ isPaused: Bool) { Glibc.kill(process.processIdentifier, isPaused ? SIGSTOP : SIGCONT) }

    /// As an operator stops it; its exit code.
    func stop() -> Int32 {
        Glibc.kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        return process.terminationStatus
    }

    var said: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// The journal as far as it is written.
    var events: [JournalEvent] {
        guard let bytes = try? Data(contentsOf: URL(filePath: journal)) else { return [] }
        return JournalReader.parse(Array(bytes), name: "journal").events
    }
}
