import CallJournal

/// The report as one HTML page that needs nothing else: the verdict, the figures, plots over time and cumulative ones, and the bad calls.
public enum LoadPage {
    public static func text(_ report: LoadReport) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <title>hookswitch load: \(Markup.escaped(report.run.target))</title>
        <style>\(style)</style></head><body>
        \(content(report))
        </body></html>

        """
    }

    /// The report without the page around it.
    public static func content(_ report: LoadReport) -> String {
        """
        <h1>Load on \(Markup.escaped(report.run.target))</h1>
        <p class="quiet">\(Markup.escaped(report.run.began)) · hookswitch \(Markup.escaped(report.run.version)) · <code>\(Markup.escaped(report.run.command))</code><br>\(Markup.escaped(report.machine.text))</p>
        \(banner(report.verdict))
        \(validity(report.validity, report.agents ?? []))
        <h2>Calls</h2>
        \(tiles(report))
        \(findings(report))
        \(levels(report))
        \(steps(report))
        <h2>Figures</h2>
        \(table(report))
        \(baseline(report))
        <h2>Over time</h2>
        \(plots(report))
        <h2>Cumulative</h2>
        \(distributions(report.histograms, report.level))
        \(badCalls(report))
        \(leaks(report.leaks))
        """
    }

    static let style = """
        :root{color-scheme:light dark;--ink:#1b1f24;--quiet:#667;--line:#d5d9e0;--ground:#fff;--card:#f6f7f9;--good:#18794e;--bad:#c62a2f;--warn:#ad5700;--a:#2458c5;--b:#d9730d;--c:#7a3fb5}
        @media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#9aa3ad;--line:#3a4048;--ground:#15181c;--card:#1e2227;--good:#4cc38a;--bad:#ff6369;--warn:#ffb224;--a:#7aa2ff;--b:#ffa657;--c:#c9a0ff}}
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:1060px;margin:2em auto;padding:0 1em}
        h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:1.8em 0 .5em}.quiet{color:var(--quiet);font-size:.87em;overflow-wrap:anywhere}
        .banner{padding:.7em 1em;border-radius:8px;color:#fff;font-weight:600}.good{background:#18794e}.bad{background:#c62a2f}.warn{background:#ad5700}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.3em .6em;border-bottom:1px solid var(--line);text-align:right}
        td:first-child,th:first-child{text-align:left;white-space:pre}th{color:var(--quiet);font-weight:500;font-size:.87em}.words td:last-child,.words th:last-child{text-align:left;white-space:normal}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:.6em}.tile{background:var(--card);border-radius:8px;padding:.6em .8em}
        .tile b{display:block;font-size:1.4em}.tile span{color:var(--quiet);font-size:.87em}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(430px,1fr));gap:1em}figure{margin:0;background:var(--card);border-radius:8px;padding:.7em}
        figcaption{font-size:.87em;color:var(--quiet)}figcaption i{font-style:normal;font-weight:600;margin-left:.9em}figcaption i::before{content:"";display:inline-block;width:.9em;height:.2em;margin-right:.35em;vertical-align:middle;background:currentColor}svg{width:100%;height:auto;display:block}
        details summary{cursor:pointer;color:var(--quiet);font-size:.87em}svg.ladder{max-width:820px}svg .life{stroke:var(--line)}svg .arrow{stroke:var(--ink);fill:none}svg circle{fill:var(--bad)}svg.ladder text{fill:var(--ink)}svg text{fill:var(--quiet);font:11px system-ui,sans-serif}svg .limit{stroke:var(--bad);stroke-dasharray:4 3}svg text.limit{fill:var(--bad);stroke:none}li b{font-weight:600}.no{color:var(--bad);font-weight:600}.yes{color:var(--good)}.open{color:var(--warn);font-weight:600}
        @media(max-width:480px){.plots{grid-template-columns:1fr}}
        """

    private static func banner(_ verdict: LoadVerdict) -> String {
        let style =
            switch verdict.word {
            case .good: "good"
            case .failed: "bad"
            case .notMeasured: "warn"
            }
        return "<p class=\"banner \(style)\">verdict: \(Markup.escaped(verdict.text))</p>"
    }

    private static func validity(_ validity: Validity, _ agents: [LoadReport.Agent]) -> String {
        func late(_ late: Validity.Late?) -> String {
            guard let late else { return "not measured" }
            let known = late.p99.map { "p99 \(Number.text($0)) ms, " } ?? late.p95.map { "p95 \(Number.text($0)) ms, " } ?? ""
            return "\(known)at most \(Number.text(late.max)) ms"
        }
        var items =
            validity.reasons.map { "<li class=\"no\">\(Markup.escaped($0))</li>" } + validity.notes.map { "<li>\(Markup.escaped($0))</li>" }
        items += agents.map { "<li>Agent \(Markup.escaped($0.text)).</li>" }
        items.append("<li>Packets of the tool were late by \(late(validity.packetLateness)); calls by \(late(validity.callLateness)).</li>")
        if let punctuality = validity.punctuality {
            items.append("<li>On schedule to the millisecond \(Markup.escaped(punctuality.text)).</li>")
        }
        items.append(
            "<li>The tool used \(Number.text(validity.ownProcessor)) % of one of \(validity.cores.counted("core", "cores")); at most \(validity.portsAtMost) of \(validity.ports) media ports; its packets left at \(validity.priority) priority.</li>"
        )
        let answer = validity.isValid ? "<span class=\"yes\">Yes</span>" : "<span class=\"no\">No</span>"
        return "<h2>Is the run valid? \(answer)</h2><ul>\(items.joined())</ul>"
    }

    private static func tiles(_ report: LoadReport) -> String {
        let counts = report.counts, ratios = report.ratios, totals = report.totals
        let tiles =
            [
                ("begun", "\(counts.begun)"), ("answered", "\(counts.answered)"), ("good", "\(counts.good)"),
                ("faulty", "\(counts.faulty)"), ("failed", "\(counts.failed)"), ("not begun", "\(counts.skipped)"),
                ("at a time, at most", "\(counts.concurrent)"), ("listened to", "\(counts.listenedTo)"),
                ("s of conversation", Number.text(totals.talkTime)), ("packets sent", "\(totals.packetsSent)"),
                ("packets received", "\(totals.packetsReceived)"), ("SER", LoadText.percent(ratios.ser)),
                ("SEER", LoadText.percent(ratios.seer)), ("ISA", LoadText.percent(ratios.isa)), ("SCR", LoadText.percent(ratios.scr)),
            ] + (counts.cutOff > 0 ? [("cut off by the stop", "\(counts.cutOff)")] : [])
        let statuses = counts.byStatus.sorted { $0.key < $1.key }.map { "\($0.value) × \(Markup.escaped($0.key))" }.joined(separator: ", ")
        return Self.tiles(tiles)
            + "<p class=\"quiet\">Final statuses: \(statuses)<br>\(Markup.escaped(LoadText.encryption(report)))\(accounts(report))</p>"
    }

    private static func accounts(_ report: LoadReport) -> String {
        LoadText.accounts(report).map {
            "<br>" + Markup.escaped($0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " "))
        }
        .joined()
    }

    /// Names with their figures.
    static func tiles(_ figures: [(String, String)]) -> String {
        "<div class=\"tiles\">" + figures.map { "<div class=\"tile\"><b>\($0.1)</b><span>\($0.0)</span></div>" }.joined() + "</div>"
    }

    private static func findings(_ report: LoadReport) -> String {
        guard !report.findings.isEmpty else { return "" }
        let items = report.findings.map { found in
            let numbers = found.numbers.map { "\($0)" }.joined(separator: ", ") + (found.calls > found.numbers.count ? ", …" : "")
            let calls = found.calls.counted("call", "calls") + (found.pattern.map { ", \($0)" } ?? "")
            let text = Markup.escaped(found.text + LoadText.consequences(of: found))
            return "<li><b>\(found.kind.rawValue)</b>: \(calls): \(text) <span class=\"quiet\">(\(numbers))</span></li>"
        }
        return "<h2>Found</h2><ul>\(items.joined())</ul>"
    }

    private static func leaks(_ leaks: LeakReport?) -> String {
        guard let leaks else { return "" }
        let processes: [(String, MemoryFigures?)] = [("The tool", leaks.memory), ("the gateway", leaks.targetMemory)]
        let memory = processes.compactMap { name, figures in figures.flatMap { LoadText.memory(name, $0) } }
        let left = leaks.isClean ? "Nothing." : "<span class=\"no\">\(Markup.escaped(leaks.leftovers.joined(separator: ", ")))</span>"
        return
            "<h2>Left behind</h2><p class=\"quiet\">\(Markup.escaped(memory.joined(separator: "; ")))</p>\(leaks.notJudged.map { "<p>Not judged: \(Markup.escaped($0))</p>" } ?? "")<p>\(left)</p>"
    }
}
