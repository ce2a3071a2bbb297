import ArgumentParser
import Foundation
import HTTP

struct EventsCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print the events of a gateway that runs, one JSON object (CloudEvents) a line, as they come.",
        discussion: """
            With --after the events behind a position are printed first: a reader that was cut off goes on from the id of its last event and misses none. \
            'prev' of an event is the id of the one before it in the same stream. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch events
              hookswitch events --types 'call.*,violation' --line 1001
              hookswitch events --after 0123abcd.42 --count 10
            """)
    @Option(help: ArgumentHelp("Events of these types, as call.*,violation (default: all).", valueName: "list")) var types: String?
    @Option(help: ArgumentHelp("Events of this line (default: all).", valueName: "number")) var line: String?
    @Option(help: ArgumentHelp("Events of this call (default: all).", valueName: "uuid")) var call: String?
    @Option(help: ArgumentHelp("Those behind this position first (default: only what comes).", valueName: "position")) var after: String?
    @Option(help: ArgumentHelp("End after so many (default: never).", valueName: "n")) var count: Int?
    @OptionGroup var control: ControlOptions

    func run() throws {
        let query = [("types", types), ("line", line), ("call", call), ("after", after)].compactMap { name, value in
            value.map { "\(name)=\($0.inPath)" }
        }
        var lines = EventLines(), left = try count.map { try Bounded.whole($0, option: "--count", of: "events", in: 1...1_000_000_000) }
        let answer = try control.client().stream("/v1/events" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))) { bytes in
            for json in lines.take(bytes) {
                try StandardOutput.printExactly(json)
                left = left.map { $0 - 1 }
                if left == 0 { return false }
            }
            return true
        }
        if let answer { try ControlOptions.check(answer) }
    }
}

/// The data of Server-Sent Events, one a line, from the bytes of a stream.
struct EventLines {
    private var rest: [UInt8] = []

    mutating func take(_ bytes: [UInt8]) -> [String] {
        rest += bytes
        var found: [String] = []
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeSubrange(...end)
            if line.hasPrefix("data: ") { found.append(String(line.dropFirst(6))) }
        }
        return found
    }
}

struct StatusCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print the version, the run and the number of calls of a gateway that runs.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    private struct ServerText: Decodable { var version: String, run: String?, position: String?, calls: Int }

    func run() throws {
        let content = try control.ask(.get, "/v1/server")
        if json { return try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        let server = try JSONDecoder().decode(ServerText.self, from: content)
        try StandardOutput.print(
            "hookswitch \(server.version), run \(server.run ?? "–"), position \(server.position ?? "–"): \(server.calls) calls")
    }
}

struct DrainCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Have a gateway take no new calls; those that are up go on.",
        discussion: "It goes on running: SIGTERM drains and ends it. \(ExitStatus.sentence(exits))")
    @OptionGroup var control: ControlOptions

    func run() throws { _ = try control.ask(.post, "/v1/server/drain") }
}

struct ReloadCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have a gateway read its configuration again, as SIGHUP does; its log says what changed.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions

    func run() throws { _ = try control.ask(.post, "/v1/server/reload") }
}
