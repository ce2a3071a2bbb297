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
        commandName: "ladder", abstract: "Draw the calls of a journal: SIP, reports, actions and media on one time axis.",
        discussion: "In colours on a terminal, unless NO_COLOR is set. \(ExitStatus.sentence(exits))")

    @Argument(help: "A journal file (JSON lines).") var file: String
    @Argument(help: "One call; without it as many are drawn as fit beside each other, and the rest counted.") var call: String?
    @Option(help: "Columns of text.") var width = 120

    func run() throws {
        let width = try Bounded.whole(width, option: "--width", of: "columns", in: 1...10_000), journal: JournalReader.Result
        do { journal = try JournalReader.read(path: file.named(by: "ladder")) } catch let failure as Failure { throw failure } catch {
            throw Failure.cannotRun("\(file): cannot be read")
        }
        var wanted: CallUUID?
        if let call {
            guard let uuid = CallUUID(Text(call.lowercased())) else { throw Failure.usage("'\(call)' is no UUID of a call") }
            guard journal.events.contains(where: { $0.call == uuid }) else {
                throw Failure.bad("\(file): there is no call \(call)")
            }
            wanted = uuid
        }
        let calls = wanted.map { Ladder.calls(joinedWith: $0, in: journal.events) }
        try StandardOutput.printExactly(
            Ladder(journal.events, calls: calls, options: LadderOptions(width: width, colour: Terminal.hasColour)).text)
        guard let first = journal.brokenLines.first else { return }
        Hookswitch.complain("\(journal.brokenLines.count) lines cannot be read, the first is \(first)")
        throw ExitCode(.bad)
    }
}
