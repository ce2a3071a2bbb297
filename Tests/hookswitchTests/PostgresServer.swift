import Foundation
import Glibc
import Primitives
import Synchronization
import Testing

@testable import hookswitch

/// Tests of gateways and commands with a PostgreSQL: one after the other, for some stop it.
@Suite(.serialized) enum Databases {}

/// A PostgreSQL of the tests' own, in a temporary folder, on a port of loopback. It does not run as root, and ends by its process number.
final class PostgresServer: Sendable {
    static let password = "s3cret of the tests"
    /// One for all tests; each has a database of its own.
    static let shared = Result { try PostgresServer() }

    let folder: String
    let port: UInt16
    private let process = Mutex<Process?>(nil)
    private static let programs = "/usr/lib/postgresql/15/bin"

    private init() throws {
        folder = NSTemporaryDirectory() + "hookswitch-postgres-\(UUID().uuidString.prefix(8))"
        port = try FreePorts.block(of: 2, .v4).lowerBound
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(Self.password.utf8).write(to: URL(filePath: folder + "/password"))
        if getuid() == 0 { try Self.run(["chown", "-R", "postgres", folder]) }
        try Self.run(
            unprivileged + [
                "\(Self.programs)/initdb", "-D", "\(folder)/data", "--no-sync", "-E", "UTF8", "--locale=C", "-U", "postgres",
                "--auth-host=scram-sha-256", "--auth-local=trust", "--pwfile=\(folder)/password",
            ])
        try start()
        atexit { PostgresServer.end() }
    }

    private static func end() {
        guard let server = try? shared.get() else { return }
        server.stop()
        try? FileManager.default.removeItem(atPath: server.folder)
    }

    private var unprivileged: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    }

    /// Returns when it takes connections.
    func start() throws {
        let server = Process()
        server.executableURL = URL(filePath: "/usr/bin/env")
        server.arguments =
            unprivileged + [
                "\(Self.programs)/postgres", "-D", "\(folder)/data", "-p", "\(port)", "-k", folder, "-c", "listen_addresses=127.0.0.1",
                "-c", "fsync=off",
            ]
        let log = folder + "/log"
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(filePath: log)) }
        let writer = try #require(FileHandle(forWritingAtPath: log))
        (server.standardOutput, server.standardError) = (writer, writer)
        try server.run()
        process.withLock { $0 = server }
        let isReady = waits(60) { (try? Self.run(["\(Self.programs)/pg_isready", "-q", "-h", folder, "-p", "\(port)"])) != nil }
        try #require(isReady, "PostgreSQL did not start: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
    }

    /// At once, as a machine that dies.
    func stop() {
        guard let server = process.withLock({ $0.take() }) else { return }
        kill(server.processIdentifier, SIGQUIT)
        server.waitUntilExit()
    }

    /// A fresh database; its URL, over TCP and with a password.
    func makeDatabase() throws -> (name: String, url: String) {
        let name = "d" + UUID().uuidString.lowercased().replacing("-", with: "")
        try query("postgres", "CREATE DATABASE \(name)")
        return (name, "postgres://postgres@127.0.0.1:\(port)/\(name)")
    }

    /// The answer to a statement; columns are apart by "|".
    @discardableResult
    func query(_ database: String, _ statement: String) throws -> String {
        try Self.run([
            "\(Self.programs)/psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", "\(port)", "-U", "postgres", "-d",
            database, "-c", statement,
        ])
        .trimmingCharacters(in: .newlines)
    }

    @discardableResult
    private static func run(_ words: [String]) throws -> String {
        struct Failed: Error { let words: String, output: String }
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(words: words.joined(separator: " "), output: text) }
        return text
    }
}

/// Looks again and again until the condition holds; false when the time is over.
@discardableResult
func waits(_ seconds: TimeInterval, until condition: () throws -> Bool) rethrows -> Bool {
    let end = Date() + seconds
    while try !condition() {
        guard Date() < end else { return false }
        usleep(5_000)
    }
    return true
}
