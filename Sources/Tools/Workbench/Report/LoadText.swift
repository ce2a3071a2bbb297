import UserAgent

/// The report as lines for a person: first whether it is valid, then what it says, and the verdict last.
public enum LoadText {
    public static func lines(_ report: LoadReport) -> [String] {
        validity(report) + [""] + calls(report) + sample(report) + [""] + table(report) + found(report) + levels(report)
            + steps(report) + compared(report) + leaks(report.leaks) + ["", "verdict      \(report.verdict.text)"]
    }

    private static func validity(_ report: LoadReport) -> [String] {
        let validity = report.validity
        let doubt = validity.blamesTarget ? "NO: the rate was not kept" : "NO: do not blame the target for what follows"
        var lines = ["valid        \(validity.isValid ? "yes" : doubt)"]
        lines += validity.reasons.map { "             ! \($0)" }
        if let rate = rate(validity.rate) { lines.append("rate         \(rate)") }
        lines.append(
            "lateness     \(late("packets", validity.packetLateness)); \(late("calls", validity.callLateness))\(report.agents == nil ? "" : ", of the latest agent")"
        )
        if let punctuality = validity.punctuality { lines.append("on schedule  \(punctuality.text)") }
        let busy = validity.machineProcessor.map { ", machine \(Number.text($0)) % busy" } ?? ""
        let cores = validity.cores.counted("core", "cores")
        lines.append(
            "processor    the tool \(Number.text(validity.ownProcessor)) % of one of \(cores)\(busy); sends at \(validity.priority) priority"
        )
        if report.agents == nil { lines.append("machine      \(report.machine.text)") }
        lines += (report.agents ?? []).map { "agent        \($0.text)" }
        let dropped =
            validity.droppedReceiving.map { "\($0) dropped on receipt, \(validity.droppedSending ?? 0) on sending" }
            ?? "the kernel does not tell"
        lines.append(
            "datagrams    \(dropped); at most \(validity.portsAtMost) of \(validity.ports) media ports; \(validity.limiterHits) × 503")
        return lines + validity.notes.map { "note         \($0)" }
    }

    private static func rate(_ rate: Validity.Rate) -> String? {
        guard let asked = rate.asked else { return nil }
        return "asked \(Number.text(asked))/s" + (rate.begun.map { ", begun \(Number.text($0))/s" } ?? "")
            + (rate.isKept ? "" : ", not kept")
    }

    private static func late(_ what: String, _ late: Validity.Late?) -> String {
        guard let late else { return "\(what) not measured" }
        let percentiles = [("p50", late.p50), ("p95", late.p99 == nil ? late.p95 : nil), ("p99", late.p99)]
        let known = percentiles.compactMap { name, value in value.map { "\(name) \(Number.text($0))" } }
        return "\(what) \((known + ["max \(Number.text(late.max)) ms"]).joined(separator: " "))"
    }

    private static func calls(_ report: LoadReport) -> [String] {
        let counts = report.counts, ratios = report.ratios, totals = report.totals
        let statuses = counts.byStatus.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        let kinds = counts.byKind.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return ["target       \(report.run.target)"] + accounts(report) + [
            "calls        \(counts.begun) in \(Number.text(report.run.elapsed)) s, at most \(counts.concurrent) at a time: \(counts.good) good, \(counts.faulty) faulty, \(counts.failed) failed"
                + (counts.notTried > 0 ? ", \(counts.notTried) not tried" : "")
                + (counts.cutOff > 0 ? ", \(counts.cutOff) cut off by the stop" : "")
                + (counts.skipped > 0 ? ", \(counts.skipped) not begun" : "")
                + (report.run.wasStopped ? "; stopped early" : ""),
            "kinds        \(kinds); \(counts.listenedTo) listened to",
            "in all       \(Number.text(totals.talkTime)) s of conversation; \(totals.packetsSent) packets sent, \(totals.packetsReceived) received",
            "encryption   \(encryption(report))",
            "statuses     \(statuses.isEmpty ? "none" : statuses)",
            "RFC 6076     SER \(percent(ratios.ser)), SEER \(percent(ratios.seer)), ISA \(percent(ratios.isa)), SCR \(percent(ratios.scr))"
                + (counts.retransmissions > 0 ? "; \(counts.retransmissions.counted("retransmission", "retransmissions"))" : ""),
        ]
    }

    static func accounts(_ report: LoadReport) -> [String] {
        guard let accounts = report.accounts else { return [] }
        let line = "accounts     \(accounts.registered) registered in \(Number.text(accounts.seconds)) s"
        return [line] + (accounts.connections.map { ["connections  \($0.text)"] } ?? [])
    }

    private static func sample(_ report: LoadReport) -> [String] { sampleNote(report).map { ["note         \($0)"] } ?? [] }

    /// Writes the note that some figures are of the first calls alone, where there were more calls than are kept.
    static func sampleNote(_ report: LoadReport) -> String? {
        guard report.callsLeftOut > 0 else { return nil }
        let first = report.calls.count == 1 ? "the first call alone makes" : "the first \(report.calls.count) calls alone make"
        return "\(first) the plots, the series and what is found late; \(report.callsLeftOut) more are in the sums"
    }

