import Foundation
import Gateway
import Workbench

/// Some calls of a journal as a bundle: their part of the journal, without a gap, and what it says of them.
struct CallsBundle {
    private let listing: CallsListing

    init(_ listing: CallsListing) { self.listing = listing }

    /// - Throws: exit code 1 where no call is like that, 3 for a file that cannot be read or written.
    func write(_ files: [String], into file: ReportFile) throws {
        var history = CallHistory()
        let paths = try JournalFiles.inOrder(files, of: "calls")
        for path in paths { _ = try JournalFiles.read(path) { history.note($0) } }
        history.finish(isBeingWritten: paths.contains(where: JournalReader.isBeingWritten))
        let all = history.calls, chosen = listing.chosen(all)
        guard !chosen.isEmpty else { throw Failure.bad(all.isEmpty ? "there are no calls" : "none of \(all.count) calls is like that") }
        let legs = Set(chosen.flatMap { $0.legs.map(\.call) }), journal = try part(of: paths, with: legs)
        var bundle = EvidenceBundle()
        bundle.add(EvidenceBundle.callsName, try Self.calls(of: journal, with: Set(chosen.map(\.first.call))))
        bundle.add(EvidenceBundle.journalName, journal)
        let bytes = try bundle.bytes(at: Date())
        try file.write(Array(bytes))
        try StandardOutput.print("\(file.path): \(chosen.count.counted("call", "calls")), sha256 \(EvidenceBundle.digest(bytes))")
    }

    /// The lines from the first event of these legs to the last, with all that lies between.
    private func part(of paths: [String], with legs: Set<CallUUID>) throws -> Data {
        var part = Data(), end = 0
        for path in paths {
            guard let content = FileManager.default.contents(atPath: path) else { throw Failure.cannotRun("\(path): cannot be read") }
            for line in content.split(separator: 0x0A) {
                let isTheirs = JournalReader.parse(Array(line) + [0x0A], name: path).events.first?.call.map(legs.contains) ?? false
                guard isTheirs || !part.isEmpty else { continue }
                part += line + [0x0A]
                if isTheirs { end = part.count }
                guard end <= EvidenceBundle.longestJournal else {
                    throw Failure.cannotRun("--bundle: these calls lie in more than \(EvidenceBundle.longestJournal >> 20) MB of journal")
                }
            }
        }
        return part.prefix(end)
    }

    /// The calls of a part of a journal: a line of JSON each, in their order.
    static func calls(of journal: Data, with calls: Set<CallUUID>) throws -> Data {
        var history = CallHistory()
        for event in JournalReader.parse(Array(journal), name: EvidenceBundle.journalName).events { history.note(event) }
        history.finish(isBeingWritten: false)
        return Data(try history.calls.filter { calls.contains($0.first.call) }.map { try jsonLine(CallDescription($0)) }.joined().utf8)
    }
}
