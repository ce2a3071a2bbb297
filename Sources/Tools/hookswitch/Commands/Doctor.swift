import ArgumentParser
import Foundation

struct Doctor: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "nothing is broken",
        .bad: "something is broken",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Examine this machine and the configuration: what will go wrong, and what mends it.",
        discussion: """
            Looks at what is told to whom, the media ports against the kernel's own and against a compose file, socket buffers, the clock, descriptors, the database, the names \
            in the configuration, and what a start warns of. Sends nothing but DNS questions, and reads the database; whether peers can reach this machine only 'hookswitch probe', from outside, can tell. \
            \(ExitStatus.sentence(exits))

            Examples:
              hookswitch doctor --config hookswitch.yaml
              hookswitch doctor --config hookswitch.yaml --compose Docker/compose.yaml
            """)

    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("The compose file that publishes the gateway's ports (default: not looked at).", valueName: "file"))
    var compose: String?

    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let report = try examine()
        if json { try printJSON(report) } else { try StandardOutput.print(report.text) }
        if report.isSick { throw ExitCode(.bad) }
    }

    func examine() throws -> DoctorReport {
        let configuration = try options.load().findingAdvertisedName()
        let published = try compose.map(ComposePorts.init(path:))
        return DoctorReport(findings: Examination(configuration, .here).all(published))
    }
}
