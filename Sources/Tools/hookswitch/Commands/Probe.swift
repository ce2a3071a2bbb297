import ArgumentParser
import Foundation
import Primitives
import SIP
import UserAgent

struct Probe: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "all four ways work",
        .bad: "a way is dead",
        .cannotRun: "a way is not known, or the probe was stopped",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Call a gateway from outside, and name the direction that is dead: SIP or sound, out or in.",
        discussion: """
            Run it where callers are, not on the gateway's machine or in its container. Calls a number that plays a tone and one that echoes, and tells from \
            both which of the four ways works, what the gateway told of its own addresses, and what mends it. \(ExitStatus.sentence(exits)) \
            Standard error tells what it waits for.

            Examples:
              hookswitch probe 203.0.113.5
              hookswitch probe 10.0.0.5:5070 --echo 600 --tone 601 --json
            """)

    @Argument(help: "The gateway's address or name, with :PORT unless it is 5060.") var address: String

    @Option(help: ArgumentHelp("The number that sends sound back.", valueName: "number")) var echo = "9196"
    @Option(help: ArgumentHelp("The number that plays a tone, heard before ours is.", valueName: "number")) var tone = "9197"
    @Flag(help: "Speak TCP instead of UDP.") var tcp = false
    @Option(help: ArgumentHelp("Wait so long for an answer.", valueName: "s")) var timeout = 5.0
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let reporter = ProgressReporter(json ? nil : .standardError), report = try examine(telling: reporter)
        reporter.finish()
        if json { try printJSON(report) } else { try StandardOutput.print(report.text) }
        if report.status != .good { throw ExitCode(report.status) }
    }

    func examine(telling reporter: ProgressReporter = ProgressReporter(nil)) throws -> ProbeReport {
        let server = try SocketAddress(ofServer: address, option: "probe", over: tcp ? .tcp : .udp)
        let timeout = try Bounded.seconds(self.timeout, option: "--timeout", in: 1...60)
        for (option, number) in [("--tone", tone), ("--echo", echo)] where !Self.isNumber(number) {
            throw Failure.usage("\(option) takes a number of the gateway as 9197, got '\(number)'")
        }
        func call(_ number: String) throws -> ProbeEvidence {
            try ProbeCall(number: number, server: server, usesTCP: tcp, timeout: timeout, reporter: reporter).evidence()
        }
        let heard = try call(tone), echoed = heard.hasAnswer ? try call(echo) : nil
        return ProbeReport(server: server, usesTCP: tcp, tone: heard, echo: echoed)
    }

    /// Whether the text can stand in a URI before its @, as it is.
    private static func isNumber(_ text: String) -> Bool {
        guard !text.hasPrefix("sip:"), let uri = try? URI(parsing: Text("sip:\(text)@localhost")) else { return false }
        return uri.user == Text(text) && uri.host == "localhost" && uri.password == nil
    }
}
