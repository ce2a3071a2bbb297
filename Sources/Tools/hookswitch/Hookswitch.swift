import ArgumentParser
import Console
import Foundation

/// The command. It ends with an ``ExitStatus``.
@main struct Hookswitch: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "hookswitch",
        abstract: "A SIP/RTP gateway that sets media up only after answer and takes it down only after end.",
        version: version,
        subcommands: [
            Serve.self, Check.self, Call.self, Answer.self, Load.self, Agent.self, Doctor.self, Probe.self, Torture.self, Demo.self,
            AuditCommand.self, CallsCommand.self, LadderCommand.self, WitnessCommand.self, Verify.self, TraceCommand.self,
            StoreCommand.self, Ping.self, App.self, Reference.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Steer a gateway that runs (over its control socket)",
                subcommands: [
                    StartCommand.self, AnswerCallCommand.self, HangupCommand.self, HoldCommand.self, MuteCommand.self, GroupCommand.self,
                    DTMFCommand.self,
                    TransferCommand.self, LinesCommand.self, RegistrationsCommand.self, RecentsCommand.self, DNDCommand.self,
                    BlockCommand.self, TrunksCommand.self, EventsCommand.self, TopCommand.self, StatusCommand.self, DrainCommand.self,
                    ReloadCommand.self, WebhooksCommand.self, TokenCommand.self,
                ])
        ])

    /// Like `ParsableCommand.main`, with our exit codes, and with every setting as a flag of its own.
    static func main() {
        // The reader of our output may go: that ends a command that only prints, and hangs a call up; a server does not stop for it.
        signal(SIGPIPE, SIG_IGN)
        occupyClosedFiles()
        var arguments = Array(CommandLine.arguments.dropFirst())
        do {
            try checkCommand(arguments)
            arguments = try expanded(arguments)
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let error as Failure {
            complain(error.message)
            Foundation.exit(error.exitCode)
        } catch let error as ConfigurationError {
            complain(error.description)
            Foundation.exit(error.exitCode)
        } catch {
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            guard code != .success else { Foundation.exit(told(text)) }
            if error is ExitCode { Foundation.exit(code.rawValue) }
            complain("\(message(for: error)) (see '\(help(for: arguments))')")
            Foundation.exit(ExitStatus.usage.rawValue)
        }
    }

    /// The arguments with every shorthand written out, and those of a scenario's file among them.
    static func expanded(_ arguments: [String]) throws -> [String] {
        try ScenarioFile.expand(SecurityFlag.completed(NegativeValues.joined(SettingFlags.expand(arguments))))
    }

    /// A file or socket of ours must not get the number of a standard file that was closed (`>&-`): what is printed would go into it.
    private static func occupyClosedFiles() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)   // of no use either, and so still an error
        }
    }

    /// Prints help or a version; the exit code.
    private static func told(_ text: String) -> Int32 {
        do { try StandardOutput.print(text) } catch let failure as Failure {
            complain(failure.message)
            return failure.exitCode
        } catch { return exitCode(for: error).rawValue }
        return 0
    }

    /// - Throws: what a mistyped command was meant to be, alone or after `help`.
    static func checkCommand(_ arguments: [String]) throws {
        let names = configuration.subcommands.map { command in command._commandName } + ["help"]
        guard let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-"),
            !names.contains(word)
        else { return }
        throw Failure.usage("there is no command '\(word)'\(SpellingSuggestion.hint(for: word, among: names)) (see 'hookswitch --help')")
    }

    private static func help(for arguments: [String]) -> String {
        let names = configuration.subcommands.map { command in command._commandName }
        guard let name = arguments.first, names.contains(name) else { return "hookswitch --help" }
        return "hookswitch \(name) --help"
    }

    static func complain(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("hookswitch: \(message.onOneLine)\n".utf8))
    }
}

