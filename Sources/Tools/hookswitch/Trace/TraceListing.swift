import Foundation
import Gateway
import Primitives
import UserAgent

/// The calls of a trace, listed or followed.
struct TraceListing {
    var filter = TraceFilter()
    /// The number of calls that are shown: the last of those that the filter takes.
    var last: Int?
    var isJSON = false

    func chosen(_ calls: [TracedCall]) -> [TracedCall] {
        let taken = calls.filter(filter.takes)
        return last.map { taken.suffix($0) } ?? taken
    }

    func list(_ history: TraceHistory) throws {
        let shown = chosen(history.calls)
        if isJSON {
            for call in shown { try printJSONLine(TraceDescription(call, isWhole: false)) }
        } else {
            var table = TraceTable(hasColour: Terminal.hasColour)
            try StandardOutput.write(table.whole(shown), to: STDOUT_FILENO)
        }
        if shown.isEmpty {
            Hookswitch.complain(history.calls.isEmpty ? "there are no messages" : "none of \(history.calls.count) calls is like that")
        }
    }
}

/// The calls of a trace as they come and go on: a line for each that begins or changes its status.
struct TraceFollow: ~Copyable {
    private var source: TraceSource
    private var history = TraceHistory(keepsMessages: false)
    private let listing: TraceListing
    private let write: (String) throws -> Void
    /// The state of each call that was told last, by its number.
    private var told: [Int: String] = [:]
    private var isFirst = true

    init(_ path: String, _ listing: TraceListing, write: @escaping (String) throws -> Void) throws {
        source = try TraceSource(path)
        (self.listing, self.write) = (listing, write)
    }

    /// Tells what came since the last time.
    mutating func step() throws {
        // Moved out, for a copy would be one of all calls.
        var changed: Set<Int> = [], calls = TraceHistory(keepsMessages: false)
        swap(&calls, &history)
        defer { swap(&calls, &history) }
        try source.poll { message in if let place = calls.note(message) { changed.insert(place) } }
        try tell(changed, of: calls)
    }

    private mutating func tell(_ changed: Set<Int>, of history: TraceHistory) throws {
        defer { isFirst = false }
        guard isFirst || !changed.isEmpty else { return }
        try write(changed.sorted().map { history.calls[$0] })
    }

    private mutating func write(_ calls: [TracedCall]) throws {
        let table = TraceTable()
        if isFirst, !listing.isJSON { try write(table.header()) }
        // Calls that are there already are limited to the last ones; of those that come, all are shown.
        for call in isFirst ? listing.chosen(calls) : calls.filter(listing.filter.takes) where told[call.number] != call.statusText {
            told[call.number] = call.statusText
            try write(listing.isJSON ? jsonLine(TraceDescription(call, isWhole: false)) : table.row(call))
        }
    }
}
