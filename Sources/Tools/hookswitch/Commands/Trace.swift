import ArgumentParser
import Foundation
import Gateway
import Primitives
import UserAgent

struct TraceCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the messages are shown",
        .bad: "there is no such call, or the file is no trace",
    ]

    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Show the SIP messages of a trace: the calls, or one call as a ladder and message by message.",
        discussion: """
            A trace is the pcapng file that 'hookswitch serve --trace FILE' writes; Wireshark, tshark and sngrep read it, too. A line stands for each \
            Call-ID. CALL is its number in the list, the Call-ID, or four characters of its beginning or more. With --journal it may be a UUID of that \
            journal or the beginning of one, and all legs of the call are drawn together. Passwords and keys are not in a trace.

            With --follow the list goes on as the file grows. On a terminal it is a screen with keys: up and down or k and j choose a call, Enter shows its \
            messages, / leaves the calls with a text, F or End goes on with the newest, Esc or q goes back and ends. Elsewhere it is a line for each call \
            that begins or changes its status. With CALL each of its messages is printed as it comes. -o writes the calls that are shown to a file of their own, with their RTP where the trace has it, \
            for a ticket. \
            \(ExitStatus.sentence(exits))

            Examples:
              hookswitch trace calls.pcapng
              hookswitch trace calls.pcapng --method INVITE --status busy,4xx --last 20
              hookswitch trace calls.pcapng 3
              hookswitch trace calls.pcapng 5B4E7C36 --journal data/journal.jsonl
              hookswitch trace calls.pcapng 3 -o call.pcapng
              hookswitch trace calls.pcapng --follow
            """)

    @Argument(help: "A pcapng file.") var file: String
    @Argument(help: "Which call.") var call: String?
    @Option(help: ArgumentHelp("Calls with this in From (default: all).", valueName: "text")) var from: String?
    @Option(help: ArgumentHelp("Calls with this in To (default: all).", valueName: "text")) var to: String?
    @Option(name: .customLong("call"), help: ArgumentHelp("Calls with this in the Call-ID (default: all).", valueName: "text")) var callID:
        String?
    @Option(help: ArgumentHelp("Calls that began with one of these, as INVITE,REGISTER (default: all).", valueName: "list")) var method:
        String?
    @Option(help: ArgumentHelp("Calls that stand so: words, statuses or classes, as busy,404,5xx (default: all).", valueName: "list"))
    var status: String?
    @Option(help: ArgumentHelp("The last so many of them (default: all).", valueName: "n")) var last: Int?
    @Option(help: ArgumentHelp("A journal of the same gateway, to name a call by its UUID (default: none).", valueName: "file"))
    var journal: String?
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write what is shown as a pcapng file (default: not written).", valueName: "file"))
    var output: String?
    @Option(help: "Columns of the ladder.") var width = 120
    @Flag(name: [.short, .long], help: "Go on as the file grows.") var follow = false
    @Flag(help: "Print one JSON object a line.") var json = false

    func run() throws {
        let listing = try listing(), path = try file.named(by: "trace")
        if follow { return try followed(path, listing) }
        let place = try output.map { try ReportFile($0.named(by: "--output")) }
        var history = TraceHistory(keepsMessages: call != nil), source = try TraceSource(path)
        try source.poll { history.note($0) }
        let chosen = try call.map { try TraceChoice.calls($0, in: history.calls, of: path, journal: journal) }
        if let chosen { try show(chosen) } else { try listing.list(history) }
        try place?.write(Self.extract(chosen ?? listing.chosen(history.calls), of: path))
        if source.dropped > 0 { Hookswitch.complain("\(source.dropped) messages are missing in the trace") }
        if history.unreadable > 0 { Hookswitch.complain("\(history.unreadable) messages are no SIP") }
    }

    func listing() throws -> TraceListing {
        var filter = TraceFilter(from: from, to: to, call: callID)
        filter.methods = try method.map(TraceFilter.methods) ?? []
        filter.statuses = try status.map(CallStatusTerm.list) ?? []
        if journal != nil, call == nil { throw Failure.usage("--journal names a call: give its UUID, too") }
        if call != nil, filter.isSet || last != nil { throw Failure.usage("a call is named, and needs no filter") }
        let last = try last.map { try Bounded.whole($0, option: "--last", of: "calls", in: 1...1_000_000) }
        return TraceListing(filter: filter, last: last, isJSON: json)
    }

    private func show(_ calls: [TracedCall]) throws {
        if json {
            for call in calls { try printJSONLine(TraceDescription(call, isWhole: true)) }
            return
        }
        let width = try Bounded.whole(width, option: "--width", of: "columns", in: 1...10_000)
        var table = TraceTable(hasColour: Terminal.hasColour)
        let flow = TraceFlow(calls).text(LadderOptions(width: width, colour: Terminal.hasColour))
        try StandardOutput.write("\(table.whole(calls))\n\(flow)", to: STDOUT_FILENO)
    }

    /// A file of these calls alone, with their media.
    private static func extract(_ calls: [TracedCall], of path: String) throws -> [UInt8] {
        var source = try TraceSource(path, readsMedia: true), chosen = TraceExtract(Set(calls.map(\.callID)))
        var bytes = Pcapng.header(program: "hookswitch \(Hookswitch.version)")
        try source.poll { if chosen.takes($0) { bytes += Pcapng.packet($0) } }
        return bytes
    }

    // MARK: What comes

    private func followed(_ path: String, _ listing: TraceListing) throws {
        if output != nil { throw Failure.usage("--follow has no end, and --output is written at the end: give one of them") }
        if journal != nil { throw Failure.usage("--follow takes a Call-ID or its beginning, and no --journal") }
        guard let call else {
            if Terminal.isOutput, !json { return try TraceTerminal.run(path, listing) }
            var run = try TraceFollow(path, listing) { try StandardOutput.write($0, to: STDOUT_FILENO) }
            while true {
                try run.step()
                try CallsListing.wait()
            }
        }
        var source = try TraceSource(path)
        while true {
            var messages: [TracedMessage] = []
            try source.poll { if $0.callID?.hasPrefix(Text(call)) == true { messages.append($0) } }
            for message in messages { try StandardOutput.write(TraceFlow.text(of: message) + "\n", to: STDOUT_FILENO) }
            try CallsListing.wait()
        }
    }
}

extension TraceFilter {
    fileprivate var isSet: Bool { from != nil || to != nil || call != nil || !methods.isEmpty || !statuses.isEmpty }
}
