import ArgumentParser
import Foundation
import HookswitchClient

/// Options of a command that waits for the outcome.
struct WaitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Return when it is accepted, performed or connected.", valueName: "level"))
    var wait = HookswitchClient.WaitLevel.performed
    @Option(help: ArgumentHelp("Seconds to wait for that.", valueName: "seconds")) var within = 30.0

    /// The gateway takes 120 seconds at most.
    func limit() throws -> Duration { try Bounded.seconds(within, option: "--within", in: 0.1...120) }
}

/// The options of a command that asks for a transaction of one action.
struct TransactionOptions: ParsableArguments {
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    fileprivate func perform(_ action: HookswitchClient.Action, on line: String? = nil) throws {
        let limit = try waiting.limit()
        let content = try control.content(of: .transaction([action], on: line, as: UUID(), wait: waiting.wait, within: limit))
        if json { try StandardOutput.printExactly(content) }
        let outcome = try JSONDecoder().decode(HookswitchClient.Outcome.self, from: Data(content.utf8))
        if !json { for action in outcome.actions { try StandardOutput.print("\(action.call) \(action.state)") } }
        guard outcome.state != .failed else { throw ExitCode(.bad) }
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
        try options.perform(.start(try call.map { try UUID(call: $0) }, to: HookswitchClient.Handle(to)), on: line)
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

    func run() throws { try options.perform(.answer(UUID(call: call))) }
}

struct HangupCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "hangup", abstract: "End a call (CXEndCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.perform(.end(UUID(call: call))) }
}

struct HoldCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Put a call on hold, or take it off (CXSetHeldCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Flag(help: "Take it off hold.") var off = false
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.perform(.setHeld(UUID(call: call), !off)) }
}

struct MuteCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Send the far end of a call silence, or its sound again (CXSetMutedCallAction).",
        discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Flag(help: "Send its sound again.") var off = false
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.perform(.setMuted(UUID(call: call), !off)) }
}

struct GroupCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Move a call into the conversation of another one, or let it wait alone (CXSetGroupCallAction).",
        discussion: "Three calls or more hear each other. \(ExitStatus.sentence(exits))")
    @Argument(help: "The call's UUID.") var call: String
    @Option(help: "The UUID of a call of the same line (default: none: it is taken out of its conversation, and waits).") var with: String?
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.perform(.setGroup(UUID(call: call), with: with.map { try UUID(call: $0) })) }
}

struct DTMFCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "dtmf", abstract: "Send keys to the far end of a call (CXPlayDTMFCallAction).", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The call's UUID.") var call: String
    @Argument(help: "0–9, *, #, A–D.") var digits: String
    @OptionGroup var options: TransactionOptions

    func run() throws { try options.perform(.playDTMF(UUID(call: call), digits: digits)) }
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

    func run() throws { _ = try control.ask(.transfer(UUID(call: call), to: to)) }
}
