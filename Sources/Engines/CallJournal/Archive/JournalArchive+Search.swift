import Foundation
import Primitives

extension JournalArchive {
    /// The result of a search for a position.
    public enum Search: ~Copyable {
        /// The files have everything behind it. The follower begins in the run of the position: at it, or where the oldest call began that
        /// was up there.
        case found(JournalFollower)
        /// They have not.
        ///
        /// - oldest: of the first line behind which they have everything, its run and its number; nil: there is none.
        case gone(oldest: (run: String, sequence: UInt64)?)
    }

    /// Looks for a position, and for everything behind it. All files are read, a piece at a time.
    ///
    /// - Parameters:
    ///   - run: the label of the run.
    ///   - sequence: the number of the event.
    ///   - running: the run that is being written; nil: none.
    public func search(after run: String, _ sequence: UInt64, _ running: Running?) throws(JournalFileError) -> Search {
        let files = try open()
        var kept: Int?
        defer { for (index, file) in files.enumerated() where index != kept { close(file.descriptor) } }
        var runs = JournalRuns(), search = PositionSearch(run: run, sequence: sequence)
        for (index, file) in files.enumerated() {
            _ = try Self.lines(of: file.descriptor, path, at: 0) { bytes, end throws(JournalFileError) in
                guard let head = JournalLineHead(bytes) else { return true }
                let begins = head.kind == Self.started || (search.last.map { head.sequence <= $0 } ?? false)
                runs.note(Self.event(bytes, head))
                search.note(
                    head, Self.label(of: head, runs.current, running), begins: begins,
                    at: PositionSearch.Place(file: index, offset: end - bytes.count - 1), end: end)
                return true
            }
        }
        guard let place = search.place else { return .gone(oldest: search.oldest) }
        kept = place.file
        return .found(JournalFollower(path: path, taking: files[place.file].descriptor, at: place.offset))
    }
}

/// Finds a position in the lines of a journal as they come, the oldest first.
struct PositionSearch {
    struct Place: Comparable {
        let file: Int, offset: Int

        static func < (one: Place, other: Place) -> Bool { (one.file, one.offset) < (other.file, other.offset) }
    }

    let run: String
    let sequence: UInt64
    /// The number of the last line.
    private(set) var last: UInt64?
    /// The first line behind which nothing is missing so far.
    private(set) var oldest: (run: String, sequence: UInt64)?
    private var isFound = false
    /// The place of the first line behind the position.
    private var next: Place?
    /// The places at which the calls began that are up.
    private var open: [CallUUID: Place] = [:]
    private var end: Place?

    init(run: String, sequence: UInt64) { (self.run, self.sequence) = (run, sequence) }

    /// The place from which to read on; nil: something behind the position is missing, or nobody knows whether.
    var place: Place? {
        guard isFound, let behind = next ?? end else { return nil }
        return min(open.values.min() ?? behind, behind)
    }

    /// - Parameters:
    ///   - label: of the line's run; nil where it is not known.
    ///   - begins: whether another run begins with it.
    ///   - place: of the line.
    ///   - end: the offset behind it.
    mutating func note(_ head: JournalLineHead, _ label: String?, begins: Bool, at place: Place, end: Int) {
        let isStart = head.kind == JournalArchive.started
        let follows = isStart ? last != nil : !begins && last == head.sequence &- 1 && head.kind != Self.lost
        if !follows { (isFound, oldest, next) = (false, nil, nil) }
        oldest = oldest ?? label.map { ($0, head.sequence) }
        (last, self.end) = (head.sequence, Place(file: place.file, offset: end))
        guard next == nil else { return }
        if begins { open = [:] }
        if label == run, head.sequence <= sequence {
            isFound = true
        } else if isFound || label == run && head.sequence == sequence + 1 && head.kind != Self.lost {
            (isFound, next) = (true, place)
            return
        }
        noteCall(head, place)
    }

    private static let lost = Text(JournalEvent.Kind.journalLost.rawValue)
    private static let beginning = names([.inviteReceived, .reportIncoming, .performStart])
    private static let ending = names([.callEnded, .callRefused, .reportIncomingRefused])

    private static func names(_ kinds: [JournalEvent.Kind]) -> Set<Text> { Set(kinds.map { Text($0.rawValue) }) }

    private mutating func noteCall(_ head: JournalLineHead, _ place: Place) {
        guard let call = head.call else { return }
        if Self.beginning.contains(head.kind) { open[call] = open[call] ?? place }
        if Self.ending.contains(head.kind) { open[call] = nil }
    }
}
