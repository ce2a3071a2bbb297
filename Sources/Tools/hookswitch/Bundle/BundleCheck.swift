import Foundation
import Gateway
import Workbench

/// Derives the verdict of a bundle anew, from its contents alone. A value.
struct BundleCheck: Encodable {
    /// One file, and the findings in it.
    struct Part: Encodable {
        /// The file.
        var name: String
        /// The contents in a few words, for a person.
        var seen: String
        /// Contradictions; empty where there are none.
        var faults: [String]
    }

    private(set) var parts: [Part] = []
    /// The verdict that the report derives anew; nil where there is no report.
    private(set) var verdict: LoadVerdict.Word?
    /// The SHA-256 of the whole bundle.
    private(set) var sha256: String

    /// Whether all of it agrees.
    private(set) var agrees = false

    /// - Throws: a `Failure` with code 1 for bytes that are no bundle.
    init(_ data: Data) throws {
        sha256 = EvidenceBundle.digest(data)
        let archive: TarArchive
        do throws(TarArchive.ParseError) { archive = try TarArchive(parsing: data) } catch {
            throw Failure.bad("no bundle of hookswitch: \(Self.words(error))")
        }
        guard let first = archive.files.first, first.name == EvidenceBundle.manifestName,
            let manifest = try? JSONDecoder().decode(EvidenceBundle.Manifest.self, from: first.content),
            manifest.schema == EvidenceBundle.Manifest.schema
        else { throw Failure.bad("no bundle of hookswitch: it has no manifest of '\(EvidenceBundle.Manifest.schema)'") }
        let files = Dictionary(archive.files.dropFirst().map { ($0.name, $0.content) }) { first, _ in first }
        parts.append(Self.check(manifest, Array(archive.files.dropFirst())))
        let report = try files[EvidenceBundle.reportName].map(Self.report)
        if let (report, told) = report {
            parts.append(Self.check(report, told))
            verdict = report.verdict.word
        }
        if let journal = files[EvidenceBundle.journalName] { parts.append(try Self.check(journal: journal, report?.0)) }
        if let calls = files[EvidenceBundle.callsName] {
            parts.append(try Self.check(calls: calls, files[EvidenceBundle.journalName] ?? Data()))
        }
        if let witness = files[EvidenceBundle.witnessName] { parts.append(Self.check(witness: witness)) }
        agrees = parts.allSatisfy(\.faults.isEmpty)
    }

    private static func words(_ error: TarArchive.ParseError) -> String {
        switch error {
        case .truncated: "it ends in the middle"
        case .brokenHeader: "it has a broken header"
        case .foreignEntry(let name): "'\(name.prefix(40))' is no plain file of a bundle"
        case .tooManyFiles: "it has more than \(TarArchive.mostFiles) files"
        }
    }

    // MARK: Manifest

    private static func check(_ manifest: EvidenceBundle.Manifest, _ files: [TarArchive.File]) -> Part {
        let there = files.map {
            EvidenceBundle.Manifest.Entry(name: $0.name, bytes: $0.content.count, sha256: EvidenceBundle.digest($0.content))
        }
        var faults: [String] = []
        for entry in manifest.files {
            let same = there.filter { $0.name == entry.name }
            if same.isEmpty {
                faults.append("\(entry.name) is missing")
            } else if same != [entry] {
                faults.append("\(entry.name) was changed")
            }
        }
        faults += there.filter { file in !manifest.files.contains { $0.name == file.name } }.map { "\($0.name) was added" }
        return Part(
            name: EvidenceBundle.manifestName,
            seen: "made \(manifest.made) by version \(manifest.version), \(there.count.counted("file", "files"))",
            faults: faults)
    }

    // MARK: Report

    /// The verdict as the report tells it.
    private struct Told: Decodable {
        var verdict: String
        var reasons: [String]
    }

    private static func report(_ content: Data) throws -> (LoadReport, Told) {
        guard let report = try? JSONDecoder().decode(LoadReport.self, from: content), report.schema == LoadReport.schema,
            let told = try? JSONDecoder().decode(Told.self, from: content)
        else { throw Failure.bad("\(EvidenceBundle.reportName) is no report of '\(LoadReport.schema)'") }
        return (report, told)
    }

