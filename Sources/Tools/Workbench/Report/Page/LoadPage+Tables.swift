import CallJournal

// Tables of the page.
extension LoadPage {
    /// So many of the bad calls are listed.
    private static let mostBadCalls = LoadLedger.mostCallsWithTrace

    static func mark(_ state: ServiceLevel.Verdict.State) -> String {
        switch state {
        case .passed: "<span class=\"yes\">passed</span>"
        case .failed: "<span class=\"no\">failed</span>"
        case .notMeasured: "<span class=\"open\">not measured</span>"
        }
    }

    static func levels(_ report: LoadReport) -> String {
        guard !report.slo.isEmpty else { return "" }
        let rows = report.slo.map { verdict in
            "<tr><td>\(Markup.escaped(verdict.term))</td><td>\(Markup.escaped(verdict.outcome))</td><td>\(mark(verdict.state))</td></tr>"
        }
        let place = report.knee.flatMap(\.lastKept).map { ", at \(Number.text($0)) calls a second" } ?? ""
        return "<h2>Service level\(place)</h2><table><tr><th>term</th><th>value</th><th></th></tr>\(rows.joined())</table>"
    }

    static func steps(_ report: LoadReport) -> String {
        guard !report.steps.isEmpty else { return "" }
        let rows = report.steps.map { step in
            let state = step.state.map(mark) ?? "–", kept = step.notBegun > 0 ? ", \(step.notBegun) not begun" : ""
            let again = step.attempts > 1 ? ", run \(step.attempts) times" : ""
            let cells = [
                "\(Number.text(step.rate))/s", "\(step.calls)", LoadText.percent(step.failedPercent), milliseconds(step.setupP95),
                milliseconds(step.packetLatenessP99), state + kept + again,
            ]
            return row(cells)
        }
        let knee = report.knee.map { "<p><b>Knee:</b> \(Markup.escaped(LoadText.text($0))).</p>" }
        return
            "<h2>Steps</h2>\(knee ?? "")<table><tr><th>rate</th><th>calls</th><th>failed</th><th>set-up p95</th><th>own lateness p99</th><th></th></tr>\(rows.joined())</table>"
    }

    static func table(_ report: LoadReport) -> String {
        let rows = LoadMetric.allCases.compactMap { metric -> String? in
            guard let sum = report.metrics[metric.rawValue] ?? nil else {
                return metric.isOfDirection ? nil : "<tr><td>\(metric.title)</td><td>0</td><td colspan=\"6\">not measured</td></tr>"
            }
            let values = [sum.p5, sum.p50, sum.p95, sum.p99, sum.max].map { $0.map(Number.text) ?? "–" }
            return row([metric.title, "\(sum.count)"] + values + [metric.unit])
        }
        let note = LoadText.tooFew(report).map { "<p class=\"quiet\">\(Markup.escaped($0))</p>" } ?? ""
        return
            "<table><tr><th></th><th>count</th><th>p5</th><th>p50</th><th>p95</th><th>p99</th><th>max</th><th></th></tr>\(rows.joined())</table>\(note)"
    }

    static func baseline(_ report: LoadReport) -> String {
        guard let baseline = report.baseline else { return "" }
        let rows = baseline.changes.map { change in
            row([
                Markup.escaped(change.name), Number.text(change.before), Number.text(change.now), change.unit,
                change.ratio.map { "\(Number.text($0)) ×" } ?? "–",
            ])
        }
        return
            "<h2>Beside an earlier run</h2><p class=\"quiet\">\(Markup.escaped(baseline.title))</p><table><tr><th></th><th>before</th><th>now</th><th></th><th>ratio</th></tr>\(rows.joined())</table>"
    }

    static func badCalls(_ report: LoadReport) -> String {
        let bad = report.calls.filter(\.isBad)
        guard !bad.isEmpty else { return "" }
        let rows = bad.prefix(mostBadCalls).map { call in
            let found = call.findings.map { "\($0.kind.rawValue): \($0.text)" }.joined(separator: "; ")
            let cells = [
                "\(call.number)", Number.text(call.began, digits: 1), call.status == 0 ? "–" : "\(call.status)", call.callID, found,
            ]
            return row(cells.map(Markup.escaped)) + ladderRow(call.trace, columns: cells.count)
        }
        let more = bad.count > mostBadCalls ? "<p class=\"quiet\">\(bad.count - mostBadCalls) more are in the JSON and the CSV.</p>" : ""
        return
            "<h2>Calls that are not good</h2><table class=\"words\"><tr><th>call</th><th>begun at, s</th><th>status</th><th>Call-ID</th><th>found</th></tr>\(rows.joined())</table>\(more)"
    }

    private static func milliseconds(_ value: Double?) -> String { value.map { Number.text($0) + " ms" } ?? "–" }
    private static func row(_ cells: [String]) -> String { "<tr>\(cells.map { "<td>\($0)</td>" }.joined())</tr>" }
}
