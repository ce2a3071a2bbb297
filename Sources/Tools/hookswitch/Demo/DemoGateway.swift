import Foundation
import Gateway
import Media
import Primitives
import Runtime
import UserAgent

/// A gateway of the demo's own, on free ports of loopback, with two lines that have passwords, and its journal in a folder that goes with
/// it.
final class DemoGateway {
    static let lines: [(number: Text, password: Text, name: Text)] = [("1001", "secret-1001", "Alice"), ("1002", "secret-1002", "Bob")]

    let server: GatewayServer
    let address: SocketAddress
    private let folder: URL
    /// The file of its journal.
    var journal: String { folder.appending(path: "journal.jsonl").path }
    private var isStopped = false

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-demo-\(UUID())")
        try NamedFile.makeFolder(folder.path)
        var settings = GatewayServer.Settings(
            gateway: try Self.configuration(), listeners: [.init(.udp, SocketAddress(.loopback, port: 0))])
        (settings.mediaLanes, settings.journalFile) = (1, folder.appending(path: "journal.jsonl").path)
        do throws(GatewayServer.StartError) { server = try GatewayServer(settings) { _ in } } catch {
            throw Failure.cannotRun(error.description)
        }
        address = server.listeners[0].address
    }

    private static func configuration() throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.domain = "demo.test"
        configuration.media.ports = try FreePorts.block(of: 40, .v4)
        configuration.access.guests = []
        configuration.lines = lines.map { number, password, name in
            var line = LineConfiguration(number: number)
            (line.password, line.name) = (password, name)
            return line
        }
        return configuration
    }

    /// Lists what is still there of a call; waits a little until it is nothing. Empty when all is as before the call.
    ///
    /// Transactions that only wait for repetitions of messages that were answered (RFC 3261 §17, 32 s over UDP) are not of the call any
    /// more.
    func leftovers(timeout: Duration = .seconds(3)) -> [String] {
        let end = MonotonicClock.now + timeout
        while true {
            let left = leftoversNow
            if left.isEmpty || MonotonicClock.now >= end { return left }
            usleep(20_000)
        }
    }

    private var leftoversNow: [String] {
        guard let counts = server.counts else { return ["the gateway is gone"] }
        let things = [
            (counts.legs, "legs"), (counts.bridges, "bridges"), (counts.calls, "calls"), (counts.timers, "leg timers"),
            (counts.agent.sessions, "dialogs"),
            (counts.media.ports.reserved + counts.media.ports.open, "reserved ports"), (counts.media.legs, "media legs"),
            (counts.media.sockets, "media sockets"),
            (counts.media.timers, "media timers"),
        ]
        return things.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }

    /// Lets everything go, and reads what the gateway wrote down.
    func stop() throws -> JournalReader.Result {
        isStopped = true
        server.stop()
        do { return try JournalReader.read(path: journal) } catch {
            throw Failure.cannotRun("the journal cannot be read")
        }
    }

    deinit {
        if !isStopped { server.stop() }
        try? FileManager.default.removeItem(at: folder)
    }
}
