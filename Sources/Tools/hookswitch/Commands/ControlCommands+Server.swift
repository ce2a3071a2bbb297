import ArgumentParser
import Foundation
import HookswitchClient
import Synchronization

struct EventsCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print the events of a gateway that runs, one JSON object (CloudEvents) a line, as they come.",
        discussion: """
            With --after the events behind a position are printed first: a reader that was cut off goes on from the id of its last event and misses none. \
            A connection that is cut is made again, behind the last event, for as long as it takes; standard error tells of it. \
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
        let limit = try count.map { try Bounded.whole($0, option: "--count", of: "events", in: 1...1_000_000_000) }
        let call = try call.map { try UUID(call: $0) }, position = after.map(HookswitchClient.Position.init)
        let names = types.map { $0.split(separator: ",").map(String.init) } ?? [], away = Absence(place: control.place)
        try control.wait { [line] client in
            var left = limit
            for try await event in client.events(after: position, types: names, line: line, call: call, connection: away.note) {
                try StandardOutput.printExactly(event.json)
                left = left.map { $0 - 1 }
                if left == 0 { return }
            }
        }
    }
}

/// Tells once that the gateway is away, and once that it is back.
private final class Absence: Sendable {
    private let isTold = Mutex(false)
    private let place: String

    init(place: String) { self.place = place }

    func note(_ error: (any Error)?) {
        let wasTold = isTold.withLock { isTold in
            defer { isTold = error != nil }
            return isTold
        }
        if let error, !wasTold { Hookswitch.complain("\(error); waiting for it") }
        if error == nil, wasTold { Hookswitch.complain("\(place) is back, and no event was missed") }
    }
}

struct StatusCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the version, the run and the number of calls of a gateway that runs, and of those that it answers for.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws {
        try control.show(.server, isJSON: json) { server in
            let position = server.position?.description ?? "–"
            guard let nodes = server.nodes else {
                return ["hookswitch \(server.version), run \(server.run ?? "–"), position \(position): \(server.calls) calls"]
            }
            return nodes.map(\.text) + ["position \(position)"]
        }
    }
}

extension HookswitchClient.Node {
    fileprivate var text: String {
        guard isUp else { return "\(node)  away: it \(error ?? "does not answer")" }
        return "\(node)  hookswitch \(version ?? "–"), position \(position?.description ?? "–"): \(calls ?? 0) calls"
    }
}

struct DrainCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Have a gateway take no new calls; those that are up go on.",
        discussion: "It goes on running: SIGTERM drains and ends it. \(ExitStatus.sentence(exits))")
    @OptionGroup var control: ControlOptions

    func run() throws { try control.wait { try await $0.drain() } }
}

struct ReloadCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have a gateway read its configuration again, as SIGHUP does; its log says what changed.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions

    func run() throws { try control.wait { try await $0.reload() } }
}
