import ArgumentParser
import Console
import Foundation
import Gateway
import Testing

@testable import hookswitch

/// The reference has all that there is, and the copies that are read without a build are those of this source.
@Suite struct ReferenceTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(arguments: ReferencePage.allCases) func `docs/reference is what this source makes`(page: ReferencePage) throws {
        let copy = try String(contentsOf: Self.root.appending(path: "docs/reference/\(page.rawValue).md"), encoding: .utf8)
        #expect(copy == (try page.markdown) + "\n", "scripts/docs --reference writes it anew")
    }

    @Test func `docs/reference has no other page`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "docs/reference").path)
        #expect(Set(names) == Set(ReferencePage.allCases.map { "\($0.rawValue).md" }))
    }

    /// A row of a table for each name, whose other cells say something.
    private func rows(of page: ReferencePage, _ names: [String]) throws {
        let lines = try page.markdown.components(separatedBy: "\n")
        for name in names {
            let found = lines.filter { $0.hasPrefix("| \(name) | ") }
            #expect(
                found.count == 1 && found.allSatisfy { !$0.contains(" |  |") || page == .metrics || page == .journal }, "\(name): \(found)")
        }
    }

    @Test func `every setting and every key of a line has a row with its default`() throws {
        try rows(of: .settings, Setting.all.map { "`\($0.path)`" })
        try rows(of: .lines, LineKey.all.map { "`\($0.path)`" })
    }

    @Test func `every metric, kind of event, detail and exit code has a row`() throws {
        try rows(of: .metrics, MetricFamily.all.map { "`\($0.name)`" })
        try rows(of: .journal, JournalEvent.Kind.allCases.map { "`\($0.rawValue)`" } + JournalEvent.Key.allCases.map { "`\($0.rawValue)`" })
        try rows(of: .exitCodes, ExitStatus.allCases.map { "\($0.rawValue)" })
    }

    /// By the help, which is made apart from what the reference reads.
    static let flags: [(command: String, flag: String)] = Hookswitch.configuration.subcommands.flatMap { command in
        let help = Hookswitch.helpMessage(for: command, columns: 200)
        let shown = help.matches(of: /\n  (?:-h, )?(--[a-z-]+)/).map { String($0.output.1) }
        return shown.filter { !["--help", "--version"].contains($0) }.map { (command._commandName, $0) }
    }

    @Test(arguments: flags) func `every flag has a row in the section of its command, with its default`(command: String, flag: String)
        throws
    {
        let sections = try ReferencePage.flags.markdown.components(separatedBy: "\n## hookswitch ")
        let section = try #require(sections.first { $0.hasPrefix("\(command)\n") })
        let row = try #require(section.components(separatedBy: "\n").first { $0.hasPrefix("| `\(flag) <") || $0.hasPrefix("| `\(flag)`") })
        #expect(!row.contains("|  |"), "\(row)")
    }

    /// What has no default: given by its place, and in brackets in the usage line where it may be left out.
    private static let needed = [
        "target", "address", "files", "file", "call", "page", "line", "to", "digits", "caller", "state",
    ]

    @Test func `the help of every flag with a value states its default, or that there is none`() throws {
        let valued = try CommandTree.load().subcommands.flatMap { command in
            command.arguments.filter { $0.kind != .flag }.map { (command.name, $0) }
        }
        #expect(valued.count > 100)
        for (command, argument) in valued where argument.kind == .option {
            let help = try #require(argument.abstract)
            #expect(
                argument.defaultValue != nil || help.contains(/\(default: [^()]+\)/), "hookswitch \(command) --\(argument.name): \(help)")
        }
        #expect(Set(valued.filter { $0.1.kind == .positional }.compactMap(\.1.valueName)) == Set(Self.needed))
    }

    @Test func `the flags are found`() {
        #expect(Self.flags.count > 100 && Self.flags.contains { $0 == ("load", "--find-knee") }, "\(Self.flags)")
    }

    @Test func `every command says what it ends with`() throws {
        let page = try ReferencePage.exitCodes.markdown
        for command in Hookswitch.configuration.subcommands {
            let explained = try #require(command as? any ExplainedCommand.Type, "\(command)")
            #expect(page.contains("| `\(command._commandName)` | 0 | \(try #require(explained.exits.first { $0.key == .good }).value) |"))
            #expect(command.configuration.discussion.contains(ExitStatus.sentence(explained.exits)), "\(command)")
        }
    }

    // MARK: The manual page

    @Test func `the manual page has every command, flag, setting and key`() throws {
        let page = try ManualPage().text, typed = page.replacing("\\-", with: "-")
        for command in Hookswitch.configuration.subcommands { #expect(typed.contains("\n.SS hookswitch \(command._commandName)")) }
        for (_, flag) in Self.flags { #expect(typed.contains("\n.B \(flag)"), "\(flag)") }
        for setting in Setting.all { #expect(typed.contains("\n  \(setting.path) <"), "\(setting.path)") }
        for key in LineKey.all { #expect(typed.contains("\n.B \(key.path) <"), "\(key.path)") }
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "LINES", "ENVIRONMENT", "FILES", "EXIT STATUS", "SEE ALSO"] {
            #expect(page.contains("\n.SH \(section)\n"), "\(section)")
        }
    }

    @Test func `no line of the manual page is taken for a request that is none`() throws {
        let requests: Set<Substring> = ["TH", "SH", "SS", "TP", "PP", "B", "I", "RI", "nf", "fi", "nh", "ad"]
        for line in try ManualPage().text.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(requests.contains(line.dropFirst().prefix { $0 != " " }), "\(line)")
        }
    }

    // MARK: The command

    @Test func `a page that there is not is one line with the nearest`() throws {
        let command = try #require(try Hookswitch.parseAsRoot(["reference", "setings"]) as? Reference)
        let failure = try #require(throws: Failure.self) { try command.text() }
        #expect(
            failure.exitCode == 2
                && failure.message == "there is no page 'setings' (did you mean 'settings'?) (see 'hookswitch reference --help')")
    }
}
