import Primitives

/// A file of sound of a call, as the journal tells of it.
public struct JournaledRecording: Sendable, Equatable {
    /// The position of its `recording.started`.
    public var position: String
    public var call: CallUUID
    /// The number of the line.
    public var line: Text
    /// The path of the file.
    public var path: String
    /// Nanoseconds since 1970-01-01 UTC.
    public var began: UInt64
    /// nil while it goes on, or where the program was killed.
    public var ended: UInt64?
    /// Why it ended early; nil: it did not.
    public var cause: Text?
}

extension JournalArchive {
    /// The last so many recordings of these lines, the oldest first.
    ///
    /// - Parameters:
    ///   - lines: numbers; nil: all lines.
    ///   - most: how many.
    ///   - running: the run that is being written; nil: none.
    ///   - isWanted: of the position and the call of one.
    public func recordings(
        lines: Set<Text>?, most: Int, _ running: Running?, where isWanted: (JournaledRecording) -> Bool = { _ in true }
    ) throws(JournalFileError) -> [JournaledRecording] {
        var found: [JournaledRecording] = []
        let begin = Text(JournalEvent.Kind.recordingStarted.rawValue), end = Text(JournalEvent.Kind.recordingEnded.rawValue)
        try read(running) { line throws(JournalFileError) in
            guard line.head.kind == begin || line.head.kind == end, lines?.contains(line.head.line) ?? true, let label = line.label,
                let event = try? JournalLine.parse(line.bytes), let call = event.call
            else { return true }
            if event.kind == .recordingStarted {
                let recording = JournaledRecording(
                    position: "\(label).\(event.sequence)", call: call, line: event.line.detached,
                    path: event.details.text(.text)?.description ?? "", began: event.wall)
                if isWanted(recording) { found.append(recording) }
                if found.count >= 2 * most { found.removeFirst(most) }
            } else if let index = found.lastIndex(where: { $0.call == call && $0.ended == nil }) {
                found[index].ended = event.wall
                found[index].cause = event.details.text(.cause)?.detached
                if let path = event.details.text(.text) { found[index].path = path.description }
            }
            return true
        }
        return found.suffix(most)
    }
}
