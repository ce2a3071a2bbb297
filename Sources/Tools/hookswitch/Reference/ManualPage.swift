/// The manual page `hookswitch(1)`, for man: the help of every command, the keys of a line, the exit codes.
struct ManualPage {
    private let root: CommandTree

    init() throws { root = try CommandTree.load() }

    var text: String {
        let pages = [header, commands, lines, environment, files, exitStatus, seeAlso]
        return pages.joined(separator: "\n")
    }

    private var header: String {
        """
        .TH HOOKSWITCH 1 "" "hookswitch \(Hookswitch.version)" "User Commands"
        .nh
        .ad l
        .SH NAME
        hookswitch \\- \(Self.escaped(root.abstract))
        .SH SYNOPSIS
        .B hookswitch
        .I command
        .RI [ options ]
        .SH DESCRIPTION
        .TP
        .B hookswitch help \\fIcommand\\fP
        prints the help of a command.
        .TP
        .B hookswitch \\-\\-version
        prints the version.
        """
    }

    private var commands: String { ([".SH COMMANDS"] + root.subcommands.map(Self.section)).joined(separator: "\n") }

    private static func section(_ command: CommandTree) -> String {
        let head = [".SS \(escaped(command.synopsis))", escaped(command.abstract)]
        return (head + command.arguments.map(entry) + [".PP"] + paragraphs(command.discussion)).joined(separator: "\n")
    }

    private static func entry(_ argument: CommandTree.Argument) -> String {
        entry(argument.spelling, argument.meaning, default: argument.defaultText)
    }

    private static func entry(_ name: String, _ help: String, default standard: String) -> String {
        let sentence = help.hasSuffix(".") ? help : help + "."
        let otherwise = standard == Setting.Default.needed.text ? "Needed." : "Default: \(standard)."
        return ".TP\n.B \(escaped(name))\n" + escaped("\(sentence) \(otherwise)".replacing("`", with: ""))
    }

    /// Lines that begin with two spaces stand as they are.
    private static func paragraphs(_ discussion: String) -> [String] {
        var isLiteral = false, lines: [String] = []
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("  ") != isLiteral, !line.isEmpty {
                isLiteral.toggle()
                lines.append(isLiteral ? ".nf" : ".fi")
            }
            lines.append(line.isEmpty ? ".PP" : escaped(String(line)))
        }
        return lines + (isLiteral ? [".fi"] : [])
    }

    private var lines: String {
        let entries = LineKey.all.map { Self.entry("\($0.path) <\($0.takes)>", $0.help, default: $0.default.text) }
        return ([".SH LINES", "The keys of an entry of \\fBlines\\fP in the configuration file."] + entries).joined(separator: "\n")
    }

    private var environment: String {
        """
        .SH ENVIRONMENT
        .TP
        .B HOOKSWITCH_…
        Every setting is a variable, too: \\fBmedia.ports\\fP is \\fBHOOKSWITCH_MEDIA_PORTS\\fP. A flag beats it, and it beats the file.
        .TP
        .B NO_COLOR
        No colours on a terminal.
        """
    }

    private var files: String {
        """
        .SH FILES
        .TP
        .I hookswitch.yaml
        The configuration, where \\fB\\-\\-config\\fP names it.
        .TP
        .I journal.jsonl\\fR, \\fPhookswitch.sqlite
        The journal and the database, in the folder that the setting \\fBdata\\fP names.
        """
    }

    private var exitStatus: String {
        ([".SH EXIT STATUS"] + ExitStatus.allCases.map { ".TP\n.B \($0.rawValue)\n\(Self.escaped($0.help.capitalizedStart))." })
            .joined(separator: "\n")
    }

    private var seeAlso: String { ".SH SEE ALSO\n\\fBhookswitch reference\\fP prints the tables of the reference as Markdown." }

    /// A `-` is the one that is typed, and nothing at the start of a line is a request.
    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