    private static func check(_ report: LoadReport, _ told: Told) -> Part {
        var faults = report.contradictions
        let verdict = report.verdict
        if verdict.word.rawValue != told.verdict || verdict.reasons != told.reasons {
            faults.append("it says '\(told.verdict)', and its figures say '\(verdict.text)'")
        }
        let counted =
            report.callsLeftOut == 0 ? "all counted anew" : "\(report.callsLeftOut) more are only in its sums, and were not counted anew"
        return Part(
            name: EvidenceBundle.reportName, seen: "\(report.calls.count.counted("call", "calls")), \(counted); verdict \(verdict.text)",
            faults: faults)
    }

    // MARK: Journal

    private static func check(journal: Data, _ report: LoadReport?) throws -> Part {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-verify-\(UUID()).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        do { try journal.write(to: file) } catch { throw Failure.cannotRun("\(file.path) cannot be written") }
        let audit = try AuditCommand.check([file.path])
        var history = CallHistory(), answered: Set<String> = [], known: Set<String> = []
        _ = try JournalFiles.read(file.path) { history.note($0) }
        history.finish(isBeingWritten: false)
        for call in history.calls {
            for case let id? in call.legs.map(\.callID) {
                known.insert("\(id)")
                if call.first.answered != nil { answered.insert("\(id)") }
            }
        }
        var faults =
            audit.violations.map { "\($0.rule): call \($0.call ?? "–"), event \($0.run).\($0.event): \($0.text)" } + audit.unreadable
        var seen =
            "\(audit.events) events, \(audit.calls) calls: \(audit.isClean ? "no violation" : "\(audit.violations.count) violations")"
        if audit.gaps > 0 { faults.append("\(audit.missingEvents) events are missing: what they were nobody knows") }
        if let report {
            let judged = report.calls.filter { $0.outcome != .notTried && $0.outcome != .cutOff && $0.status != 0 && !$0.callID.isEmpty }
            let missing = judged.filter { !known.contains($0.callID) },
                silent = judged.filter { $0.isAnswered && !answered.contains($0.callID) }
            seen += "; \(judged.count - missing.count) of the report's \(judged.count) calls are in it"
            if audit.gaps == 0, let first = missing.first {
                faults.append(
                    "\(missing.count.counted("call", "calls")) of the report are not in it, the first is \(first.number) (\(first.callID))")
            } else if audit.gaps == 0, let first = silent.first {
                faults.append(
                    "\(silent.count.counted("call", "calls")) that the report has as answered were not, the first is \(first.number)")
            }
        }
        return Part(name: EvidenceBundle.journalName, seen: seen, faults: faults)
    }

    // MARK: Calls

    private struct Named: Decodable { var call: String }

    private static func check(calls: Data, _ journal: Data) throws -> Part {
        let told = calls.split(separator: 0x0A), names = told.compactMap { try? JSONDecoder().decode(Named.self, from: $0).call }
        let derived = try CallsBundle.calls(of: journal, with: Set(names.compactMap { UUID(uuidString: $0).map(CallUUID.init) }))
        let isSame = derived == calls && names.count == told.count
        return Part(
            name: EvidenceBundle.callsName, seen: told.count.counted("call", "calls"),
            faults: isSame ? [] : ["it is not what the journal says of these calls"])
    }

    // MARK: Witness

    private struct Line: Decodable {
        var event: String
        var verdict: String?
        var calls: Int?, samples: Int?, disagreements: Int?
        var call: String?, port: Int?
    }

    private static func check(witness: Data) -> Part {
        let lines = witness.split(separator: 0x0A).compactMap { try? JSONDecoder().decode(Line.self, from: $0) }
        guard let last = lines.last, last.event == "verdict", let verdict = last.verdict else {
            return Part(name: EvidenceBundle.witnessName, seen: "nothing", faults: ["it has no verdict"])
        }
        let seen = "\(last.samples ?? 0) samples of the kernel's sockets, \(last.calls ?? 0) calls: \(verdict)"
        let found = lines.dropLast().map { "port \($0.port ?? 0), call \($0.call ?? "–"): the kernel and the journal disagree" }
        let isContradictory =
            found.isEmpty == ((last.disagreements ?? 0) > 0) || (verdict == "agree") != found.isEmpty && verdict != "nothing-seen"
        return Part(
            name: EvidenceBundle.witnessName, seen: seen, faults: found + (isContradictory ? ["its verdict is not that of its lines"] : []))
    }
}
