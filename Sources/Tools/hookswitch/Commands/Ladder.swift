import ArgumentParser
import Foundation
import Gateway
import Primitives

struct LadderCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the calls are drawn",
        .bad: "there is no such call, or a line cannot be read",
    ]

    static let configuration = CommandConfiguration(
        commandName: "ladder", abstract: "Draw a call of a journal: SIP, reports, actions and media on one time axis.",
        discussion: """
            CALL is a UUID, four hexadecimal digits of its beginning or more, or a Call-ID; 'hookswitch calls FILE' lists them. In the journal of an app its own \
            UUID names a call, too. Without one the last call is drawn. With the call are drawn those that were joined with it, of the same run. In colours on a terminal, unless NO_COLOR is set. \
            --html writes one page that needs nothing else, for a ticket. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch ladder data/journal.jsonl
              hookswitch ladder data/journal.jsonl 5B4E7C36
              hookswitch ladder data/journal.jsonl --last --html call.html
            """)

    @Argument(help: "A journal file (JSON lines).") var file: String
    @Argument(help: "Which call.") var call: String?
    @Flag(help: "The last call.") var last = false
    @Option(help: "Columns of text.") var width = 120
    @Flag(help: "Print one JSON object: the call, as of 'hookswitch calls --json', and its steps.") var json = false
    @Option(help: ArgumentHelp("Write the call as one HTML page, too (default: not written).", valueName: "file")) var html: String?

    func run() throws {
        let width = try Bounded.whole(width, option: "--width", of: "columns", in: 1...10_000)
        if last, let call { throw Failure.usage("--last is one call, and '\(call)' another: give one of them") }
        let page = try html.map { try ReportFile($0.named(by: "--html")) }
        let journal = try LadderJournal(file.named(by: "ladder"))
        let calls = journal.history.calls
        if calls.isEmpty, call == nil, !last {
            try StandardOutput.printExactly(Ladder([]).text)
            return try JournalFiles.complain(of: journal.brokenLines)
        }
        let choice = try LadderChoice(call, of: calls, in: file, isLast: last), record = choice.call
        let events = try journal.events(of: record), whole = Ladder(events, options: LadderOptions(width: Self.pageWidth))
        if let note = choice.note { Hookswitch.complain(note) }
        if json {
            try printJSON(LadderDescription(record, whole))
        } else {
            let ladder = Ladder(events, options: LadderOptions(width: width, colour: Terminal.hasColour))
            try StandardOutput.printExactly(Self.text(record, ladder))
        }
        try page?.write(LadderPage.text(record, whole, version: Hookswitch.version))
        try JournalFiles.complain(of: journal.brokenLines)
    }

    /// As wide as a ladder may be that has all its legs.
    private static let pageWidth = 1_000

    /// Writes the outcome of the call, and the ladder.
    static func text(_ record: CallDetailRecord, _ ladder: Ladder) -> String {
        let first = record.first, parties = "\(first.from?.shortAddress ?? "–") to \(record.to?.shortAddress ?? "–")"
        let length = record.length.map { ", \(CallWords.length($0)) long" } ?? ""
        let head =
            "\(WallTime.local(first.began.wall))  \(parties)  \(CallWords.status(record.disposition, record.status))\(length): \(record.reason)"
        return "\(head.sanitized.onOneLine)\nfirst event \(first.run.position(first.sequence))\n\(ladder.text)"
    }
}