/// `--duration -1` would be an option without a value, followed by another: what is wrong is the value.
enum NegativeValues {
    static func joined(_ arguments: [String]) -> [String] {
        arguments.reduce(into: []) { words, word in
            let isNumber = word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
            guard isNumber, let option = words.last, option.hasPrefix("--"), !option.contains("=") else { return words.append(word) }
            words[words.count - 1] = "\(option)=\(word)"
        }
    }
}

/// `--srtp` alone is `--srtp sdes`: what follows is its value only where it is one, or a mistyped one.
enum SecurityFlag {
    static let values = ["sdes", "dtls", "optional", "off"]

    static func completed(_ arguments: [String]) -> [String] {
        var completed: [String] = []
        for (index, word) in arguments.enumerated() {
            completed.append(word)
            guard word == "--srtp", let next = arguments.dropFirst(index + 1).first, !next.hasPrefix("-") else { continue }
            if SpellingSuggestion.name(for: next, among: values, within: 2) == nil { completed.append("sdes") }
        }
        return completed
    }
}

/// One clear line for a person, and the exit code that goes with it.
struct Failure: Error {
    var message: String
    var exitCode: Int32

    static func bad(_ message: String) -> Failure { Failure(message: message, exitCode: ExitStatus.bad.rawValue) }
    static func usage(_ message: String) -> Failure { Failure(message: message, exitCode: ExitStatus.usage.rawValue) }
    static func cannotRun(_ message: String) -> Failure { Failure(message: message, exitCode: ExitStatus.cannotRun.rawValue) }
}

/// Every setting is a flag too: `--media-ports 20000-20099` is read as `--set --media-ports=20000-20099`, and so keeps its name in what is
/// said of it.
enum SettingFlags {
    /// - Throws: a `Failure` for a flag without its value, and for one that is near to another and none itself.
    static func expand(_ arguments: [String]) throws -> [String] {
        guard let command = arguments.first, ["serve", "check", "doctor"].contains(command) else { return arguments }
        var expanded: [String] = []
        var rest = arguments[...], hasFile = false
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let flag = parts.first, let setting = setting(flag) else {
                if let name = parts.first { try refuseMistyped(name, of: command) }
                if parts.first == "--config" {
                    if hasFile { throw Failure.usage("--config is typed twice: there is one file, and --set for what is else in it") }
                    hasFile = true
                }
                expanded.append(argument)
                continue
            }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw Failure.usage("\(flag) takes a value: <\(setting.takes)>")
            }
            expanded.append("--set=\(flag)=\(value)")
        }
        return expanded
    }

    private static func refuseMistyped(_ name: String, of command: String) throws {
        let others = ["--config", "--set", "--json", "--help", "--version"] + (command == "doctor" ? ["--compose"] : []),
            hint = SpellingSuggestion.hint(for: name, among: all + others)
        guard name.hasPrefix("--"), !others.contains(name), !hint.isEmpty else { return }
        throw Failure.usage("there is no option '\(name)'\(hint) (see 'hookswitch \(command) --help')")
    }

    private static let all = Setting.all.map { "--" + flagName($0) } + short.keys

    /// Flags that are shorter than the names of their settings.
    static let short = ["--trace": "trace.file", "--hep": "trace.hep"]

    static func setting(_ flag: String) -> Setting? {
        short[flag].flatMap(Setting.named) ?? Setting.all.first { "--" + flagName($0) == flag }
    }

    static func flagName(_ setting: Setting) -> String { setting.path.replacingOccurrences(of: ".", with: "-") }
}

/// The options of every command that reads the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The configuration file, YAML (default: lines 1001-1009 and echo on loopback).", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "One setting, as media.ports=20000-20099; each once. Each is also a flag (--media-ports) and a variable (HOOKSWITCH_MEDIA_PORTS) (default: none).",
            valueName: "key=value"),
        completion: .list(Setting.all.map { "\($0.path)=" }))
    var set: [String] = []

    func load() throws -> ServeConfiguration {
        try ConfigurationFile.load(config, environment: ProcessInfo.processInfo.environment, flags: set)
    }
}
