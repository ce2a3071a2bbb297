import ArgumentParser
import Foundation
import HTTP

/// The outcome of a transaction, as the gateway tells it.
private struct TransactionText: Decodable {
    struct Action: Decodable { var call: String, state: String }
    var state: String
    var actions: [Action]
}

/// Options of a command that waits for the outcome.
struct WaitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Return when it is accepted, performed or connected.", valueName: "level")) var wait = "performed"
    @Option(help: ArgumentHelp("Seconds to wait for that.", valueName: "seconds")) var within = 30.0

    var values: [String: ControlValue] { ["wait": .text(wait), "within": .number(within)] }
}

/// The options of a command that asks for a transaction of one action.
struct TransactionOptions: ParsableArguments {
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    fileprivate func transact(_ path: String, _ values: [String: ControlValue] = [:]) throws {
        let content = try control.ask(.post, path, values.merging(waiting.values) { first, _ in first })
        if json { try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        guard let outcome = try? JSONDecoder().decode(TransactionText.self, from: content) else { return }
        if !json { for action in outcome.actions { try StandardOutput.print("\(action.call) \(action.state)") } }
        guard outcome.state != "failed" else { throw ExitCode(.bad) }
    }
}

struct StartCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start a call of a line: its devices ring, and the one that answers is connected.",
        discussion: """
            Prints the UUID of the call and what became of the start action (CXStartCallAction). \(ExitStatus.sentence(exits))

            Example:
              hookswitch start 1001 1002 --wait connected
            """)
    @Argument(help: "The number of the line that calls.") var line: String
    @Argument(help: "Whom it calls: a number, or a SIP address.") var to: String
    @Option(help: ArgumentHelp("The UUID of the call (default: the gateway draws one).", valueName: "uuid")) var call: String?
    @OptionGroup var options: TransactionOptions

    func run() throws {
        var values: [String: ControlValue] = ["line": .text(line), "to": .text(to)]
        if let call { values["id"] = .text(call) }
        try options.transact("/v1/calls", values)
    }
}

struct AnswerCallCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "answer-call",
        abstract: "Answer an incoming call that rings (CXAnswerCallAction); the first device that answers joins.",
        discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/answer") }
}

struct HangupCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "hangup", abstract: "End a call (CXEndCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/end") }
}

struct HoldCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Put a call on hold, or take it off (CXSetHeldCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Flag(help: "Take it off hold.") var off = false
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/hold", ["onHold": .flag(!off)]) }
}

struct MuteCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Send the far end of a call silence, or its sound again (CXSetMutedCallAction).",
        discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Flag(help: "Send its sound again.") var off = false
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/mute", ["muted": .flag(!off)]) }
}

struct GroupCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Move a call into the conversation of another one, or let it wait alone (CXSetGroupCallAction).",
        discussion: "Three calls or more hear each other. \(ExitStatus.sentence(exits))")
    @Argument(help: "The call's UUID.") var call: String
    @Option(help: "The UUID of a call of the same line (default: none: it is taken out of its conversation, and waits).") var with: String?
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/group", with.map { ["with": .text($0)] } ?? [:]) }
}

struct DTMFCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "dtmf", abstract: "Send keys to the far end of a call (CXPlayDTMFCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Argument(help: "0–9, *, #, A–D.") var digits: String
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.transact("/v1/calls/\(call.inPath)/digits", ["digits": .text(digits)]) }
}

struct TransferCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Ask the far end of a call to call somebody else (REFER).",
        discussion:
            "Returns when it was asked; the events call.transferred and call.transfer-failed tell the rest. \(ExitStatus.sentence(exits))")
    @Argument(help: "The call's UUID.") var call: String
    @Argument(help: "A SIP URI.") var to: String
    @OptionGroup var control: ControlOptions

    func run() throws { _ = try control.ask(.post, "/v1/calls/\(call.inPath)/transfer", ["to": .text(to)]) }
}