    static func encryption(_ report: LoadReport) -> String {
        let encryption = report.encryption, ends = encryption.sdes + encryption.dtls + encryption.clear
        let ways = [(encryption.sdes, "SRTP by SDES"), (encryption.dtls, "SRTP by DTLS"), (encryption.clear, "in the clear")].filter {
            $0.0 > 0
        }
        let parts = ways.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let media = ends == 0 ? "no media" : "\(percent(encryption.share)) of \(ends.counted("end", "ends")): \(parts)"
        return "signalling \(report.run.transport.uppercased()); \(media)"
    }

    static func percent(_ value: Double?) -> String { value.map { "\(Number.text($0)) %" } ?? "–" }

    private static func found(_ report: LoadReport) -> [String] {
        guard !report.findings.isEmpty else { return [] }
        return [""]
            + report.findings.map { found in
                let numbers = found.numbers.prefix(8).map { "\($0)" }.joined(separator: ", ") + (found.calls > 8 ? ", …" : "")
                let pattern = found.pattern.map { ", \($0)" } ?? "", calls = found.calls.counted("call", "calls")
                return "found        \(found.kind.rawValue): \(calls) (\(numbers)\(pattern)): \(found.text)\(consequences(of: found))"
            }
    }

    /// `; with it: end not passed on`.
    static func consequences(of found: LoadReport.Found) -> String {
        found.consequences.map { "; with it: \($0.keys.sorted().joined(separator: ", "))" } ?? ""
    }

    private static func levels(_ report: LoadReport) -> [String] {
        guard !report.slo.isEmpty else { return [] }
        let step = report.knee.flatMap(\.lastKept).map { " at \(Number.text($0))/s" } ?? ""
        return [""]
            + report.slo.map { verdict in
                let state = verdict.state.rawValue.padding(to: 8)
                return "SLO \(state) \(verdict.term)\(step), \(verdict.outcome)"
            }
    }

    private static func steps(_ report: LoadReport) -> [String] {
        let lines = report.steps.map { step in
            let parts = [
                step.calls.counted("call", "calls"), step.notBegun > 0 ? "\(step.notBegun) not begun" : nil,
                step.failedPercent.map { "\(Number.text($0)) % failed" }, step.setupP95.map { "set-up p95 \(Number.text($0)) ms" },
                step.state?.rawValue, step.attempts > 1 ? "run \(step.attempts) times" : nil,
            ]
            return "step         \(Number.text(step.rate))/s: " + parts.compactMap(\.self).joined(separator: ", ")
        }
        guard let knee = report.knee else { return lines.isEmpty ? [] : [""] + lines }
        return [""] + lines + ["knee         \(text(knee))"]
    }

    static func text(_ knee: LoadReport.Knee) -> String {
        let last = knee.lastKept.map { "\(Number.text($0)) calls a second passed" } ?? "no step passed"
        let terms = knee.broken.joined(separator: ", ")
        if let rate = knee.firstBroken {
            let doubt = " (in doubt: the tool was late itself then\(knee.attempts > 1 ? ", in each of \(knee.attempts) attempts" : ""))"
            return "\(last); at \(Number.text(rate)) failed \(terms)\(knee.isToolsOwn ? doubt : "")"
        }
        if let rate = knee.firstNotOffered {
            return "\(last); at \(Number.text(rate)) the tool began fewer: let it have more calls at a time (--concurrent) or ports"
        }
        if let rate = knee.firstNotMeasured { return "\(last); at \(Number.text(rate)) too little was measured: \(terms)" }
        return last + "; nothing failed"
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
}

extension LoadReport.Agent {
    /// `10.0.0.7:9467: 500 calls in 60 s, valid; 4 cores, 8 GB`.
    public var text: String {
        let late = validity?.packetLateness?.text("packet", from: 0).map { ", \($0)" } ?? ""
        let state =
            lostAfter.map { "lost after \(Number.text($0)) s" } ?? failure
            ?? (validity.map { $0.isValid ? "valid" : "not valid" } ?? "not known")
        return "\(name): \(begun.counted("call", "calls")) in \(Number.text(elapsed)) s, \(state)\(late)"
            + (machine.map { "; \($0.text)" } ?? "")
    }
}

extension LoadReport.Connections {
    /// Those that ended before the run did.
    public var lost: Int { ends.total }

    /// `40 WebSockets opened, one for each account; lost: 2 refused, 1 closed by the server`.
    public var text: String {
        let causes = [
            (ends.refused, "refused"), (ends.closedByPeer, "closed by the server"), (ends.unanswered, "without pong"),
            (ends.broken, "broken"),
        ]
        let lost = causes.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return "\(opened.counted("WebSocket", "WebSockets")) opened, one for each account; lost: \(lost.isEmpty ? "none" : lost)"
    }
}
