import Dispatch
import Foundation
import Primitives
import Synchronization

/// Appends a journal to a file on its own serial queue, so that no disk can hold up a lane.
///
/// Lines that cannot be written (disk full, backlog full) are dropped by whole batches and counted; the server goes on. A `journal.lost`
/// stands in the file where events are missing, and is there also while the disk is full: it takes the place of the last lines that were
/// written. There is a report when writing begins to fail, now and then while it fails, when the file is brought to its end meanwhile, and
/// when it works again. A file that was moved or deleted is made anew.
public final class JournalFile: JournalSink {
    /// The growth of the file, and the bytes that may wait for it.
    public struct Settings: Sendable {
        /// The file is rotated before it would grow beyond this; nil for never.
        public var rotationBytes: Int?
        /// The number of rotated files that stay: `journal.jsonl.1` is the youngest.
        public var rotatedFiles = 5
        /// No other process may write the same file: two journals in one are none.
        public var isClaimed = false
        /// The most bytes that may wait for the disk.
        public var backlogBytes = 8 * 1024 * 1024
        /// The time after a failure in which nothing is tried. A full disk has room for a few bytes again and again; each time would be a
        /// report.
        public var retryPause = Duration.seconds(1)
        /// The time between two reports of a failure that goes on.
        public var reportPause = Duration.seconds(60)
        /// The time that the first line waits for more, so that a busy lane does not cost a thread's wake-up and a write for each of its
        /// turns.
        public var gathering = DispatchTimeInterval.milliseconds(50)

        /// - Parameters:
        ///   - rotationBytes: nil for never.
        ///   - isClaimed: whether another process is kept from the file.
        public init(rotationBytes: Int? = nil, isClaimed: Bool = false) {
            (self.rotationBytes, self.isClaimed) = (rotationBytes, isClaimed)
        }
    }

    /// Lines that could not be written.
    public struct Loss: Equatable, Sendable, CustomStringConvertible {
        public var events = 0, bytes = 0

        public init(events: Int = 0, bytes: Int = 0) { (self.events, self.bytes) = (events, bytes) }

        /// `4211 events (1230455 bytes)`
        public var description: String { "\(events) events (\(bytes) bytes)" }
    }

    /// Something that a person should know of the file.
    public enum Report: Equatable, Sendable {
        /// From now on events are lost; `cause` is for a person.
        case failing(cause: String)
        /// So far, since it began to fail.
        case stillFailing(lost: Loss)
        /// Writing works again.
        case recovered(lost: Loss)
    }

    /// Counts of the journal's bytes.
    public struct Counts: Equatable, Sendable {
        /// Bytes in the file and in its rotated ones.
        public var writtenBytes = 0
        /// Bytes that were dropped.
        public var lostBytes = 0
        /// Events that were dropped.
        public var lostEvents = 0
        /// Bytes that wait for the disk.
        public var waitingBytes = 0
        /// Writes that failed.
        public var failures = 0
        /// The number of new files that were begun.
        public var rotations = 0

        public init() {}
    }

    private let queue = DispatchQueue(label: "hookswitch.journal")
    private let backlog = Mutex(JournalBacklog())
    /// Only entered on `queue`: the lock is never waited for.
    private let writer: Mutex<JournalWriter>
    private let settings: Settings
    private let onReport: @Sendable (Report) -> Void

    /// Opens the file for appending and makes it when there is none. `onReport` is called on a queue of the file's own.
    public init(path: String, settings: Settings = Settings(), onReport: @escaping @Sendable (Report) -> Void) throws(JournalFileError) {
        (self.settings, self.onReport) = (settings, onReport)
        writer = Mutex(JournalWriter(try AppendingFile(path: path, isClaimed: settings.isClaimed), settings))
    }

    /// Counts until now. Any thread.
    public var counts: Counts { backlog.withLock { $0.counts } }

    public func accept(_ lines: [UInt8]) { accept(lines, mark: nil) }
    public func accept(_ lines: [UInt8], through mark: JournalMark) { accept(lines, mark: mark) }

    private func accept(_ lines: [UInt8], mark: JournalMark?) {
        let (overflow, mustDrain) = backlog.withLock { backlog -> (Report?, Bool) in
            guard backlog.counts.waitingBytes + lines.count <= settings.backlogBytes else {
                return (backlog.overflow(lines, mark, most: settings.backlogBytes), false)
            }
            backlog.append(lines, mark)
            defer { backlog.isDraining = true }
            return (nil, !backlog.isDraining)
        }
        if let overflow { queue.async { [onReport] in onReport(overflow) } }
        if mustDrain { queue.asyncAfter(deadline: .now() + settings.gathering) { self.drain() } }
    }

    /// Returns when all that was accepted is on the disk or counted as lost, and reports what is lost. Blocks; not for a lane in service.
    public func synchronize() {
        queue.sync {
            backlog.withLock { $0.tellOverflow() }
            drain()
            if let report = backlog.withLock({ $0.lossToTell() }) { onReport(report) }
            writer.withLock { $0.synchronize() }
        }
    }

    private func drain() {
        var batch = JournalBatch()
        while takeWaiting(&batch) {
            // No file is tried while the pause lasts.
            let isTried = !backlog.withLock { $0.isPausing(settings.retryPause) }
            let outcome = writer.withLock { isTried ? $0.write(batch) : $0.drop(batch) }
            if let report = backlog.withLock({ $0.note(outcome, of: batch, settings.reportPause) }) { onReport(report) }
        }
    }

    /// Exchanges what waits for the bytes that were dealt with, so that two blocks of memory serve for ever. False when nothing waits.
    private func takeWaiting(_ batch: inout JournalBatch) -> Bool {
        batch.empty(keeping: Self.mostKept)
        return backlog.withLock { backlog in
            swap(&backlog.waiting, &batch)
            backlog.isDraining = !batch.bytes.isEmpty
            return !batch.bytes.isEmpty
        }
    }

    /// Bytes of memory that an idle journal may hold on to.
    private static let mostKept = 256 * 1024
}
