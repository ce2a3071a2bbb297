import Dispatch
import Logging
import Primitives
import Runtime
import Synchronization

/// The lines of a server's log, in their order, written on a queue of their own: who reads them may stall, and no lane waits for that.
///
/// Thread-safe. Lines that come while too many wait, or about too many sources, are dropped, and their number is told with the next one.
final class NoticeLog: Sendable {
    private struct State {
        var waiting = 0, dropped = 0
        /// The sources that a line was written about, and when.
        var told: [String: Instant] = [:]
        /// When `told` has room again, as far as is known.
        var roomAt = Instant.zero

        mutating func isDue(_ source: String, at now: Instant) -> Bool {
            if let last = told[source], now - last < NoticeLog.pause { return false }
            if told.count >= NoticeLog.mostSources, now >= roomAt {
                told = told.filter { now - $0.value < NoticeLog.pause }
                roomAt = (told.values.min() ?? now) + NoticeLog.pause
            }
            guard told.count < NoticeLog.mostSources || told[source] != nil else {
                dropped += 1
                return false
            }
            told[source] = now
            return true
        }

        mutating func takeDropped() -> Int {
            waiting -= 1
            guard waiting == 0 else { return 0 }
            defer { dropped = 0 }
            return dropped
        }
    }

    /// Fields of a line, for programs: they stand in JSON alone.
    typealias Fields = [(name: String, value: FieldValue)]

    /// The time between two lines `oncePer` a source, and the number of sources that are remembered.
    private static let pause = Duration.seconds(10), mostSources = 1_000
    /// The time, in seconds, that the process waits at its end for a reader that stalls.
    private static let farewell = 2.0

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "log")
    private let most: Int
    private let write: @Sendable (Logger.Level, String, Fields) -> Void

    /// - Parameters:
    ///   - most: lines that may wait.
    ///   - write: may block.
    init(most: Int = 1_000, write: @escaping @Sendable (Logger.Level, String, Fields) -> Void) { (self.most, self.write) = (most, write) }

    /// As the configuration wants it, on standard error.
    convenience init(_ configuration: ServeConfiguration) {
        let level = Self.level(configuration.log.level)
        if configuration.log.format == "json" {
            self.init { if $0 >= level { LogLine.write($0, $1, $2) } }
        } else {
            let log = Self.logger(level)
            self.init { line, text, _ in log.log(level: line, "\(text.onOneLine)") }
        }
    }

    static func level(_ name: String) -> Logger.Level { Logger.Level(rawValue: name) ?? .info }

    private static func logger(_ level: Logger.Level) -> Logger {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        return Logger(label: "hookswitch")
    }

    /// - Parameter source: what it is about, where others cause it: a flood of strangers does not fill the log, there is one line of each
    ///   in ten seconds.
    func say(_ level: Logger.Level, _ line: String, _ fields: Fields = [], oncePer source: String? = nil) {
        let isTaken = state.withLock { state in
            if let source, !state.isDue(source, at: MonotonicClock.now) { return false }
            guard state.waiting < most else {
                state.dropped += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard isTaken else { return }
        queue.async {
            self.write(level, line, fields)
            let dropped = self.state.withLock { $0.takeDropped() }
            if dropped > 0 { self.write(.warning, "\(dropped) lines are missing here: there were too many", []) }
        }
    }

    /// Waits until all lines are written; false when nobody reads them.
    @discardableResult
    func finish() -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + Self.farewell) == .success
    }
}
