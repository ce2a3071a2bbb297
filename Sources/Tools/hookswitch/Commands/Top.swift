import ArgumentParser
import Foundation

struct TopCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the person has seen enough, or the frame is printed", .bad: "the gateway refuses, and one line says why",
        .cannotRun: "no gateway answers there, or there is no terminal",
    ]
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Watch a gateway that runs on the terminal: its calls, rates, registrations and quality.",
        discussion: """
            A line stands for a call of CallKit: a call that is bridged is two. TIME is from the answer on, before it from the begin. FLAGS: H on hold, \
            R held by the far end, M muted. HEARD is the sound from the far end, and ours as the far end reported it. HEARD, LOSS, JITTER and MOS are \
            known when the sound has stopped, at a hold for instance. A – stands for what was not measured. Rates are those of the last ten seconds, \
            and the quality at the top is the mean since the command began. Where the gateway is away, it waits for it.

            Keys: s sorts by another column, r the other way round, / leaves the calls with a text, arrows scroll, q ends. --once prints one frame as \
            text, --json as JSON. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch top
              hookswitch top --once
              hookswitch top --json --data data
            """)
    @Flag(help: "Print one frame as text, and end.") var once = false
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print one frame as JSON, and end.") var json = false

    func run() throws {
        guard once || json || Terminal.isOutput else { throw Failure.cannotRun("top needs a terminal: --once prints one frame") }
        let feed = TopFeed(try control.client(), gateway: control.place)
        let position = try control.wait { _ in try await feed.begin() }
        if json { return try printJSON(feed.frame()) }
        if once { return try StandardOutput.write(TopTable(feed.frame()).text, to: STDOUT_FILENO) }
        let following = Task.detached { await feed.run(after: position) }
        defer { following.cancel() }
        var screen = TopScreen(feed.frame())
        screen.hasColour = Terminal.hasColour
        try ScreenTerminal.show(&screen) { screen in
            if let failure = feed.failure { throw control.failure(failure) }
            screen.frame = feed.frame()
        }
    }
}
