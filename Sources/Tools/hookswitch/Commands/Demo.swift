import ArgumentParser
import Foundation
import Gateway
import Workbench

struct Demo: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "speech arrived both ways, the journal breaks no rule, and nothing of the call is left",
        .bad: "one of these is not so",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Two telephones bridged by a gateway of its own: ladder, audio, verdict.",
        discussion: """
            Starts a gateway on free ports of this machine's loopback, registers 1001 and 1002 with their passwords, lets 1001 call 1002 and both \
            speak. Then it draws what the gateway's journal has of the call, with a lane for the media, and checks the journal against the rules. \
            \(ExitStatus.sentence(exits))

            Example:
              hookswitch demo --codec pcmu --duration 2
            """)

    @Option(help: ArgumentHelp("What both telephones offer and take, best first: opus, g722, pcmu, pcma.", valueName: "codec,…"))
    var codec = "opus,g722,pcmu,pcma"

    @Option(help: ArgumentHelp("How many seconds they speak.", valueName: "s"))
    var duration = 3.0

    @Flag(help: "Print one JSON object, and nothing else.") var json = false

    func run() throws {
        let settings = try settings(), reporter = ProgressReporter(json ? nil : .standardOutput)
        let report = try DemoRun(settings, reporter: reporter).perform()
        reporter.finish()
        if json {
            try printJSON(report)
        } else {
            try StandardOutput.printExactly(
                "\n\(report.drawLadder(LadderOptions(width: Terminal.width, colour: Terminal.hasColour)))\n\(report.text)")
        }
        if !report.isGood { throw ExitCode(.bad) }
    }

    func settings() throws -> DemoSettings {
        var settings = DemoSettings()
        settings.codecs = try CodecList.parse(codec)
        settings.duration = try Bounded.seconds(duration, option: "--duration", in: 2...60)
        return settings
    }
}

/// The terminal that the output goes to, if it is one.
enum Terminal {
    /// Not where `NO_COLOR` is set (no-color.org).
    static var hasColour: Bool { isOutput && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true) }

    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The size of standard output, as it is now.
    static var size: TraceScreen.Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return TraceScreen.Size(rows: 24, columns: 120) }
        return TraceScreen.Size(rows: size.ws_row > 2 ? Int(size.ws_row) : 24, columns: size.ws_col > 0 ? Int(size.ws_col) : 120)
    }

    static var width: Int { size.columns }
}
