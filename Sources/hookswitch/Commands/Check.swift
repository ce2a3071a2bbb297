import ArgumentParser
import Foundation
import Gateway
import Runtime

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and print what would be advertised to whom.",
        discussion: "Opens nothing. Exit code 2 with one line when the configuration is wrong.")

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let configuration = try options.load()
        let summary = StartupSummary(configuration, listeners: configuration.listeners, ephemeral: EphemeralPortRange.current)
        if json { try printJSON(summary) } else { print("the configuration is good\n\(summary.text)") }
    }
}
