import ArgumentParser
import Foundation
import Gateway

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Check journals against the rules of the contract.",
        discussion: """
            Names each violation with its rule, call and event. Exit code 1 when there is one, or a line that cannot be read. Rotated files \
            may be given together, in any order: they are read as one journal.
            """)

    @Argument(help: "Journal files (JSON lines).") var files: [String]
    @Flag(help: "Print one JSON object.") var json = false

    struct Report: Encodable {
        struct Finding: Encodable { var file: String, rule: String, call: String?, event: UInt64, text: String }
        var events = 0, calls = 0
        var violations: [Finding] = []
        var unreadable: [String] = []
        var isClean: Bool { violations.isEmpty && unreadable.isEmpty }
    }

    func run() throws {
        let report = try Self.check(files)
        if json { try printJSON(report) } else { printText(report) }
        if !report.isClean { throw ExitCode(1) }
    }

    /// Reads the files piece by piece as one journal. The end of a run may show only in the file after it.
    static func check(_ files: [String]) throws -> Report {
        var report = Report()
        var audit = Audit()
        var calls: Set<CallUUID> = []
        var file = ""
        let note = { (violation: Violation) in
            report.violations.append(
                .init(file: file, rule: violation.rule.rawValue, call: violation.call?.description, event: violation.sequence, text: violation.sentence))
        }
        for next in JournalReader.inOrder(files) {
            file = next
            do {
                let brokenLines = try JournalReader.read(path: file) { event in
                    report.events += 1
                    if let call = event.call { calls.insert(call) }
                    audit.observe(event).forEach(note)
                }
                report.unreadable += brokenLines.map(\.description)
            } catch { throw Failure.cannotRun("\(file): cannot be read") }
        }
        audit.finish().forEach(note)
        report.calls = calls.count
        return report
    }

    static func violations(of events: [JournalEvent]) -> [Violation] {
        var audit = Audit()
        return events.flatMap { audit.observe($0) } + audit.finish()
    }

    private func printText(_ report: Report) {
        for line in report.unreadable { print("unreadable  \(line)") }
        for finding in report.violations {
            print("violation   \(finding.rule)  event \(finding.event)  call \(finding.call ?? "-")  \(finding.text)")
        }
        print("\(report.events) events, \(report.calls) calls: \(report.isClean ? "clean" : "\(report.violations.count) violations, \(report.unreadable.count) unreadable lines")")
    }
}

/// The one shape of `--json` output: sorted keys, one object, one newline.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// One object on one line, keys sorted: the shape of `--json` where there are several.
func printJSONLine(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(value) else { preconditionFailure("a result that is no JSON") }
    try? FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
}
