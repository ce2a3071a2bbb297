import ArgumentParser
import Foundation
import Gateway
import HookswitchClient
import Primitives

struct CallsCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the calls are listed",
        .bad: "a line cannot be read",
    ]

    static let configuration = CommandConfiguration(
        commandName: "calls", abstract: "List the calls of a journal: who called whom, how it ended, who was heard, and why it failed.",
        discussion: """
            A line for each call, with the legs that the gateway made for it. STATUS is answered, missed (it rang, and nobody answered), cancelled, busy, \
            declined, refused, failed, elsewhere (another device answered), up, or cut-off (the gateway was killed, or events are missing), and the SIP \
            status. LENGTH is from the answer to the end. HEARD says who was heard: both ways, caller only, callee only, nobody, or packets where the call \
            was too short to tell. CALL is for 'hookswitch ladder'. A – stands for what the journal does not tell.

            --failed leaves the calls that were not answered, were cut off, or in which somebody was not heard or something else went wrong. \
            Rotated files may be given together, in any order. With --follow a call is listed when it is over. --json prints one object a line, with \
            the fields of the page TheProof. Without a file the gateway is asked for the calls that are up, with the UUIDs that 'hookswitch hangup' and \
            the like take. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch calls data/journal.jsonl
              hookswitch calls data/journal.jsonl --failed --since 10m
              hookswitch calls data/journal.jsonl --status busy,4xx --from 1001
              hookswitch calls data/journal.jsonl --follow
              hookswitch calls data/journal.jsonl --json --last 1
              hookswitch calls data/journal.jsonl --call 3f2a --bundle call.tar
              hookswitch calls --data data
            """)

    @Argument(help: "Journal files (JSON lines); none: the calls that are up.") var files: [String] = []
    @Option(help: ArgumentHelp("Calls with this in From (default: all).", valueName: "text")) var from: String?
    @Option(help: ArgumentHelp("Calls with this in To, the Request-URI or the line (default: all).", valueName: "text")) var to: String?
    @Option(help: ArgumentHelp("Calls that ended so: words, statuses or classes, as busy,404,5xx (default: all).", valueName: "list"))
    var status: String?
    @Option(
        help: ArgumentHelp(
            "Calls that began since: 14:05, 2026-11-26, 2026-11-26T14:05:30Z, or 30s, 10m, 2h, 3d ago (default: all).", valueName: "time"))
    var since: String?
    @Option(
        help: ArgumentHelp(
            "The call of this UUID, its first four digits or more, or Call-ID; an app's own UUID, too (default: all).", valueName: "call"))
    var call: String?
    @Option(help: ArgumentHelp("The last so many of them (default: all).", valueName: "n")) var last: Int?
    @Flag(help: "Only calls that failed, or in which something went wrong.") var failed = false
    @Flag(help: "A line also for each leg that the gateway made for a call.") var legs = false
    @Option(
        help: ArgumentHelp(
            "Write these calls and their part of the journal into one archive, for 'hookswitch verify' (default: not written).",
            valueName: "file"))
    var bundle: String?
    @Flag(name: [.short, .long], help: "Go on as the journal grows, also over rotations.") var follow = false
    @Flag(help: "Print one JSON object a line.") var json = false

    @OptionGroup var control: ControlOptions

    func run() throws {
        guard !files.isEmpty else {
            guard from == nil, to == nil, status == nil, since == nil, call == nil, last == nil, bundle == nil, !failed, !legs, !follow
            else {
                throw Failure.usage("name a journal file: calls that are up are listed whole")
            }
            return try control.show(.calls(), isJSON: json) { $0.calls.map(\.text) }
        }
        let listing = try listing()
        if let bundle {
            guard !follow else { throw Failure.usage("--bundle and --follow exclude each other: a bundle is of calls that are over") }
            let file = try ReportFile(try bundle.named(by: "--bundle"))
            return try CallsBundle(listing).write(files, into: file)
        }
        try follow ? listing.follow(files) : listing.list(files)
    }

    func listing() throws -> CallsListing {
        var filter = CallsFilter(from: from, to: to, isFailedOnly: failed)
        filter.call = call
        filter.statuses = try status.map(CallStatusTerm.list) ?? []
        filter.since = try since.map { try SinceTime.parse($0, now: WallTime.now) }
        let last = try last.map { try Bounded.whole($0, option: "--last", of: "calls", in: 1...1_000_000) }
        return CallsListing(filter: filter, last: last, isJSON: json, showsLegs: legs)
    }
}

extension HookswitchClient.Call {
    /// One that is up.
    fileprivate var text: String {
        var words = [id.uuidString, line, direction.rawValue, handle ?? (direction == .incoming ? from : to) ?? "–", state.rawValue]
        if isOnHold { words.append("on hold") }
        if isMuted { words.append("muted") }
        if let node { words.append("at \(node)") }
        return words.joined(separator: "  ")
    }
}
