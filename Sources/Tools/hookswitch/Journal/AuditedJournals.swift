import Foundation
import Gateway

/// Journals of one gateway, or of several that share a database, with an audit of each. They are read file by file.
struct AuditedJournals {
    /// The journal of one gateway, as far as it is read.
    final class Journal {
        let audit = Audit()
        /// Its place among those that are read.
        let number: Int
        /// The path without the number of rotation.
        fileprivate let name: String
        /// The number of the last event.
        private(set) var last: UInt64?
        /// The file that is read, or was read last.
        fileprivate(set) var file = ""
        private var toldGaps = 0

        fileprivate init(_ name: String, _ number: Int) { (self.name, self.number) = (name, number) }

        /// The violations of an event, each with its run. Faults at the end of a run are found with the first event of the next run.
        func observe(_ event: JournalEvent) -> [(Violation, JournalRun)] {
            let earlier = audit.runs.current
            last = event.sequence
            return audit.observe(event).map { ($0, $0.sequence == event.sequence ? audit.runs.current : earlier) }
        }

        /// The gaps that were found since this was asked for last.
        func newGaps() -> ArraySlice<Audit.Gap> {
            defer { toldGaps = audit.gaps.count }
            return audit.gaps[toldGaps...]
        }
    }

    private(set) var all: [Journal] = []

    /// The journal that a file is a part of: one that it goes on from, by the numbers of the events, or one of its name; else another one.
    mutating func journal(of file: String) -> Journal {
        let name = Self.name(of: file), first = JournalReader.firstEvent(of: file)
        let begins = first.map { $0.kind == .gatewayStarted } ?? true
        let goesOn = begins ? [] : all.filter { $0.last.map { $0 &+ 1 == first?.sequence } ?? false }
        let journal = goesOn.first { $0.name == name } ?? goesOn.first ?? all.first { $0.name == name } ?? Journal(name, all.count)
        if !all.contains(where: { $0 === journal }) { all.append(journal) }
        journal.file = file
        return journal
    }

    private static func name(of file: String) -> String {
        let url = URL(filePath: file), isRotated = !url.pathExtension.isEmpty && url.pathExtension.allSatisfy(\.isNumber)
        return (isRotated ? url.deletingPathExtension() : url).standardizedFileURL.path
    }
}
