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
            Names each violation with its rule, call and event. In the journal of an app some are \
            advice: telephones put up with them, and the exit code does. \(ExitStatus.sentence(exits)) Rotated files \
            may be given together, in any order: they are read as one journal; what is no file, as a pipe, is given alone. So may be the journals of \
            several gateways on one database: a call that one left unfinished when it died, and that another has ended or went on with, is told of as a note. Calls that were up where \
            a journal ends, of a run that was killed or goes on, or where events are missing ("unfinished"), those places ("gaps") and calls of which \
            a part is missing, which cannot be judged, are told of, and are no violations. Events are named by run and number, as 2.17: the \
            run's identifier where the journal has one, else its place in what was read.

            Examples:
              hookswitch audit data/journal.jsonl
              hookswitch audit data/journal.jsonl.1 data/journal.jsonl --json
              hookswitch audit gateway-1/journal.jsonl gateway-2/journal.jsonl
            """)

    @Argument(help: "Journal files (JSON lines).") var files: [String]
    @Flag(help: "Print one JSON object.") var json = false

    struct Report: Encodable {
        /// `event` is a number within `run`.
        struct Finding: Encodable { var file: String, rule: String, call: String?, run: String, event: UInt64, text: String }
        /// The file that goes on behind the gap, the events on both sides of it, the run of the later one, and how many are missing.
        struct Gap: Encodable {
            var file: String, after: UInt64, before: UInt64, run: String, missing: UInt64
            /// The gap in words, for a person.
            var text: String
            private enum CodingKeys: CodingKey { case file, after, before, run, missing }

            init(_ gap: Audit.Gap, in file: String) {
                (self.file, after, before, run, missing) = (file, gap.after, gap.before, gap.run.label, gap.missing)
                text = "events are missing between \(gap.earlierRun.position(after)) and \(gap.run.position(before))"
            }
        }
        /// A call whose gateway died: the Call-ID, the name of the gateway, and the answer to the BYE or CANCEL that another one has sent;
        /// without one the caller was refused, or the call went on.
        struct Orphan: Encodable { var call: String, callID: String, node: String, status: Int64? }
        var events = 0, calls = 0
        /// With those that began where events are missing, as far as the journal tells.
        var callsAtLeast = 0
        var violations: [Finding] = []
        /// In the journal of an app: what telephones put up with, and what is better not done.
        var advice: [Finding] = []
        var unreadable: [String] = []
        /// Places where sequence numbers are missing, and how many.
        var gaps = 0
        var missingEvents: UInt64 = 0
        var gapPlaces: [Gap] = []
        /// Calls that were up when the journal of a run ends without `gateway.stopped`, as it was killed or goes on, or where events are
        /// missing.
        var unfinishedCalls: [String] = []
        /// Calls that were up when their gateway died, and that another has ended.
        var orphanedCalls: [Orphan] = []
        /// Calls that were up when their gateway died, and that went on at another.
        var adoptedCalls: [Orphan] = []
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

    /// Reads the files piece by piece, each as a part of its journal. The end of a run may show only in the file after it.
    static func check(_ files: [String]) throws -> Report {
        var report = Report(), journals = AuditedJournals(), ends = OrphanEnds(), calls: Set<CallUUID> = []
        for file in try JournalFiles.inOrder(files, of: "audit") {
            let journal = journals.journal(of: file)
            let brokenLines = try JournalFiles.read(file) { event in
                report.events += 1
                if let call = event.call { calls.insert(call) }
                ends.note(event, of: journal.number)
                for (violation, run) in journal.observe(event) { report.add(violation, of: run, in: file) }
            }
            report.unreadable += brokenLines.map(\.description)
            report.gapPlaces += journal.newGaps().map { .init($0, in: file) }
        }
        report.calls = calls.count
        report.conclude(journals.all, ends)
        return report
    }

    /// Faults alone.
    static func violations(of events: [JournalEvent]) -> [Violation] {
        let audit = Audit()
        return (events.flatMap { audit.observe($0) } + audit.finish()).filter { $0.level == .fault }
    }

    static func text(_ report: Report) -> String {
        let lines =
            report.unreadable.map { "unreadable  \($0)" }
            + report.violations.map { "violation   \($0.rule)  event \($0.run).\($0.event)  call \($0.call ?? "-")  \($0.text)" }
            + report.advice.map { "advice      \($0.rule)  event \($0.run).\($0.event)  call \($0.call ?? "-")  \($0.text)" }
            + report.orphanedCalls.map {
                "note        call \($0.call) was not over when the gateway '\($0.node)' died, and another ended it: "
                    + ($0.status.map { "\($0) to its BYE or CANCEL" } ?? "the caller was refused")
            }
            + report.adoptedCalls.map { "note        call \($0.call) went on at another gateway when the gateway '\($0.node)' died" }
            + report.unfinishedCalls.map { "unfinished  call \($0) was up where its journal ends or has a gap" }
            + report.gapPlaces.map { "gap         \($0.text)" }
        let calls =
            report.gaps > 0 && report.callsAtLeast > 0
            ? "\(report.calls) of at least \(report.callsAtLeast) calls" : "\(report.calls) calls"
        return (lines + ["\(report.events) events, \(calls): \(verdict(report))\(limits(report))"]).joined(separator: "\n")
    }

    /// Lists the limits of the verdict.
    private static func limits(_ report: Report) -> String {
        let gaps = report.gaps == 1 ? "gap of \(report.missingEvents)" : "\(report.gaps) gaps of \(report.missingEvents) together"
        let missing = report.gaps > 0 ? "; events missing: \(gaps)" : ""
        let unfinished = report.unfinishedCalls.isEmpty ? "" : "; \(report.unfinishedCalls.count) calls are unfinished"
        let orphans = report.orphanedCalls.count
        let ended = orphans == 0 ? "" : "; \(orphans) calls of gateways that died were ended by others"
        let adopted = report.adoptedCalls.count
        let wentOn = adopted == 0 ? "" : "; \(adopted) calls of gateways that died went on at others"
        let calls = report.unjudgedCalls > 0 ? "; \(report.unjudgedCalls) calls cannot be judged, a part of them is missing" : ""
        let lines = report.unjudgedSessionLines.count
        let advice = report.advice.isEmpty ? "" : "; advice: \(report.advice.count)"
        return advice + missing + ended + wentOn + unfinished + calls
            + (lines > 0 ? "; on \(lines) lines audio sessions are not judged, as they may be those of such calls" : "")
    }

    private static func verdict(_ report: Report) -> String {
        guard report.isClean else { return "\(report.violations.count) violations, \(report.unreadable.count) unreadable lines" }
        if report.gaps > 0 { return "no violation in what is there" }
        return report.events == 0 ? "nothing to check" : "clean"
    }
}

extension AuditCommand.Report {
    fileprivate mutating func add(_ violation: Violation, of run: JournalRun, in file: String) {
        let finding = Finding(
            file: file, rule: violation.rule.rawValue, call: violation.call?.description, run: run.label, event: violation.sequence,
            text: violation.sentence)
        if violation.level == .fault { violations.append(finding) } else { advice.append(finding) }
    }

    private mutating func add(unfinished call: CallUUID, _ end: OrphanEnds.End?) {
        guard let end else { return unfinishedCalls.append(call.description) }
        let orphan = Orphan(call: call.description, callID: end.callID.description, node: end.node.description, status: end.status)
        if end.isAdopted { adoptedCalls.append(orphan) } else { orphanedCalls.append(orphan) }
    }

    /// Adds what the ends of the journals tell, and how much is missing in them.
    fileprivate mutating func conclude(_ journals: [AuditedJournals.Journal], _ ends: OrphanEnds) {
        for journal in journals {
            for violation in journal.audit.finish() { add(violation, of: journal.audit.runs.current, in: journal.file) }
        }
        let audits = journals.map(\.audit)
        for journal in journals {
            for call in journal.audit.unfinishedCalls { add(unfinished: call, ends[call, journal.number]) }
        }
        // A call that began where events are missing may have later events in the journal.
        callsAtLeast = max(calls, Int(clamping: audits.reduce(0) { $0 + $1.begunCalls + $1.missingCalls }))
        gaps = audits.reduce(0) { $0 + $1.gaps.count }
        missingEvents = audits.flatMap(\.gaps).reduce(0) { $0 &+ $1.missing }
        unjudgedCalls = Set(audits.flatMap(\.partialCalls)).count
        unjudgedSessionLines = Set(audits.flatMap(\.unjudgedSessionLines)).map(\.description).sorted()
    }
}
