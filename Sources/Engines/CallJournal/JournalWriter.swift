import Primitives

/// Writes batches to the journal's file, and says in it where events are missing.
struct JournalWriter: ~Copyable {
    enum Result {
        case written(bytes: Int, isMadeAnew: Bool)
        case failed(JournalFileError)
        /// Nothing was tried.
        case dropped
    }

    struct Outcome {
        var result: Result
        var isRotated = false
        /// Lines of the file in whose place the line stands now that tells of the loss.
        var overwritten = JournalFile.Loss()
    }

    private var file: AppendingFile
    private let settings: JournalFile.Settings
    /// The number of the last event in the file.
    private var written: UInt64 = 0
    /// The last event that is missing behind it.
    private var lost: JournalMark?

    init(_ file: consuming AppendingFile, _ settings: JournalFile.Settings) {
        self.file = file
        self.settings = settings
    }

    func synchronize() { file.synchronize() }

    mutating func drop(_ batch: JournalBatch) -> Outcome {
        lost = batch.mark ?? lost
        return Outcome(result: .dropped)
    }

    mutating func write(_ batch: JournalBatch) -> Outcome {
        do throws(JournalFileError) {
            let isMadeAnew = try file.reopenIfLost()
            let bytes = withLoss(batch.bytes)
            var isRotated = false
            if let limit = settings.rotationBytes, file.size > 0, file.size + bytes.count > limit {
                try file.rotate(keeping: settings.rotatedFiles)
                isRotated = true
            }
            try file.append(bytes)
            (written, lost) = (batch.mark?.sequence ?? written, nil)
            return Outcome(result: .written(bytes: bytes.count, isMadeAnew: isMadeAnew), isRotated: isRotated)
        } catch {
            lost = batch.mark ?? lost
            return Outcome(result: .failed(error), overwritten: overwriteEnd())
        }
    }

    /// The line that tells of a loss goes before what comes now, unless it stands in the file already.
    private mutating func withLoss(_ bytes: [UInt8]) -> [UInt8] {
        guard let lost else { return bytes }
        let line = JournalEncoder.lossLine(lost, since: written)
        return file.hasStandIn && file.overwriteEnd(with: { _ in line }) != nil ? bytes : line + bytes
    }

    /// A full disk takes no line more, and lets those that it has be written over.
    private mutating func overwriteEnd() -> JournalFile.Loss {
        guard let lost else { return .init() }
        var last = written
        let lines = file.overwriteEnd { lines in
            if let first = JournalReader.parse(lines, name: "").events.first { last = first.sequence - 1 }
            return JournalEncoder.lossLine(lost, since: last)
        }
        guard let lines else { return .init() }
        written = last
        return .init(lines: lines)
    }
}
