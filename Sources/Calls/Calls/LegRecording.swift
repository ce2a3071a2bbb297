import CallJournal
import Media
import Primitives

/// The recording of one leg, with its two lines in the journal: from before its media starts for the first time, or from when it is joined
/// with somebody whose calls are recorded, until its media has stopped for good, or nobody wants it any more.
package final class LegRecording {
    /// Gets a copy of each packet, on the media lane.
    package let tap: RecordingTap
    /// The number of the line that wants it.
    package let line: Text
    private let path: String
    private let writer: RecordingWriter
    private let scribe: LegJournal
    /// Nothing more is recorded.
    package private(set) var isOver = false

    package init(_ order: RecordingWriter.Order, of line: Text, by writer: RecordingWriter, _ scribe: LegJournal, at now: Instant) {
        (path, self.line, self.writer, self.scribe) = (order.path, line, writer, scribe)
        tap = writer.begin(order, at: now)
        scribe.write(.recordingStarted, at: now, [.text: .init(path)])
    }

    /// - Parameter cause: why it ended before its call; nil where it did not.
    package func end(_ cause: RecordingError? = nil, at now: Instant) {
        guard !isOver else { return }
        isOver = true
        writer.end(tap, at: now)
        var details: JournalEvent.Details = [.count: .init(tap.lost)]
        // Not the one that was ordered, which may be that of another call.
        details[.text] = tap.path.map { .init($0) }
        details[.cause] = cause.map { .init($0.description) }
        scribe.write(.recordingEnded, at: now, details)
    }
}
