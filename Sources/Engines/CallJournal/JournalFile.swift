import Dispatch
import Foundation
import Primitives
import Synchronization

/// Appends a journal to a file on its own serial queue, so that no disk can hold up a lane.
///
/// What cannot be written (disk full, backlog full) is dropped by whole batches and counted; the server goes on. Each time that writing
/// starts to fail, and each time that it works again, there is one report. A file that was moved or deleted is made anew.
public final class JournalFile: JournalSink {
    /// How the file grows, and how much may wait for it.
    public struct Settings: Sendable {
        /// The file is rotated before it would grow beyond this; nil for never.
        public var rotationBytes: Int?
        /// How many rotated files stay: `journal.jsonl.1` is the youngest.
        public var rotatedFiles = 5
        /// No other process may write the same file: two journals in one are none.
        public var isClaimed = false
        /// What may wait for the disk.
        public var backlogBytes = 8 * 1024 * 1024
        /// How long nothing is tried after a failure. A full disk has room for a few bytes again and again; each time would be a report.
        public var retryPause = Duration.seconds(1)
        /// How long what comes first waits for more, so that a busy lane does not cost a thread's wake-up and a write for each of its
        /// turns.
        public var gathering = DispatchTimeInterval.milliseconds(50)

        /// - Parameters:
        ///   - rotationBytes: nil for never.
        ///   - isClaimed: whether another process is kept from the file.
        public init(rotationBytes: Int? = nil, isClaimed: Bool = false) {
            (self.rotationBytes, self.isClaimed) = (rotationBytes, isClaimed)
        }
    }

    /// Something that a person should know of the file.
    public enum Report: Equatable, Sendable {
        /// From now on bytes are lost; `cause` is for a person.
        case failing(cause: String)
        /// Writing works again; `lostBytes` since it began to fail.
        case recovered(lostBytes: Int)
    }

    /// What became of the journal's bytes.
    public struct Counts: Equatable, Sendable {
        /// Bytes in the file and in its rotated ones.
        public var writtenBytes = 0
        /// Bytes that were dropped.
        public var lostBytes = 0
        /// Bytes that wait for the disk.
        public var waitingBytes = 0
        /// Writes that failed.
        public var failures = 0
        /// How often a new file was begun.
        public var rotations = 0

        public init() {}
    }

    fileprivate struct Backlog {
        /// The batches that wait, one behind the other.
        var waiting: [UInt8] = []
        var counts = Counts()
        var isDraining = false
        /// nil while writing works.
        var lostSinceFailure: Int?
        var failedAt: ContinuousClock.Instant?
    }

    private let queue = DispatchQueue(label: "hookswitch.journal")
    private let backlog = Mutex(Backlog())
    /// Only entered on `queue`: the lock is never waited for.
    private let writer: Mutex<AppendingFile>
    private let settings: Settings
    private let onReport: @Sendable (Report) -> Void

    /// Opens the file for appending and makes it when there is none. `onReport` is called on a queue of the file's own.
    public init(path: String, settings: Settings = Settings(), onReport: @escaping @Sendable (Report) -> Void) throws(JournalFileError) {
        (self.settings, self.onReport) = (settings, onReport)
        writer = Mutex(try AppendingFile(path: path, isClaimed: settings.isClaimed))
    }

    /// What became of the bytes until now. Any thread.
    public var counts: Counts { backlog.withLock { $0.counts } }

    public func accept(_ lines: [UInt8]) {
        let (overflow, mustDrain) = backlog.withLock { backlog -> (Report?, Bool) in
            guard backlog.counts.waitingBytes + lines.count <= settings.backlogBytes else {
                return (backlog.lose(lines.count, cause: "the disk is too slow: \(settings.backlogBytes) bytes wait for it"), false)
            }
            backlog.waiting += lines
            backlog.counts.waitingBytes += lines.count
            defer { backlog.isDraining = true }
            return (nil, !backlog.isDraining)
        }
        if let overflow { queue.async { [onReport] in onReport(overflow) } }
        if mustDrain { queue.asyncAfter(deadline: .now() + settings.gathering) { self.drain() } }
    }

    /// Returns when all that was accepted is on the disk or counted as lost. Blocks; not for a lane in service.
    public func synchronize() {
        queue.sync {
            drain()
            writer.withLock { $0.synchronize() }
        }
    }

    private func drain() {
        var batch: [UInt8] = []
        while takeWaiting(&batch) {
            if backlog.withLock({ $0.drops(batch.count, until: settings.retryPause) }) { continue }
            let outcome = writer.withLock { writer in write(batch, to: &writer) }
            let report = backlog.withLock { $0.wrote(batch.count, outcome: outcome) }
            if let report { onReport(report) }
        }
    }

    /// Exchanges what waits for the bytes that were dealt with, so that two blocks of memory serve for ever. False when nothing waits.
    private func takeWaiting(_ batch: inout [UInt8]) -> Bool {
        batch.removeAll(keepingCapacity: batch.capacity <= Self.mostKept)
        return backlog.withLock { backlog in
            swap(&backlog.waiting, &batch)
            backlog.isDraining = !batch.isEmpty
            return !batch.isEmpty
        }
    }

    /// Bytes of memory that an idle journal may hold on to.
    private static let mostKept = 256 * 1024

    private func write(_ batch: [UInt8], to writer: inout AppendingFile) -> WriteOutcome {
        do throws(JournalFileError) {
            let isMadeAnew = try writer.reopenIfLost()
            var rotated = false
            if let limit = settings.rotationBytes, writer.size > 0, writer.size + batch.count > limit {
                try writer.rotate(keeping: settings.rotatedFiles)
                rotated = true
            }
            try writer.append(batch)
            return WriteOutcome(error: nil, rotated: rotated, fileWasLost: isMadeAnew)
        } catch {
            return WriteOutcome(error: error, rotated: false, fileWasLost: false)
        }
    }
}

private struct WriteOutcome {
    var error: JournalFileError?
    var rotated: Bool
    var fileWasLost: Bool
}

extension JournalFile.Backlog {
    /// The report that is due, if this is the first loss.
    mutating func lose(_ bytes: Int, cause: String) -> JournalFile.Report? {
        counts.lostBytes += bytes
        let isFirst = lostSinceFailure == nil
        lostSinceFailure = (lostSinceFailure ?? 0) + bytes
        guard isFirst else { return nil }
        counts.failures += 1
        return .failing(cause: cause)
    }

    /// True, and counted as lost, while the pause after a failure lasts.
    fileprivate mutating func drops(_ bytes: Int, until pause: Duration) -> Bool {
        guard let failedAt, .now - failedAt < pause else { return false }
        counts.waitingBytes -= bytes
        _ = lose(bytes, cause: "")
        return true
    }

    fileprivate mutating func wrote(_ bytes: Int, outcome: WriteOutcome) -> JournalFile.Report? {
        counts.waitingBytes -= bytes
        if let error = outcome.error {
            failedAt = .now
            return lose(bytes, cause: error.description)
        }
        failedAt = nil
        counts.writtenBytes += bytes
        if outcome.rotated { counts.rotations += 1 }
        if let lost = lostSinceFailure {
            lostSinceFailure = nil
            return .recovered(lostBytes: lost)
        }
        guard outcome.fileWasLost else { return nil }
        counts.failures += 1
        return .failing(cause: "the file was moved or deleted; a new one was made")
    }
}
