import ArgumentParser
import Foundation
import Gateway
import Store

struct StoreCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "it is done", .bad: "check: its tables are of another version", .usage: "what was typed or read is wrong",
        .cannotRun: "the store cannot be used",
    ]

    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Check, bring up to date and move what lines remember: SQLite's folder, or PostgreSQL.",
        discussion: """
            \(ExitStatus.sentence(exits))

            Example, from a folder to a database:
              hookswitch store export state.json --data ./data
              hookswitch store import state.json --data postgres://user@host/name
            """, subcommands: [StoreCheck.self, StoreMigrate.self, StoreExport.self, StoreImport.self])
}

/// The store that a command is for.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The data folder with hookswitch.sqlite, or postgres://user@host:port/name (default: HOOKSWITCH_DATA, else data).",
            valueName: "place"))
    var data: String?
    @Option(
        help: ArgumentHelp(
            "The file whose one line is the password for PostgreSQL (default: passfile= of the URL, PGPASSWORD, ~/.pgpass).",
            valueName: "file"))
    var passwordFile: String?

    /// - Parameter node: the gateway that registrations of connections belong to; nil: the machine's name.
    func place(node: String? = nil) throws -> StorePlace {
        let text = data ?? ProcessInfo.processInfo.environment["HOOKSWITCH_DATA"] ?? "data"
        var configuration = ServeConfiguration()
        try configuration.keep(in: SettingValue(scalars: [text], place: "--data"))
        configuration.data.node = node
        if let passwordFile {
            configuration.data.password = try SettingValue(scalars: [passwordFile], place: "--password-file").secret
        }
        configuration.gateway.limits.recents = Int(Int32.max)
        configuration.places["data"] = "--data"
        if let settings = try configuration.postgresSettings { return .database(settings) }
        return .file(folder: configuration.dataFolder ?? text)
    }
}

struct StoreCheck: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "this program can use it as it is", .bad: "its tables are of another version", .usage: "what was typed is wrong",
        .cannotRun: "it cannot be used",
    ]
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether a store can be used, and how much is in it; changes nothing.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var options: StoreOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let place = try options.place(), report: StoreReport
        switch try place.read(migrating: false) {
        case .kept(let kept): report = StoreReport(place.name, kept)
        case .otherVersion(_, let words): report = StoreReport(place.name, fault: words)
        }
        if json { try printJSON(report) } else { try StandardOutput.print(report.text) }
        guard report.fault == nil else { throw ExitCode(.bad) }
    }
}

struct StoreMigrate: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "its tables are those of this program", .usage: "what was typed is wrong", .cannotRun: "it cannot be used",
    ]
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Make the tables of a store, or bring them to this program's version, as serve does.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var options: StoreOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let place = try options.place(), claim = try place.claim()
        defer { withExtendedLifetime(claim) {} }
        guard case .kept(let kept) = try place.read(migrating: true) else { return }
        let report = StoreReport(place.name, kept)
        if json { try printJSON(report) } else { try StandardOutput.print(report.text) }
    }
}

struct StoreExport: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "all of it is printed", .usage: "what was typed is wrong", .cannotRun: "it cannot be used, or is of another version",
    ]
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all that a store has as JSON, for 'store import'; a gateway may run meanwhile.",
        discussion: "It names callers and holds push tokens: the file is for this user alone. \(ExitStatus.sentence(exits))")
    @Argument(help: "The file that is written; - is standard output.") var file = "-"
    @OptionGroup var options: StoreOptions

    func run() throws {
        let place = try options.place()
        switch try place.read(migrating: false) {
        case .kept(let kept): try write(StoreDocument(kept))
        case .otherVersion(_, let words): throw Failure.cannotRun("\(place.name): \(words)")
        }
    }

    private func write(_ document: StoreDocument) throws {
        guard file != "-" else { return try printJSON(document) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let contents = try encoder.encode(document)
        guard FileManager.default.createFile(atPath: file, contents: contents, attributes: [.posixPermissions: 0o600]) else {
            throw Failure.cannotRun("'\(file)' cannot be written")
        }
    }
}

struct StoreImport: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "all of it is in the store", .usage: "what was typed or read is wrong", .cannotRun: "the store cannot be used",
    ]
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Write what 'store export' has printed into a store, beside what is there.",
        discussion: """
            The registrations of a user and the push bindings of a line take the place of those that are there. No gateway may use the folder.
            \(ExitStatus.sentence(exits))
            """)
    @Argument(help: "What was exported; - is standard input.") var file = "-"
    @Option(
        help: ArgumentHelp(
            "The gateway whose registrations over TCP, TLS or WebSocket they are (default: the machine's name).", valueName: "name"))
    var node: String?
    @OptionGroup var options: StoreOptions
    @Flag(help: "Print one JSON object.") var json = false

    private struct Report: Encodable {
        var place: String
        var changes: Int
    }

    func run() throws {
        let place = try options.place(node: node), document = try read()
        let claim = try place.claim()
        defer { withExtendedLifetime(claim) {} }
        let report = Report(place: place.name, changes: document.changes.count)
        try place.write(document.changes)
        if json { return try printJSON(report) }
        try StandardOutput.print("\(report.changes) entries were written to \(report.place)")
    }

    private func read() throws -> StoreDocument {
        let text: String
        do throws(NamedFile.Unreadable) { text = try NamedFile.text(of: file == "-" ? "/dev/stdin" : file) } catch {
            throw Failure.cannotRun("'\(file)' \(error.text)")
        }
        guard let document = try? JSONDecoder().decode(StoreDocument.self, from: Data(text.utf8)) else {
            throw Failure.usage("'\(file)' is nothing that 'hookswitch store export' has printed")
        }
        guard document.form <= StoreDocument.currentForm else {
            throw Failure.usage("'\(file)' was exported by a later version of hookswitch")
        }
        return document
    }
}
