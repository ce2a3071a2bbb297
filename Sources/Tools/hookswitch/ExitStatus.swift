import ArgumentParser

/// The exit codes: the one table that the code, the help and the reference read.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case good = 0
    case bad = 1
    case usage = 2
    case cannotRun = 3
    /// The code that a shell reports for a program that SIGPIPE has ended.
    case readerHasGone = 141

    /// The meaning for every command; a command may say more (``ExplainedCommand``).
    var help: String {
        switch self {
        case .good: "the command did its work, and the thing asked about is good"
        case .bad: "the thing asked about is bad"
        case .usage: "a mistake in what was typed or in the configuration; one line names it, with the nearest valid name"
        case .cannotRun: "the command could not run, or not to its end: a port is in use, a file cannot be read or written"
        case .readerHasGone: "the reader of standard output has gone"
        }
    }

    /// `Exit code 0: …; 1: …`, for the help of a command.
    static func sentence(_ exits: KeyValuePairs<ExitStatus, String>) -> String {
        "Exit code " + exits.map { "\($0.rawValue): \($1)" }.joined(separator: "; ") + "."
    }
}

extension ExitCode {
    init(_ status: ExitStatus) { self.init(status.rawValue) }
}

/// A command that says what its exit codes mean, where that is more than of every command.
protocol ExplainedCommand: ParsableCommand {
    static var exits: KeyValuePairs<ExitStatus, String> { get }
}
