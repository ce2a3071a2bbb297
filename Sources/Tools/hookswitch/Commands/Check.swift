import ArgumentParser
import CallKit
import Foundation
import Gateway
import Runtime

struct Check: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the configuration is good",
        .usage: "it is wrong, and one line says where",
        .cannotRun: "a file that it names cannot be read",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and print what would be advertised to whom.",
        discussion: """
            Listens nowhere; reads the call directories and asks DNS where trunks are.
            \(ExitStatus.sentence(exits))
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

    private struct Report: Encodable {
        let summary: StartupSummary
        let trunks: [TrunkLookup]

        func encode(to encoder: any Encoder) throws {
            try summary.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(trunks, forKey: .trunks)
        }

        private enum CodingKeys: CodingKey { case trunks }
    }

    func run() throws {
        let configuration = try options.load().findingAdvertisedName()
        try configuration.promptSpeaker?.check()
        _ = try configuration.postgresSettings
        for source in configuration.directories { try Self.read(source, configuration) }
        let summary = StartupSummary(configuration, listeners: configuration.listeners, ephemeral: EphemeralPortRange.current)
        let trunks = TrunkLookup.all(of: configuration)
        if json { return try printJSON(Report(summary: summary, trunks: trunks)) }
        try StandardOutput.print(
            (["the configuration is good", summary.text] + trunks.map { "  trunk       \($0.text)" }).joined(separator: "\n"))
    }

    /// Call directories are read to their ends: a line that is wrong is named here, not at the start.
    private static func read(_ source: DirectorySource, _ configuration: ServeConfiguration) throws {
        for (setting, path, kind) in [
            ("directories.block", source.block, DirectoryFile.List.block), ("directories.identify", source.identify, .identify),
        ] {
            guard let path else { continue }
            do { try DirectoryFile(path).read(kind) { _, _ in } } catch {
                let isUnread = (error as? DirectoryFile.Failure)?.code == .loadingInterrupted
                throw ConfigurationError(
                    place: "\(configuration.place(of: setting)): directory \(source.name)", message: error.localizedDescription,
                    kind: isUnread ? .environment : .usage)
            }
        }
    }
}
