import ArgumentParser
import Dispatch
import Foundation
import Primitives
import Runtime
import Synchronization

/// Writes what happens to calls of ours, a JSON object a line, each at once.
///
/// Thread-safe. Lines come out in the order in which they were told; writing waits for nobody's lane.
final class PhoneLines: Sendable {
    private let began = MonotonicClock.now, beganOnWall = Date()
    private let queue = DispatchQueue(label: "json-lines")
    private let descriptor: Int32
    private let reporter: ProgressReporter
    private let failure = Mutex<(any Error)?>(nil)
    /// The most lines that wait: a reader that is slower than the events does not have them kept without end.
    private static let mostWaiting = 4_096
    private let waiting = Mutex((lines: 0, lost: 0))
    /// Call-IDs of the calls that were told of, by our numbers.
    private let callIDs = Mutex<[UInt64: String]>([:])

    /// - Parameter teller: told when nobody reads the lines any more.
    init(_ descriptor: Int32 = STDOUT_FILENO, reporter: ProgressReporter) { (self.descriptor, self.reporter) = (descriptor, reporter) }

    /// - Parameter moment: when it happened.
    func tell(_ line: PhoneLine, at moment: Instant = MonotonicClock.now) {
        guard waits() else { return }
        var line = line
        line.callID = line.callID ?? line.call.flatMap { call in callIDs.withLock { $0[call] } }
        queue.async { [line] in self.writeWaiting(line, moment - self.began) }
    }

    /// False where there is no room for another line; then all that follow are left out, too, until those before them are written.
    private func waits() -> Bool {
        waiting.withLock { waiting in
            let hasRoom = waiting.lost == 0 && waiting.lines < Self.mostWaiting
            if hasRoom { waiting.lines += 1 } else { waiting.lost += 1 }
            return hasRoom
        }
    }

    private func writeWaiting(_ line: PhoneLine, _ elapsed: Duration) {
        write(line, elapsed)
        let lost = waiting.withLock { waiting in
            waiting.lines -= 1
            guard waiting.lines == 0 else { return 0 }
            defer { waiting.lost = 0 }
            return waiting.lost
        }
        guard lost > 0 else { return }
        var gap = PhoneLine(.lost)
        gap.count = lost
        write(gap, elapsed)
    }

    /// True the first time.
    func learn(_ callID: String, of call: UInt64) -> Bool { callIDs.withLock { $0.updateValue(callID, forKey: call) == nil } }

    /// Nothing more is told of it.
    func forget(_ call: UInt64) { callIDs.withLock { $0[call] = nil } }

    /// Returns when all is written.
    ///
    /// - Throws: why a line could not be.
    func finish() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private static let clock = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The calls end where nobody hears of them.
    private func write(_ line: PhoneLine, _ elapsed: Duration) {
        guard failure.withLock({ $0 == nil }) else { return }
        var line = line
        line.ms = Int64(elapsed.wholeMilliseconds)
        line.time = Self.clock.format(beganOnWall + Double(elapsed.wholeNanoseconds) / 1e9)
        do { try StandardOutput.write(try jsonLine(line), to: descriptor) } catch {
            failure.withLock { $0 = error }
            reporter.readerHasGone()
        }
    }
}
