import ArgumentParser
import Foundation
import Testing
import Workbench

@testable import hookswitch

/// What the README, the pages of the documentation and our own help show is what can be typed and written.
@Suite struct DocumentedCommandTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// By their paths: the README, every page, tutorial and guide, what is said in the configurations that we ship, and the help.
    static let pages: [String: String] = {
        let found = ["Sources", "docs/tutorials", "docs/guides", "docs/reference"].flatMap { documents(under: $0) }
        let paths = ["README.md"] + found + ["Configs/hookswitch.yaml"]
        var pages: [String: String] = [:]
        for path in paths { pages[path] = try? String(contentsOf: root.appending(path: path), encoding: .utf8) }
        for command in Hookswitch.configuration.subcommands { pages["help of \(command._commandName)"] = command.configuration.discussion }
        return pages
    }()

    /// By their paths from the root.
    private static func documents(under folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
    }

    struct Shown: CustomTestStringConvertible, Sendable {
        var text: String, page: String
        var testDescription: String { "\(text) (\(page))" }
    }

    /// Blocks in fences, with what the fence names.
    private static func blocks(_ page: String) -> [(kind: String, lines: [String])] {
        page.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
            let lines = block.components(separatedBy: "\n")
            return (lines[0], Array(lines.dropFirst()))
        }
    }

    private static func spans(_ page: String) -> [String] { page.matches(of: /`([^`\n]+)`/).map { String($0.output.1) } }

    private static func all(_ shown: (String) -> [String]) -> [Shown] {
        pages.sorted { $0.key < $1.key }.flatMap { path, page in shown(page).map { Shown(text: $0, page: path) } }
    }

    // MARK: Commands

    /// A line of a block or of the help, or a span, without its comment.
    static let commands = all { page in
        let lines = blocks(page).flatMap(\.lines) + page.components(separatedBy: "\n").filter { $0.hasPrefix("  hookswitch ") }
        let typed = (lines + spans(page)).flatMap { $0.components(separatedBy: " && ") }.map { $0.trimmingCharacters(in: .whitespaces) }
        let commands = typed.map { $0.hasPrefix("$ ") ? String($0.dropFirst(2)) : $0 }.filter { $0.hasPrefix("hookswitch ") }
        // Not a synopsis.
        return commands.filter { !$0.contains("<") && !$0.contains("[options]") }
    }

    @Test func `the commands are found`() {
        #expect(Self.commands.count > 45, "\(Self.commands.map(\.text))")
        let names = [
            "README.md", "LoadAndTorture.md", "TheProof.md", "Operating.md", "YourCallCodeOnLinux.md", "help of load",
            "first-five-minutes.md",
            "first-load-test.md", "tls.md", "debugging-a-failed-call.md", "trace.md",
        ]
        for name in names {
            #expect(Self.commands.contains { $0.page.hasSuffix(name) }, "\(name)")
        }
    }

    @Test(arguments: commands) func `a command that is shown can be typed`(shown: Shown) throws {
        let words = Self.words(shown.text)
        #expect(
            Hookswitch.configuration.subcommands.contains { $0._commandName == words[0] } || words[0] == "help", "there is no \(words[0])")
        guard words.count > 1, words.last != "--help" else { return }
        do {
            try Hookswitch.checkCommand(words)
            try Self.check(try Hookswitch.parseAsRoot(Self.expandScenario(SettingFlags.expand(words), of: shown.page)))
        } catch let failure as Failure where failure.exitCode == 3 {
            // A file that only the reader has.
        } catch {
            guard Hookswitch.exitCode(for: error) != .success else { return }
            Issue.record("\((error as? Failure)?.message ?? Hookswitch.message(for: error))")
        }
    }

    /// The file of `--scenario` is the one that the same page shows.
    private static func expandScenario(_ words: [String], of page: String) throws -> [String] {
        guard let option = words.firstIndex(of: "--scenario"), option + 1 < words.count else { return words }
        let shown = blocks(pages[page] ?? "").first { block in block.kind == "yaml" && block.lines.contains { $0.hasPrefix("target:") } }
        guard let lines = shown?.lines else { throw Failure.usage("\(page) shows no scenario") }
        let folder = try SoundFolder(), file = folder.path + "/shown.yaml"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        var typed = words
        typed[option + 1] = file
        return try withExtendedLifetime(folder) { try ScenarioFile.expand(typed) }
    }

    /// The values, too, where they can be looked at without a peer.
    private static func check(_ command: any ParsableCommand) throws {
        switch command {
        case let call as Call: if call.phone.server != nil || call.target.contains("@") { _ = try call.plan() }
        case let answer as Answer: _ = try answer.plan()
        case let load as Load: _ = try load.options.order()
        case let torture as Torture: _ = try torture.order()
        case let demo as Demo: _ = try demo.settings()
        case let check as Check: _ = try check.options.load()
        default: break
        }
    }

    /// As a shell splits it, with something for each word that stands for another.
    private static func words(_ text: String) -> [String] {
        let typed = text.split(separator: "  #")[0].split(separator: " &")[0].dropFirst("hookswitch ".count)
        var words: [String] = []
        for match in typed.matches(of: /(?:'[^']*'|[^ '])+/) { words.append(String(match.output).replacing("'", with: "")) }
        return words.filter { $0 != "…" }.map { word in
            let stands = [
                "COMMAND": "call", "TARGET": "sip:9196@127.0.0.1", "PID": "1", "[UUID]": UUID().uuidString,
                "hookswitch.yaml": "\(root.path)/Configs/hookswitch.yaml",
                "ca.pem": "\(root.path)/Tests/Corpus/certificates/ca.pem", "FILE": "\(root.path)/Configs/hookswitch.yaml",
            ]
            return stands[word] ?? word.replacing("ADDRESS", with: "127.0.0.1")
        }
    }

    // MARK: Options

    /// Of the samples (`SampleCommand`) and of our scripts.
    private static let others: Set<String> = [
        "--answer-after", "--block", "--decline-after", "--do-not-disturb", "--ring-timeout", "--second", "--conference", "--waiting",
        "--only", "--faults", "--legs",
        // Of scripts/capacity.
        "--failure", "--span", "--lanes", "--measure-database", "--measure-gateway",
    ]

    /// Of all commands: made once, as it takes the parser seconds.
    private static let help = Hookswitch.configuration.subcommands.map { Hookswitch.helpMessage(for: $0) }.joined()

    static let options = all { page in spans(page).filter { $0.wholeMatch(of: /--[a-z].*/) != nil } }

    @Test(arguments: options) func `an option that is shown alone is one of ours`(shown: Shown) throws {
        let help = Self.help
        for match in shown.text.matches(of: /--[a-z-]+/) {
            let name = String(match.output)
            #expect(
                help.contains("\(name) ") || help.contains("\(name)\n") || SettingFlags.setting(name) != nil || Self.others.contains(name),
                "\(name)")
        }
    }

    // MARK: Settings

    static let blocksOfYAML = all { page in blocks(page).filter { $0.kind == "yaml" }.map { $0.lines.joined(separator: "\n") } }

    @Test(arguments: blocksOfYAML) func `a file that is shown is taken`(shown: Shown) throws {
        let folder = try SoundFolder(), file = folder.path + "/shown.yaml"
        try Data(Self.filled(shown.text, folder).utf8).write(to: URL(filePath: file))
        let isLoad = shown.text.hasPrefix("target:") || shown.text.contains("\ntarget:")
        if !isLoad, shown.text.contains("\nsteps:") { return _ = try AppScenarioFile.read(file) }
        guard isLoad else {
            return _ = try ConfigurationFile.load(file, environment: [:], flags: [])
        }
        _ = try LoadOptions.parse(ScenarioFile.arguments(from: file)).order()
    }

    /// With a folder for what is written, and with the files that only the reader has.
    private static func filled(_ text: String, _ folder: SoundFolder) -> String {
        let certificates = root.appending(path: "Tests/Corpus/certificates").path
        for secret in ["nonce-secret", "nodes-secret"] {
            try? Data(String(repeating: "a", count: 32).utf8).write(to: URL(filePath: "\(folder.path)/\(secret)"))
        }
        return text.replacing(" hello.opus", with: " \(folder.path)/hello.opus").replacing("recordings/", with: folder.path + "/")
            .replacing(" cert.pem", with: " \(certificates)/server.pem").replacing(" key.pem", with: " \(certificates)/leaf.key")
            .replacing("./nonce-secret", with: folder.path + "/nonce-secret").replacing(
                "./nodes-secret", with: folder.path + "/nodes-secret"
            )
            .replacing("./tokens.json", with: folder.path + "/tokens.json")
    }

    /// `key: value` and `{ … }`: of the file, of a line, or of what a line has.
    static let settings = all { page in
        spans(page).filter { span in
            span.wholeMatch(of: /[a-z][a-z.-]*: [^(]+|\{ .+: .+ \}/) != nil && !ofSwift.contains { span.hasPrefix($0) }
        }
    }

    /// Labels of arguments in Swift, and of manifests.
    private static let ofSwift = ["traits: ", "for: ", "swift-tools-version: "]

    @Test func `the settings are found`() { #expect(Self.settings.count > 25, "\(Self.settings.map(\.text))") }

    private static let places = [
        "WHAT", "sip: { tls: WHAT }", "lines: [{ number: \"1\", open: true, WHAT }]", "lines: [{ number: \"1\", WHAT }]",
        "lines: [{ number: \"1\", trunk: { host: a.test, WHAT } }]",
        "lines: [{ number: \"1\", trunk: { host: a.test, username: u, password: p, WHAT } }]",
        "lines: [{ number: \"1\", trunk: { host: a.test, rewrite: [WHAT] } }]",
        "lines: [{ number: \"1\", record: recordings/, WHAT }]", "lines: [{ number: \"1\", script: WHAT }]",
        "lines: [{ number: \"1\", script: { reject: 486, WHAT } }]", "lines: [{ number: \"1\", script: { answer: true, WHAT } }]",
        "lines: [{ number: \"1\", WHAT }, { number: \"1001\", open: true }, { number: \"1002\", open: true }]",
        "lines: [{ number: \"1\", group: { members: [\"1001\"], WHAT } }, { number: \"1001\", open: true }]",
        "lines: [{ number: \"1\", application: playback, file: FILE, WHAT }]",
        "lines: [{ number: \"1\", application: record, record: recordings/, WHAT }]",
        "lines: [{ number: \"1\", application: record, record: recordings/, mailbox: { WHAT } }]",
        "lines: [{ number: \"1\", menu: { prompt: { say: A }, choices: { \"1\": hang-up } }, WHAT }]",
        "lines: [{ number: \"1\", application: menu, menu: { prompt: { say: A }, choices: { \"1\": hang-up }, WHAT } }]",
        "lines: [{ number: \"1\", application: menu, menu: { prompt: WHAT, choices: { \"1\": hang-up } } }]",
        "lines: [{ number: \"1\", queue: { members: [\"2\"] }, WHAT }, { number: \"2\", open: true }]",
    ]

    @Test(arguments: settings) func `a setting that is shown is taken somewhere`(shown: Shown) throws {
        let folder = try SoundFolder()
        try folder.write(tone: 440, seconds: 0.2, to: "hello.opus")
        let complaints = try Self.places.map { place in
            let yaml = Self.filled(place.replacing("WHAT", with: shown.text).replacing("FILE", with: "\(folder.path)/hello.opus"), folder)
            try Data(yaml.utf8).write(to: URL(filePath: folder.path + "/shown.yaml"))
            do { _ = try ConfigurationFile.load(folder.path + "/shown.yaml", environment: [:], flags: []) } catch { return "\(error)" }
            return ""
        }
        #expect(complaints.contains(""), "\(complaints.joined(separator: "\n"))")
    }
}
