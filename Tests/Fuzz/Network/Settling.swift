import Foundation
import Primitives
import Runtime

/// The end of an attack: what the server held must go, as transactions and calls that nobody ends run out.
final class Settling {
    private let server: ServerProcess
    private let prober: Prober
    private let resources: [String: Int]
    private let reading: ProcessReading

    /// A call that was answered and not acknowledged: 32 s, then a BYE that nobody answers for 32 s more; and what rang before it.
    private static let timeout = Duration.seconds(150)
    /// kB: freed memory that the allocator may keep (MallocTrimmer: 64 MiB), and what the server remembers: the last 25,000 events for readers, and
    /// those who called. Three times as many inputs need no more.
    private static let mostMemory = 96_000
    /// Descriptors that a server opens with its first calls and keeps.
    private static let mostDescriptors = 8
    /// The kinds that end with calls; bindings of registrations and the like stay on purpose.
    private static let kinds = [
        "legs", "bridges", "calls", "gateway-timers", "dialogs", "client-transactions", "server-transactions", "requests", "media-legs",
        "media-running",
        "media-sockets",
    ]
    /// Damaged contacts name the server itself: what it opened to itself stays until it has been idle for an hour.
    private static let mostConnections = 8

    init(_ server: ServerProcess, _ prober: Prober, before resources: [String: Int]) {
        (self.server, self.prober, self.resources) = (server, prober, resources)
        reading = server.reading
    }

    /// - Parameter look: called once a second meanwhile.
    /// - Returns: memory before and now, in kB.
    /// - Throws: `Broken` where something is still there in the end.
    func await(_ look: () throws -> Void) throws -> (before: Int, after: Int) {
        let end = MonotonicClock.now + Self.timeout
        while true {
            try look()
            let left = try leftovers()
            if left.isEmpty { return (reading.memory, server.reading.memory) }
            guard MonotonicClock.now < end else {
                throw Broken("\(Self.timeout) after the last input there are still \(left.joined(separator: ", "))")
            }
            usleep(1_000_000)
        }
    }

    private func leftovers() throws -> [String] {
        let now = try prober.resources(), current = server.reading
        func excess(_ kind: String) -> Int { now[kind, default: 0] - resources[kind, default: 0] }
        var left = Self.kinds.filter { excess($0) > 0 }.map { "\(excess($0)) \($0)" }
        if excess("connections") > Self.mostConnections { left.append("\(excess("connections")) connections") }
        if current.descriptors > reading.descriptors + Self.mostDescriptors {
            left.append("\(current.descriptors - reading.descriptors) descriptors")
        }
        if current.memory > reading.memory + Self.mostMemory { left.append("\(current.memory - reading.memory) kB of memory") }
        return left
    }
}
