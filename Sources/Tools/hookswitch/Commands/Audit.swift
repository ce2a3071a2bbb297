import ArgumentParser
import Foundation
import Gateway
import Primitives

struct AuditCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "no rule is broken",
        .bad: "a rule is broken, or a line cannot be read",
    ]

    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Check journals against the rules of the contract.",
        discussion: """
            Names each violation with its rule, call and event. \(ExitStatus.sentence(exits)) Rotated files \
            may be given together, in any order: they are read as one journal; what is no file, as a pipe, is given alone. Calls that were up where \
            a journal ends, of a run that was killed or goes on, or where events are missing ("unfinished"), those places ("gaps") and calls of which \
            a part is missing, which cannot be judged, are told of, and are no violations.
            """)

    @Argument(help: "Journal files (JSON lines).") var files: [String]
    @Flag(help: "Print one JSON object.") var json = false

    struct Report: Encodable {
        struct Finding: Encodable { var file: String, rule: String, call: String?, event: UInt64, text: String }
        /// The file that goes on behind the gap, and the events on both sides of it.
        struct Gap: Encodable { var file: String, after: UInt64, before: UInt64 }
        var events = 0, calls = 0
        var violations: [Finding] = []
        var unreadable: [String] = []
        /// Places where sequence numbers are missing.
        var gaps = 0
        var gapPlaces: [Gap] = []
        /// Calls that were up when the journal of a run ends without `gateway.stopped`, as it was killed or goes on, or where events are
        /// missing.
        var unfinishedCalls: [String] = []
        /// Calls of which a part is missing.
        var unjudgedCalls = 0
        /// Lines with calls that were judged without their audio sessions.
        var unjudgedSessionLines: [String] = []
        var isClean: Bool { violations.isEmpty && unreadable.isEmpty }
    }

    func run() throws {
        let report = try Self.check(files)
        if json { try printJSON(report) } else { try StandardOutput.print(Self.text(report)) }
        if !report.isClean { throw ExitCode(.bad) }
    }

    /// Reads the files piece by piece as one journal. The end of a run may show only in the file after it.
    static func check(_ files: [String]) throws -> Report {
        var report = Report()
        let audit = Audit()
        var calls: Set<CallUUID> = []
        var file = ""
        let note = { (violation: Violation) in
            report.violations.append(
                .init(
                    file: file, rule: violation.rule.rawValue, call: violation.call?.description, event: violation.sequence,
                    text: violation.sentence))
        }
        let files = try files.map { try $0.named(by: "audit") }
        if files.count > 1, let pipe = files.first(where: { !JournalReader.canBeReadAgain($0) }) {
            throw Failure.cannotRun("\(pipe): is no file, and cannot be put in order with others: give it alone")
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
                report.gapPlaces += audit.gaps[report.gapPlaces.count...].map { .init(file: file, after: $0.after, before: $0.before) }
            } catch { throw Failure.cannotRun("\(file): cannot be read") }
        }
        audit.finish().forEach(note)
        (report.calls, report.unfinishedCalls) = (calls.count, audit.unfinishedCalls.map(\.description))
        (report.gaps, report.unjudgedCalls) = (audit.gaps.count, audit.partialCalls.count)
        report.unjudgedSessionLines = audit.unjudgedSessionLines.map(\.description).sorted()
        return report
    }

    static func violations(of events: [JournalEvent]) -> [Violation] {
        let audit = Audit()
        return events.flatMap { audit.observe($0) } + audit.finish()
    }

    static func text(_ report: Report) -> String {
        let lines =
            report.unreadable.map { "unreadable  \($0)" }
            + report.violations.map { "violation   \($0.rule)  event \($0.event)  call \($0.call ?? "-")  \($0.text)" }
            + report.unfinishedCalls.map { "unfinished  call \($0) was up where its journal ends or has a gap" }
            + report.gapPlaces.map { "gap         events are missing between \($0.after) and \($0.before)" }
        return (lines + ["\(report.events) events, \(report.calls) calls: \(verdict(report))\(limits(report))"]).joined(separator: "\n")
    }

    /// How far the verdict goes.
    private static func limits(_ report: Report) -> String {
        let gaps = report.gaps > 0 ? "; events are missing in \(report.gaps) places" : ""
        let calls = report.unjudgedCalls > 0 ? "; \(report.unjudgedCalls) calls cannot be judged, a part of them is missing" : ""
        let lines = report.unjudgedSessionLines.count
        return gaps + calls + (lines > 0 ? "; on \(lines) lines audio sessions are not judged, as they may be those of such calls" : "")
    }

    private static func verdict(_ report: Report) -> String {
        guard report.isClean else { return "\(report.violations.count) violations, \(report.unreadable.count) unreadable lines" }
        return report.events == 0 ? "nothing to check" : "clean"
    }
}
