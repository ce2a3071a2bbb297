import ArgumentParser

extension ReferencePage {
    static let flagsIntroduction = """
        Every command with its flags and their defaults.

        `--help` (`-h`) prints the help of a command, `--version` the version.
        `serve`, `check` and `doctor` take every [setting](settings.md) as a flag, too. [Exit codes](exit-codes.md) are on a page of their own.
        """

    static var flagSections: [String] {
        get throws { try CommandTree.load().subcommands.map(section) }
    }

    private static func section(_ command: CommandTree) -> String {
        let head = "## hookswitch \(command.name)\n\n\(command.abstract)\n\n" + command.synopsis.code
        guard !command.arguments.isEmpty else { return head }
        var table = MarkdownTable(["flag", "default", "meaning"])
        for argument in command.arguments { table.add([argument.spelling.code, argument.defaultText, argument.meaning]) }
        return "\(head)\n\n\(table.text)"
    }

    static let exitCodesIntroduction = "The codes that `hookswitch` ends with."

    static var exitCodeSections: [String] {
        var codes = MarkdownTable(["code", "meaning"])
        for status in ExitStatus.allCases { codes.add(["\(status.rawValue)", status.help]) }
        var commands = MarkdownTable(["command", "code", "meaning"])
        for command in Hookswitch.configuration.subcommands.compactMap({ $0 as? any ExplainedCommand.Type }) {
            for (status, meaning) in command.exits { commands.add([command._commandName.code, "\(status.rawValue)", meaning]) }
        }
        return ["## Every command\n\n\(codes.text)", "## Each command\n\n\(commands.text)"]
    }
}
