import ArgumentParser
import Foundation
import Gateway
import Runtime

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and print what would be advertised to whom.",
        discussion: "Opens no socket; reads the call directories. Exit code 2 with one line when the configuration is wrong.")

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let configuration = try options.load()
        for source in configuration.directories { try Self.read(source) }
        let summary = StartupSummary(configuration, listeners: configuration.listeners, ephemeral: EphemeralPortRange.current)
        if json { try printJSON(summary) } else { print("the configuration is good\n\(summary.text)") }
    }

    /// Call directories are read to their ends: a line that is wrong is named here, not at the start.
    private static func read(_ source: DirectorySource) throws {
        do {
            try source.block.map(DirectoryFile.init)?.read(.block) { _, _ in }
            try source.identify.map(DirectoryFile.init)?.read(.identify) { _, _ in }
        } catch {
            let isThere = [source.block, source.identify].compactMap(\.self).allSatisfy(FileManager.default.isReadableFile)
            throw ConfigurationError(place: "directory \(source.name)", message: error.localizedDescription, kind: isThere ? .usage : .environment)
        }
    }
}
