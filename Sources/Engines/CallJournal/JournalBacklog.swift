import Primitives

/// Lines on their way to a file.
struct JournalBatch {
    var bytes: [UInt8] = []
    /// The mark of the last event in it; nil where the journal did not say.
    var mark: JournalMark?

    mutating func empty(keeping capacity: Int) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= capacity)
        mark = nil
    }

    var loss: JournalFile.Loss { .init(lines: bytes) }
}

extension JournalFile.Loss {
    init(lines: [UInt8]) { self.init(events: lines.count { $0 == 0x0A }, bytes: lines.count) }

    mutating func add(_ other: Self) { (events, bytes) = (events + other.events, bytes + other.bytes) }
}

/// Lines that wait for the disk, and the account of those that were written and lost.
struct JournalBacklog {
    /// The batches that wait, one behind the other.
    var waiting = JournalBatch()
    var counts = JournalFile.Counts()
    var isDraining = false
    /// The mark of the last event that was taken in, and of the last that came after it and found no room.
    private var accepted: JournalMark?, overflowed: JournalMark?
    /// nil while writing works.
    private var lostSinceFailure: JournalFile.Loss?
    private var failedAt: ContinuousClock.Instant?, toldAt: ContinuousClock.Instant?
    /// The part of `lostSinceFailure` that was told.
    private var told = JournalFile.Loss()

    mutating func append(_ lines: [UInt8], _ mark: JournalMark?) {
        tellOverflow()
        waiting.bytes += lines
        counts.waitingBytes += lines.count
        if let mark { (waiting.mark, accepted) = (mark, mark) }
    }

    /// There is no room for the lines. The report that is due.
    mutating func overflow(_ lines: [UInt8], _ mark: JournalMark?, most: Int) -> JournalFile.Report? {
        overflowed = mark ?? overflowed
        return lose(.init(lines: lines), cause: "the disk is too slow: \(most) bytes wait for it")
    }

    /// Has the file say where events found no room.
    mutating func tellOverflow() {
        guard let mark = overflowed else { return }
        let line = JournalEncoder.lossLine(mark, since: accepted?.sequence ?? 0)
        waiting.bytes += line
        counts.waitingBytes += line.count
        (waiting.mark, accepted, overflowed) = (mark, mark, nil)
    }

    /// Whether the pause after a failure lasts.
    func isPausing(_ pause: Duration) -> Bool { failedAt.map { .now - $0 < pause } ?? false }

    /// Notes the result of a batch.
    /// - Returns: the report that is due.
    mutating func note(_ outcome: JournalWriter.Outcome, of batch: JournalBatch, _ pause: Duration) -> JournalFile.Report? {
        counts.waitingBytes -= batch.bytes.count
        if outcome.isRotated { counts.rotations += 1 }
        switch outcome.result {
        case .dropped: return lose(batch.loss, cause: "") ?? goesOn(pause)
        case .failed(let error):
            failedAt = .now
            let report = lose(batch.loss, cause: error.description)
            // Lines that had been written, and made room for the one that tells of the loss and is as long.
            _ = lose(outcome.overwritten, cause: "")
            return report ?? goesOn(pause)
        case .written(let bytes, let isMadeAnew):
            failedAt = nil
            counts.writtenBytes += bytes
            if let lost = lostSinceFailure {
                (lostSinceFailure, told) = (nil, .init())
                return .recovered(lost: lost)
            }
            guard isMadeAnew else { return nil }
            counts.failures += 1
            return .failing(cause: "the file was moved or deleted; a new one was made")
        }
    }

    /// The report of a loss that was not told yet; nil where there is none. It counts as told.
    mutating func lossToTell() -> JournalFile.Report? {
        guard let lost = lostSinceFailure, lost != told else { return nil }
        (told, toldAt) = (lost, .now)
        return .stillFailing(lost: lost)
    }

    private mutating func goesOn(_ pause: Duration) -> JournalFile.Report? {
        guard let toldAt, .now - toldAt >= pause else { return nil }
        return lossToTell()
    }

    /// The report that is due, if this is the first loss.
    private mutating func lose(_ loss: JournalFile.Loss, cause: String) -> JournalFile.Report? {
        counts.lostBytes += loss.bytes
        counts.lostEvents += loss.events
        let isFirst = lostSinceFailure == nil
        lostSinceFailure = lostSinceFailure ?? .init()
        lostSinceFailure?.add(loss)
        guard isFirst else { return nil }
        counts.failures += 1
        toldAt = .now
        return .failing(cause: cause)
    }
}
