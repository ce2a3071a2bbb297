import ArgumentParser
import Console
import Foundation

struct TokenCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [.good: "it is done", .cannotRun: "the file of tokens cannot be used"]

    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make, list and take back tokens for the control interface over TCP.",
        discussion: "A running gateway takes changes over within a second. \(ExitStatus.sentence(exits))",
        subcommands: [TokenCreate.self, TokenList.self, TokenRevoke.self])
}

/// The file of tokens.
struct TokenFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The gateway's data folder, with tokens.json (default: HOOKSWITCH_DATA, else data).", valueName: "folder"))
    var data: String?
    @Option(help: ArgumentHelp("The file of tokens (default: tokens.json in the data folder).", valueName: "file")) var file: String?

    func open() -> AccessTokenFile {
        AccessTokenFile(path: file ?? DataPlaces.folder(data) + "/tokens.json")
    }

    /// - Throws: exit code 3 where the file cannot be used.
    func change(_ body: (inout [AccessToken]) throws -> Void) throws {
        let file = open()
        var tokens = try read(file)
        try body(&tokens)
        do { try file.write(tokens) } catch { throw Failure.cannotRun(error.description) }
    }

    func read(_ file: AccessTokenFile) throws -> [AccessToken] {
        do { return try file.read() } catch { throw Failure.cannotRun(error.description) }
    }
}

struct TokenCreate: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the token is printed", .bad: "there is one of this name", .cannotRun: "the file cannot be written",
    ]
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a token and print it; only its SHA-256 is kept.",
        discussion: """
            Scopes: read (calls, lines, events), control (transactions), lines (Do Not Disturb, block lists, messages), admin (drain, reload).
            \(ExitStatus.sentence(exits))

            Example:
              hookswitch token create dashboard --scopes read --expires 30
            """)
    @Argument(help: "A name, for people.") var name: String
    @Option(help: ArgumentHelp("What it permits, as read,control (default: read).", valueName: "list")) var scopes = "read"
    @Option(help: ArgumentHelp("The lines that it is for, as 1001,1002 (default: all).", valueName: "list")) var lines: String?
    @Option(help: ArgumentHelp("Days until it ends (default: it does not).", valueName: "days")) var expires: Int?
    @OptionGroup var file: TokenFileOptions

    func run() throws {
        let scopes = try self.scopes.split(separator: ",").map { word in
            guard let scope = AccessScope(rawValue: String(word)) else {
                let names = AccessScope.allCases.map(\.rawValue)
                throw Failure.usage("--scopes: there is no scope '\(word)'\(SpellingSuggestion.hint(for: String(word), among: names))")
            }
            return scope
        }
        guard !scopes.isEmpty else { throw Failure.usage("--scopes: name one at least, as read") }
        let days = try expires.map { try Bounded.whole($0, option: "--expires", of: "days", in: 1...3_650) }
        let (kept, secret) = AccessToken.make(
            name: name, scopes: scopes, lines: lines?.split(separator: ",").map(String.init),
            expires: days.map { Date(timeIntervalSinceNow: Double($0) * 86_400) })
        try file.change { tokens in
            guard !tokens.contains(where: { $0.name == name }) else {
                throw Failure.bad("there is a token '\(name)': revoke it, or take another name")
            }
            tokens.append(kept)
        }
        try StandardOutput.print(secret)
    }
}

struct TokenList: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [.good: "they are listed", .cannotRun: "the file cannot be read"]
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tokens by name, with what they permit.", discussion: ExitStatus.sentence(exits))
    @OptionGroup var file: TokenFileOptions

    func run() throws {
        for token in try file.read(file.open()) {
            let lines = token.lines.map { "lines \($0.joined(separator: ","))" } ?? "all lines"
            let end = token.expires.map { "until \($0.formatted(.iso8601))\($0 < Date() ? " (over)" : "")" } ?? "without end"
            try StandardOutput.print("\(token.name)  \(token.scopes.map(\.rawValue).joined(separator: ","))  \(lines)  \(end)")
        }
    }
}

struct TokenRevoke: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "it permits nothing any more", .bad: "there is none of this name", .cannotRun: "the file cannot be written",
    ]
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a token back.", discussion: ExitStatus.sentence(exits))
    @Argument(help: "Its name.") var name: String
    @OptionGroup var file: TokenFileOptions

    func run() throws {
        try file.change { tokens in
            guard let index = tokens.firstIndex(where: { $0.name == name }) else {
                throw Failure.bad("there is no token '\(name)'\(SpellingSuggestion.hint(for: name, among: tokens.map(\.name)))")
            }
            tokens.remove(at: index)
        }
    }
}
