import ArgumentParser
import Foundation
import Primitives
import Workbench

struct Torture: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "no case failed",
        .bad: "a case failed",
        .cannotRun: "it could not begin, or was stopped by a signal: what was under way is hung up, and not judged",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Do to a SIP system what the RFCs say that it must stand, and say case by case whether it does.",
        discussion: """
            Sends the messages of RFC 4475 and RFC 5118, races (RFC 5407: a CANCEL that crosses a 200, a BYE before the ACK, re-INVITEs that meet) and \
            offers of every kind (RFC 3264). TARGET is somebody who answers by himself, as an echo. After each case everything is hung up, and the target has to \
            answer an OPTIONS. Races in which the target calls need a line of its own (--register).

            Three verdicts: passed; failed, with what was expected and what came; not judged, with the reason. So that answers come back, messages over \
            UDP get an rport, and a Call-ID and branch of their own; --exact leaves every byte as it is, and needs port 5060 (--local) for the answers. \
            \(ExitStatus.sentence(exits)) A second signal ends it at once.

            Examples:
              hookswitch torture sip:9196@127.0.0.1
              hookswitch torture sip:9196@10.0.0.5 --register 1001 --password secret-1001 --only races,offer-answer
              hookswitch torture sip:9196@127.0.0.1 --only rfc4475 --exact --local 127.0.0.2:5060 --junit torture.xml
            """)

    @Argument(help: "sip:9196@127.0.0.1:5060") var target: String?

    @Option(help: ArgumentHelp("Only these cases, or groups: rfc4475, rfc5118, races, offer-answer (default: all).", valueName: "name,…"))
    var only: String?
    @Flag(help: "Name the cases, and end.") var list = false
    @Option(help: ArgumentHelp("udp or tcp (default: what the URI says, else udp).", valueName: "transport")) var transport: String?
    @Option(
        help: ArgumentHelp(
            "A line of the target's that is ours: it is registered, and called through the target (default: none; the target is called directly).",
            valueName: "line"))
    var register: String?
    @Option(help: ArgumentHelp("The line's password; it answers challenges of our calls too (default: none).", valueName: "password"))
    var password: String?
    @Flag(help: "Leave every byte of the messages as it is.") var exact = false
    @Option(help: ArgumentHelp("Take SIP at this address and port (default: any port, facing the target).", valueName: "address:port"))
    var local: String?
    @Option(help: ArgumentHelp("How long the target may take for an answer.", valueName: "s")) var timeout = 4.0
    @Flag(help: "Print one JSON object.") var json = false
    @Option(help: ArgumentHelp("Write the verdicts as JUnit XML (default: not written).", valueName: "file")) var junit: String?

    func run() throws {
        let order = try self.order()
        if list { return try printList(order.cases) }
        let reporter = ProgressReporter(json ? .standardError : .standardOutput)
        let report = try TortureRun(order, reporter: reporter).perform()
        reporter.finish()
        try Delivery.all([
            { if json { try printJSON(report) } else { try StandardOutput.print(TortureText.summary(report).joined(separator: "\n")) } },
            { try order.junit?.write(TortureJUnit.text(report)) },
        ])
        if report.exitCode != 0 { throw ExitCode(report.exitCode) }
    }

    private func printList(_ cases: [TortureCase]) throws {
        if json { return try printJSON(cases.map(TortureListing.init)) }
        let lines = cases.map { "\($0.group.rawValue.padded(to: 13))\($0.name.padded(to: 31))\($0.title) (\($0.reference))" }
        try StandardOutput.print(lines.joined(separator: "\n"))
    }
}

/// One case, as `--list --json` names it.
struct TortureListing: Encodable {
    var name: String, group: TortureCase.Group, reference: String, title: String, needsLine: Bool

    init(_ test: TortureCase) {
        (name, group, reference, title, needsLine) = (test.name, test.group, test.reference, test.title, test.needsLine)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
