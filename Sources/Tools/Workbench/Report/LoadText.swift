/// The report as lines for a person: first whether it can be believed, then what it says.
public enum LoadText {
    public static func lines(_ report: LoadReport) -> [String] {
        validity(report.validity) + [""] + calls(report) + sample(report) + [""] + table(report) + found(report) + levels(report)
            + steps(report) + leaks(report.leaks) + ["", verdict(report)]
    }

    private static func validity(_ validity: Validity) -> [String] {
        var lines = [validity.isBelievable ? "believable   yes" : "believable   NO: do not blame the target for what follows"]
        lines += validity.reasons.map { "             ! \($0)" }
        lines.append("lateness     \(late("packets", validity.packetLateness)); \(late("calls", validity.callLateness))")
        if let punctuality = validity.punctuality { lines.append("punctual     \(punctuality.text)") }
        let busy = validity.machineProcessor.map { ", machine \(Number.text($0)) % busy" } ?? ""
        lines.append(
            "processor    the tool \(Number.text(validity.ownProcessor)) % of one of \(validity.cores) cores\(busy); sends at \(validity.priority) priority"
        )
        let dropped =
            validity.droppedReceiving.map { "\($0) dropped on receipt, \(validity.droppedSending ?? 0) on sending" }
            ?? "the kernel does not tell"
        lines.append(
            "datagrams    \(dropped); at most \(validity.portsAtMost) of \(validity.ports) media ports; \(validity.limiterHits) × 503")
        return lines + validity.notes.map { "note         \($0)" }
    }

    private static func late(_ what: String, _ late: Validity.Late?) -> String {
        late.map { "\(what) p50 \(Number.text($0.p50)) p99 \(Number.text($0.p99)) max \(Number.text($0.max)) ms" } ?? "\(what) not measured"
    }

