import CallJournal
import Primitives
import Synchronization

/// Reads the events of one stream behind a position from the journal's files, over rotations and a piece at a time.
///
/// Thread-safe. It waits for the disk, and is not for a lane.
final class JournalReplay: Sendable {
    /// An event of the stream, as its reader gets it.
    struct Told: Sendable {
        let json: [UInt8]
        let event: PublicEvent
    }

    /// The events of some lines.
    struct Piece: Sendable {
        var events: [Told] = []
        /// The last line that was read, told or not; nil: none.
        var position: EventPosition?
        /// There are no more lines now.
        var isLast = false
        /// Lines behind it are missing: nothing follows.
        var isCut = false
    }

    private let reading: Mutex<Reading>

    private init(_ follower: consuming sending JournalFollower, after: EventPosition, _ filter: EventFilter) {
        reading = Mutex(Reading(follower: follower, stream: Stream(after: after, filter: filter)))
    }

    /// Looks for a position; the position behind which everything is there, where something behind this one is missing.
    static func find(
        _ after: EventPosition, in archive: JournalArchive, _ running: JournalArchive.Running?, _ filter: EventFilter
    ) throws(JournalFileError) -> Result<JournalReplay, EventHub.Gone> {
        switch try archive.search(after: after.run, after.sequence, running) {
        case .found(let follower): .success(JournalReplay(follower, after: after, filter))
        case .gone(let oldest): .failure(.init(oldest: oldest.map { EventPosition(run: $0.run, sequence: $0.sequence) }))
        }
    }

    /// The events of the lines that the next 256 kB end.
    func next() throws(JournalFileError) -> Piece {
        try reading.withLock { reading throws(JournalFileError) in try reading.next() }
    }

    private struct Reading: ~Copyable {
        var follower: JournalFollower
        var stream: Stream

        mutating func next() throws(JournalFileError) -> Piece {
            var piece = Piece()
            try Self.read(&follower, &stream, &piece)
            return piece
        }

        private static func read(_ follower: inout JournalFollower, _ stream: inout Stream, _ piece: inout Piece) throws(JournalFileError) {
            let file = follower.place.file
            piece.isLast = try !follower.pollPiece { stream.note($0, &piece) }
            if follower.place.file != file, follower.hasLeftDeletedFile { stream.mayBeCut = true }
        }
    }

    private struct Stream {
        private let after: EventPosition
        private let filter: EventFilter
        private var fold: EventFold
        /// The event before the next one.
        private var previous: EventPosition
        /// Whole runs may be missing before the next line.
        var mayBeCut = false

        init(after: EventPosition, filter: EventFilter) {
            (self.after, self.filter, previous) = (after, filter, after)
            fold = EventFold(in: after.run)
        }

        mutating func note(_ event: JournalEvent, _ piece: inout Piece) {
            guard !piece.isCut else { return }
            let last = fold.position, told = fold.note(event)
            guard let position = fold.position, position.run != after.run || position.sequence > after.sequence else { return }
            guard last.map({ follows($0, event, position) }) ?? true else { return piece.isCut = true }
            (piece.position, mayBeCut) = (position, false)
            guard let told, filter.takes(told) else { return }
            piece.events.append(Told(json: told.encoded().json(after: previous), event: told))
            previous = position
        }

        /// Whether no line is missing between two.
        private func follows(_ last: EventPosition, _ event: JournalEvent, _ position: EventPosition) -> Bool {
            if event.kind == .gatewayStarted { return !mayBeCut }
            return position.run == last.run && position.sequence == last.sequence + 1 && event.kind != .journalLost
        }
    }
}
