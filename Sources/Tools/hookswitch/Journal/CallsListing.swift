import ArgumentParser
import Foundation
import Gateway
import Primitives

/// Reads journals and prints their calls.
struct CallsListing {
    var filter: CallsFilter
    /// The number of calls that are shown: the last of those that the filter takes.
    var last: Int?
    var isJSON = false, showsLegs = false

    // MARK: What is there

    func list(_ files: [String]) throws {
        var history = CallHistory()
        let brokenLines = try JournalFiles.read(files, by: "calls") { history.note($0) }
        history.finish(isBeingWritten: files.contains(where: JournalReader.isBeingWritten))
        let all = history.calls, shown = Array(chosen(all))
        if isJSON {
            for call in shown { try printJSONLine(CallDescription(call)) }
        } else {
            var table = CallsTable(hasColour: Terminal.hasColour, showsLegs: showsLegs)
            try StandardOutput.write(table.whole(shown), to: STDOUT_FILENO)
        }
        for note in notes(history, shown: shown.count, of: all.count) { Hookswitch.complain(note) }
        try JournalFiles.complain(of: brokenLines)
    }

    func chosen(_ calls: [CallDetailRecord]) -> ArraySlice<CallDetailRecord> {
        let taken = calls.filter(filter.takes)
        return last.map { taken.suffix($0) } ?? taken[...]
    }

    /// Notes on what the list does not show.
    private func notes(_ history: CallHistory, shown: Int, of all: Int) -> [String] {
        var notes: [String] = []
        if shown == 0 { notes.append(all == 0 ? "there are no calls" : "none of \(all) calls is like that") }
        if history.missingEvents > 0 { notes.append("\(history.missingEvents) events are missing in the journal, and calls with them") }
        if let last = history.lastRefusedRegistration {
            let count = history.refusedRegistrations == 1 ? "a registration was" : "\(history.refusedRegistrations) registrations were"
            let words =
                last.details.text(.reason) ?? last.details.text(.cause).map { Text($0.description.replacing("-", with: " ")) } ?? "?"
            let user = last.details.text(.user) ?? "?", remote = last.details.text(.remote) ?? "?"
            notes.append("\(count) refused, the last of \(user) from \(remote) at \(WallTime.local(last.wall)): \(words)")
        }
        return notes
    }

    // MARK: What comes

    func follow(_ files: [String]) throws {
        guard files.count == 1 else { throw Failure.usage("--follow takes one journal, got \(files.count)") }
        let path = try files[0].named(by: "calls")
        guard JournalReader.canBeReadAgain(path) else { throw Failure.cannotRun("\(path): is no file, and --follow reads files") }
        var run = try CallsFollow(path, self) { try StandardOutput.write($0, to: STDOUT_FILENO) }
        while true {
            try run.step(at: WallTime.now)
            try Self.wait()
        }
    }

    /// A fifth of a second, or until nobody reads any more.
    static func wait() throws {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        if poll(&output, 1, 200) > 0, output.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { throw StandardOutput.readerHasGone }
    }
}

/// The calls of a journal as they end.
struct CallsFollow: ~Copyable {
    /// The time that an INVITE without a password waits for the one with it, before it is a call that was refused.
    static let challengeTime: UInt64 = 5_000_000_000

    private var follower: JournalFollower
    private var history = CallHistory()
    private var table: CallsTable
    private let listing: CallsListing
    private let write: (String) throws -> Void
    private var isFirst = true

    init(_ path: String, _ listing: CallsListing, write: @escaping (String) throws -> Void) throws {
        do { follower = try JournalFollower(path: path) } catch { throw Failure.cannotRun("\(path): cannot be read") }
        self.listing = listing
        self.write = write
        table = CallsTable(hasColour: Terminal.hasColour, showsLegs: listing.showsLegs)
    }

    /// Prints the calls that ended since the last time.
    /// - Parameter now: nanoseconds since 1970.
    mutating func step(at now: UInt64) throws {
        var history = history
        do { try follower.poll { history.note($0) } } catch { throw Failure.cannotRun("\(error)") }
        let finished = history.takeFinished(challengedBefore: now - min(now, Self.challengeTime))
        self.history = history
        // Calls that are there already are limited to the last ones; of those that come, all are shown.
        let shown = isFirst ? Array(listing.chosen(finished)) : finished.filter(listing.filter.takes)
        if isFirst, !listing.isJSON { try write(table.header()) }
        isFirst = false
        for call in shown { try write(listing.isJSON ? jsonLine(CallDescription(call)) : table.rows(call)) }
    }
}