    private static func calls(_ report: LoadReport) -> [String] {
        let counts = report.counts, ratios = report.ratios
        let statuses = counts.byStatus.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        let kinds = counts.byKind.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            "target       \(report.run.target)",
            "calls        \(counts.begun) in \(Number.text(report.run.elapsed)) s, at most \(counts.concurrent) at a time: \(counts.good) good, \(counts.faulty) faulty, \(counts.failed) failed"
                + (counts.notTried > 0 ? ", \(counts.notTried) not tried" : "")
                + (counts.cutOff > 0 ? ", \(counts.cutOff) cut off by the stop" : "")
                + (counts.skipped > 0 ? ", \(counts.skipped) not begun" : "")
                + (report.run.wasStopped ? "; stopped early" : ""),
            "kinds        \(kinds); \(counts.listenedTo) listened to",
            "encryption   \(encryption(report))",
            "statuses     \(statuses.isEmpty ? "none" : statuses)",
            "RFC 6076     SER \(percent(ratios.ser)), SEER \(percent(ratios.seer)), ISA \(percent(ratios.isa)), SCR \(percent(ratios.scr))"
                + (counts.retransmissions > 0 ? "; \(counts.retransmissions) retransmissions" : ""),
        ]
    }

    private static func sample(_ report: LoadReport) -> [String] { sampleNote(report).map { ["note         \($0)"] } ?? [] }

    /// What is told of the first calls alone, where there were more than are kept.
    static func sampleNote(_ report: LoadReport) -> String? {
        guard report.callsLeftOut > 0 else { return nil }
        return
            "the first \(report.calls.count) calls alone make the plots, the series and what is found late; \(report.callsLeftOut) more are in the sums"
    }

    static func encryption(_ report: LoadReport) -> String {
        let encryption = report.encryption, ends = encryption.sdes + encryption.dtls + encryption.clear
        let ways = [(encryption.sdes, "SRTP by SDES"), (encryption.dtls, "SRTP by DTLS"), (encryption.clear, "in the clear")].filter {
            $0.0 > 0
        }
        let media =
            ends == 0
            ? "no media" : "\(percent(encryption.share)) of \(ends) ends: " + ways.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return "signalling \(report.run.transport.uppercased()); \(media)"
    }

    private static func percent(_ value: Double?) -> String { value.map { "\(Number.text($0)) %" } ?? "–" }

    private static func table(_ report: LoadReport) -> [String] {
        var rows = [["", "count", "p5", "p50", "p95", "p99", "max", ""]]
        for metric in LoadMetric.allCases {
            if let summary = report.metrics[metric.rawValue] ?? nil {
                rows.append(
                    [metric.title, "\(summary.count)"] + [summary.p5, summary.p50, summary.p95, summary.p99, summary.max].map(Number.text)
                        + [metric.unit])
            } else if [.mos, .delay, .loss].contains(metric) {
                rows.append([metric.title, "0", "–", "–", "–", "–", "–", "not measured"])
            }
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column == 0 || column == 7 ? pad(text, widths[column], right: false) : pad(text, max(6, widths[column]), right: true)
            }
            .joined(separator: "  ").trimmingEnd()
        }
    }

    private static func pad(_ text: String, _ width: Int, right: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
    }

    private static func found(_ report: LoadReport) -> [String] {
        report.findings.isEmpty
            ? []
            : [""]
                + report.findings.map { found in
                    let numbers = found.numbers.prefix(8).map { "\($0)" }.joined(separator: ", ") + (found.calls > 8 ? ", …" : "")
                    let pattern = found.pattern.map { ", \($0)" } ?? ""
                    return
                        "found        \(found.kind.rawValue): \(found.calls) \(found.calls == 1 ? "call" : "calls") (\(numbers)\(pattern)): \(found.text)"
                }
    }

    private static func levels(_ report: LoadReport) -> [String] {
        report.slo.isEmpty
            ? []
            : [""]
                + report.slo.map { verdict in
                    let actual = verdict.actual.map { "was \(Number.text($0))" } ?? "was not measured"
                    return "SLO \(verdict.isKept ? "kept    " : "BROKEN  ") \(verdict.term), \(actual)"
                        + (verdict.isToolsFault ? " (the tool's own fault, perhaps)" : "")
                }
    }

    private static func steps(_ report: LoadReport) -> [String] {
        let lines = report.steps.map { step in
            let parts = [
                "\(step.calls) calls", step.notBegun > 0 ? "\(step.notBegun) not begun" : nil,
                step.failedPercent.map { "\(Number.text($0)) % failed" }, step.setupP95.map { "set-up p95 \(Number.text($0)) ms" },
            ]
            let held = step.isKept.map { $0 ? "held" : "BROKE" } ?? (step.slo.isEmpty ? "" : "not told")
            return "step         \(Number.text(step.rate))/s: "
                + (parts.compactMap(\.self) + (held.isEmpty ? [] : [held])).joined(separator: ", ")
        }
        guard let knee = report.knee else { return lines.isEmpty ? [] : [""] + lines }
        return [""] + lines + ["knee         \(text(knee))"]
    }

    static func text(_ knee: LoadReport.Knee) -> String {
        let last = knee.lastKept.map { "\(Number.text($0)) calls a second held" } ?? "no step held"
        if let rate = knee.firstBroken {
            return
                "\(last); at \(Number.text(rate)) broke \(knee.broken.joined(separator: ", "))\(knee.isToolsOwn ? " (the tool was late itself then)" : "")"
        }
        if let rate = knee.firstNotOffered {
            return "\(last); at \(Number.text(rate)) the tool began fewer: let it have more calls at a time (--concurrent) or ports"
        }
        return last + "; nothing broke"
    }

    private static func leaks(_ leaks: LeakReport?) -> [String] {
        guard let leaks else { return [] }
        let processes: [(String, MemoryFigures?)] = [("the tool", leaks.memory), ("the gateway", leaks.targetMemory)]
        let memory = processes.compactMap { name, figures in figures.flatMap { self.memory(name, $0) } }
        let left = "left behind  \(leaks.isClean ? "nothing" : leaks.leftovers.joined(separator: ", "))"
        return ["", left + (leaks.notJudged.map { "; not judged: \($0)" } ?? "")]
            + (memory.isEmpty ? [] : ["memory       " + memory.joined(separator: "; ")])
    }

    static func memory(_ name: String, _ figures: MemoryFigures) -> String? {
        guard let before = figures.before, let after = figures.after else { return nil }
        func megabytes(_ bytes: UInt64) -> String { Number.text(Double(bytes) / 1_048_576) }
        let trend = figures.perCall.map { ", \(Number.text($0 / 1_024)) kB with every call" } ?? ", too short for a trend"
        return "\(name) \(megabytes(before)) MB before, \(megabytes(after)) after\(trend)"
    }

    private static func verdict(_ report: LoadReport) -> String {
        switch report.exitCode {
        case 0: "verdict      good"
        case 1: "verdict      BAD"
        default:
            report.isNothingJudged
                ? "verdict      none: it was stopped before a call was over" : "verdict      none: the run cannot be believed"
        }
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
