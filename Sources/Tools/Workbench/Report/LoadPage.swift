/// The report as one HTML page that needs nothing else: the verdict, the figures, and plots over time.
public enum LoadPage {
    public static func text(_ report: LoadReport) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <title>hookswitch load: \(Markup.escaped(report.run.target))</title>
        <style>\(style)</style></head><body>
        <h1>Load on \(Markup.escaped(report.run.target))</h1>
        <p class="quiet">\(Markup.escaped(report.run.began)) · hookswitch \(Markup.escaped(report.run.version)) · <code>\(Markup.escaped(report.run.command))</code></p>
        \(banner(report))
        \(validity(report.validity))
        <h2>Calls</h2>
        \(tiles(report))
        \(findings(report))
        \(levels(report))
        \(steps(report))
        <h2>Figures</h2>
        \(table(report))
        <h2>Over time</h2>
        \(plots(report))
        \(leaks(report.leaks))
        </body></html>

        """
    }

    private static let style = """
        :root{color-scheme:light dark;--ink:#1b1f24;--quiet:#667;--line:#d5d9e0;--ground:#fff;--card:#f6f7f9;--good:#18794e;--bad:#c62a2f;--warn:#ad5700;--a:#2458c5;--b:#d9730d;--c:#7a3fb5}
        @media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#9aa3ad;--line:#3a4048;--ground:#15181c;--card:#1e2227;--good:#4cc38a;--bad:#ff6369;--warn:#ffb224;--a:#7aa2ff;--b:#ffa657;--c:#c9a0ff}}
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:1060px;margin:2em auto;padding:0 1em}
        h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:1.8em 0 .5em}.quiet{color:var(--quiet);font-size:.87em;overflow-wrap:anywhere}
        .banner{padding:.7em 1em;border-radius:8px;color:#fff;font-weight:600}.good{background:#18794e}.bad{background:#c62a2f}.warn{background:#ad5700}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.3em .6em;border-bottom:1px solid var(--line);text-align:right}
        td:first-child,th:first-child{text-align:left}th{color:var(--quiet);font-weight:500;font-size:.87em}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:.6em}.tile{background:var(--card);border-radius:8px;padding:.6em .8em}
        .tile b{display:block;font-size:1.4em}.tile span{color:var(--quiet);font-size:.87em}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(430px,1fr));gap:1em}figure{margin:0;background:var(--card);border-radius:8px;padding:.7em}
        figcaption{font-size:.87em;color:var(--quiet)}figcaption i{font-style:normal;font-weight:600;margin-left:.9em}figcaption i::before{content:"";display:inline-block;width:.9em;height:.2em;margin-right:.35em;vertical-align:middle;background:currentColor}svg{width:100%;height:auto;display:block}
        svg text{fill:var(--quiet);font:11px system-ui,sans-serif}li b{font-weight:600}.no{color:var(--bad);font-weight:600}.yes{color:var(--good)}
        @media(max-width:480px){.plots{grid-template-columns:1fr}}
        """

    private static func banner(_ report: LoadReport) -> String {
        switch report.exitCode {
        case 0: "<p class=\"banner good\">Good</p>"
        case 1: "<p class=\"banner bad\">Bad</p>"
        case _ where report.isNothingJudged: "<p class=\"banner warn\">Stopped before a call was over: nothing is said of the target</p>"
        default: "<p class=\"banner warn\">The run cannot be believed: nothing is said of the target</p>"
        }
    }

    private static func validity(_ validity: Validity) -> String {
        func late(_ late: Validity.Late?) -> String {
            late.map { "p99 \(Number.text($0.p99)) ms, at most \(Number.text($0.max)) ms" } ?? "not measured"
        }
        var items =
            validity.reasons.map { "<li class=\"no\">\(Markup.escaped($0))</li>" } + validity.notes.map { "<li>\(Markup.escaped($0))</li>" }
        items.append("<li>Packets of the tool were late by \(late(validity.packetLateness)); calls by \(late(validity.callLateness)).</li>")
        if let punctuality = validity.punctuality {
            items.append("<li>In time to the millisecond \(Markup.escaped(punctuality.text)).</li>")
        }
        items.append(
            "<li>The tool used \(Number.text(validity.ownProcessor)) % of one of \(validity.cores) cores; at most \(validity.portsAtMost) of \(validity.ports) media ports; its packets left at \(validity.priority) priority.</li>"
        )
        return
            "<h2>Can it be believed? \(validity.isBelievable ? "<span class=\"yes\">Yes</span>" : "<span class=\"no\">No</span>")</h2><ul>\(items.joined())</ul>"
    }

    private static func tiles(_ report: LoadReport) -> String {
        let counts = report.counts, ratios = report.ratios
        func percent(_ value: Double?) -> String { value.map { Number.text($0) + " %" } ?? "–" }
        let tiles =
            [
                ("begun", "\(counts.begun)"), ("answered", "\(counts.answered)"), ("good", "\(counts.good)"),
                ("faulty", "\(counts.faulty)"), ("failed", "\(counts.failed)"),
                ("at a time, at most", "\(counts.concurrent)"), ("listened to", "\(counts.listenedTo)"), ("SER", percent(ratios.ser)),
                ("SEER", percent(ratios.seer)),
                ("ISA", percent(ratios.isa)), ("SCR", percent(ratios.scr)), ("not begun", "\(counts.skipped)"),
            ] + (counts.cutOff > 0 ? [("cut off by the stop", "\(counts.cutOff)")] : [])
        let statuses = counts.byStatus.sorted { $0.key < $1.key }.map { "\($0.value) × \(Markup.escaped($0.key))" }.joined(separator: ", ")
        return "<div class=\"tiles\">" + tiles.map { "<div class=\"tile\"><b>\($0.1)</b><span>\($0.0)</span></div>" }.joined()
            + "</div><p class=\"quiet\">Final statuses: \(statuses)<br>\(Markup.escaped(LoadText.encryption(report)))</p>"
    }

    private static func findings(_ report: LoadReport) -> String {
        guard !report.findings.isEmpty else { return "" }
        let items = report.findings.map { found in
            let numbers = found.numbers.map { "\($0)" }.joined(separator: ", ") + (found.calls > found.numbers.count ? ", …" : "")
            return
                "<li><b>\(found.kind.rawValue)</b>: \(found.calls) \(found.calls == 1 ? "call" : "calls")\(found.pattern.map { ", \($0)" } ?? ""): \(Markup.escaped(found.text)) <span class=\"quiet\">(\(numbers))</span></li>"
        }
        return "<h2>Found</h2><ul>\(items.joined())</ul>"
    }

    private static func levels(_ report: LoadReport) -> String {
        guard !report.slo.isEmpty else { return "" }
        let rows = report.slo.map { verdict in
            let mark =
                verdict.isKept
                ? "<span class=\"yes\">kept</span>"
                : "<span class=\"no\">broken\(verdict.isToolsFault ? ", perhaps by the tool" : "")</span>"
            return
                "<tr><td>\(Markup.escaped(verdict.term))</td><td>\(verdict.actual.map(Number.text) ?? "not measured")</td><td>\(mark)</td></tr>"
        }
        return "<h2>Service level</h2><table><tr><th>term</th><th>was</th><th></th></tr>\(rows.joined())</table>"
    }

    private static func steps(_ report: LoadReport) -> String {
        guard !report.steps.isEmpty else { return "" }
        let rows = report.steps.map { step in
            let held =
                step.isKept.map { $0 ? "<span class=\"yes\">held</span>" : "<span class=\"no\">broke</span>" }
                ?? (step.notBegun > 0 ? "\(step.notBegun) not begun" : "–")
            return
                "<tr><td>\(Number.text(step.rate))/s</td><td>\(step.calls)</td><td>\(step.failedPercent.map { Number.text($0) + " %" } ?? "–")</td><td>\(step.setupP95.map { Number.text($0) + " ms" } ?? "–")</td><td>\(step.packetLatenessP99.map { Number.text($0) + " ms" } ?? "–")</td><td>\(held)</td></tr>"
        }
        let knee = report.knee.map { "<p><b>Knee:</b> \(Markup.escaped(LoadText.text($0))).</p>" }
        return
            "<h2>Steps</h2>\(knee ?? "")<table><tr><th>rate</th><th>calls</th><th>failed</th><th>set-up p95</th><th>own lateness p99</th><th></th></tr>\(rows.joined())</table>"
    }

    private static func table(_ report: LoadReport) -> String {
        let rows = LoadMetric.allCases.map { metric in
            guard let sum = report.metrics[metric.rawValue] ?? nil else {
                return "<tr><td>\(metric.title)</td><td>0</td><td colspan=\"6\">not measured</td></tr>"
            }
            let values = [sum.p5, sum.p50, sum.p95, sum.p99, sum.max].map { "<td>\(Number.text($0))</td>" }.joined()
            return "<tr><td>\(metric.title)</td><td>\(sum.count)</td>\(values)<td>\(metric.unit)</td></tr>"
        }
        return
            "<table><tr><th></th><th>count</th><th>p5</th><th>p50</th><th>p95</th><th>p99</th><th>max</th><th></th></tr>\(rows.joined())</table>"
    }

    private static func leaks(_ leaks: LeakReport?) -> String {
        guard let leaks else { return "" }
        let processes: [(String, MemoryFigures?)] = [("The tool", leaks.memory), ("the gateway", leaks.targetMemory)]
        let memory = processes.compactMap { name, figures in figures.flatMap { LoadText.memory(name, $0) } }
        return
            "<h2>Left behind</h2><p class=\"quiet\">\(Markup.escaped(memory.joined(separator: "; ")))</p>\(leaks.notJudged.map { "<p>Not judged: \(Markup.escaped($0))</p>" } ?? "")<p>\(leaks.isClean ? "Nothing." : "<span class=\"no\">\(Markup.escaped(leaks.leftovers.joined(separator: ", ")))</span>")</p>"
    }

    private static func plots(_ report: LoadReport) -> String {
        let series = report.series
        func line(_ name: String, _ color: String, _ value: (LoadSeries.Point) -> Double?) -> Plot.Line {
            Plot.Line(name: name, color: color, values: series.map(value))
        }
        var plots = [
            Plot(
                title: "Calls up, and begun a second", unit: "",
                lines: [line("up, the most at a time", "a") { Double($0.active) }, line("begun/s", "b") { Double($0.begun) / $0.length }]),
            Plot(title: "Set-up time", unit: "ms", lines: [line("p50", "a", \.setupP50), line("p95", "b", \.setupP95)]),
            Plot(title: "Loss, mean", unit: "%", lines: [line("loss", "a", \.loss)]),
            Plot(title: "Jitter", unit: "ms", lines: [line("p95", "a", \.jitterP95)]),
            Plot(title: "MOS", unit: "", lines: [line("p5", "a", \.mosP5)]),
            Plot(title: "One-way delay", unit: "ms", lines: [line("p50", "a", \.delayP50), line("p95", "b", \.delayP95)]),
        ]
        let causes = Set(series.flatMap(\.failures.keys)).sorted()
        plots.append(
            Plot(
                title: "Failures by code", unit: "",
                lines: causes.prefix(6).enumerated().map { index, cause in
                    line(cause, ["a", "b", "c"][index % 3]) { Double($0.failures[cause] ?? 0) }
                }))
        return (LoadText.sampleNote(report).map { "<p>\(Markup.escaped($0))</p>" } ?? "") + "<div class=\"plots\">"
            + plots.map { $0.figure(length: series.first?.length ?? 1) }.joined() + "</div>"
    }
}
