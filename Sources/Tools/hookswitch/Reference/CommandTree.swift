import ArgumentParser
import Foundation

/// A command as the argument parser describes it (`--experimental-dump-help`): what the reference and the manual page are made from.
struct CommandTree: Decodable, Sendable {
    var name: String
    var abstract: String
    var discussion: String
    /// Those that are shown, without `--help` and `--version`.
    var arguments: [Argument]
    var subcommands: [CommandTree]

    /// The root, which is made once: the parser takes a second for it in a debug build.
    private static let root = Result {
        struct Dump: Decodable { var command: CommandTree }
        return try JSONDecoder().decode(Dump.self, from: Data(Hookswitch._dumpHelp().utf8)).command
    }

    /// The root.
    static func load() throws -> CommandTree { try root.get() }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .commandName)
        abstract = try container.decodeIfPresent(String.self, forKey: .abstract) ?? ""
        discussion = try container.decodeIfPresent(String.self, forKey: .discussion) ?? ""
        let found = try container.decodeIfPresent([Argument].self, forKey: .arguments) ?? []
        arguments = found.filter { $0.shouldDisplay && !["help", "version"].contains($0.name) }
        subcommands = (try container.decodeIfPresent([CommandTree].self, forKey: .subcommands) ?? []).filter { $0.name != "help" }
    }

    private enum Key: CodingKey { case commandName, abstract, discussion, arguments, subcommands }

    /// `hookswitch ladder [options] <file> [<call>]`.
    var synopsis: String {
        let positional = arguments.filter { $0.kind == .positional }, hasOptions = positional.count < arguments.count
        return (["hookswitch", name] + (hasOptions ? ["[options]"] : []) + positional.map(\.spelling)).joined(separator: " ")
    }

    struct Argument: Decodable, Sendable {
        enum Kind: String, Decodable, Sendable { case positional, option, flag }
        struct Name: Decodable, Sendable { var name: String }

        var kind: Kind
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var valueName: String?
        var defaultValue: String?
        var abstract: String?
        var preferredName: Name?

        /// Without its dashes; empty for one that is given by its place.
        var name: String { preferredName?.name ?? "" }

        /// `--rate <n>`.
        var spelling: String {
            switch kind {
            case .flag: "--\(name)"
            case .option: "--\(name) <\(valueName ?? "value")>"
            case .positional: (isOptional ? "[<\(valueName ?? "value")>]" : "<\(valueName ?? "value")>") + (isRepeating ? " …" : "")
            }
        }

        /// The default of the option, or the one that its help has in brackets.
        var defaultText: String {
            if let said { return said }
            if let defaultValue, kind == .option { return defaultValue.code }
            return kind == .flag ? "off" : isOptional ? "none" : Setting.Default.needed.text
        }

        /// The help without what it says of the default.
        var meaning: String {
            guard let range = (abstract ?? "").firstRange(of: Self.bracket) else { return abstract ?? "" }
            return (abstract ?? "").replacingCharacters(in: range, with: "")
        }

        private var said: String? { (abstract ?? "").firstMatch(of: Self.bracket).map { String($0.output.1) } }

        private static var bracket: Regex<(Substring, Substring)> { #/ \(default: ([^()]+)\)/# }
    }
}
