// The figures, in columns.
extension LoadText {
    static func table(_ report: LoadReport) -> [String] {
        var rows = [["", "count", "p5", "p50", "p95", "p99", "max", ""]]
        for metric in LoadMetric.allCases where metric != .ratingOut && metric != .ratingIn {
            if let summary = report.metrics[metric.rawValue] ?? nil {
                let percentiles = [summary.p5, summary.p50, summary.p95, summary.p99].map { $0.map(Number.text) ?? "–" }
                rows.append([metric.title, "\(summary.count)"] + percentiles + [Number.text(summary.max), metric.unit])
            } else if [.mos, .delay, .loss].contains(metric) {
                rows.append([metric.title, "0", "–", "–", "–", "–", "–", "not measured"])
            }
        }
        return aligned(rows) + (tooFew(report).map { ["note         \($0)"] } ?? [])
    }

    /// Why columns are empty.
    static func tooFew(_ report: LoadReport) -> String? {
        let hasGaps = report.metrics.values.contains { $0.map { $0.p99 == nil } ?? false }
        return hasGaps ? "–: too few values; p5 and p95 need 20, p99 needs 100" : nil
    }

    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column == 0 || column == 7 ? text.padding(to: widths[column]) : text.padding(to: max(6, widths[column]), atEnd: false)
            }
            .joined(separator: "  ").trimmingEnd()
        }
    }

    /// The earlier run beside this one.
    static func compared(_ report: LoadReport) -> [String] {
        guard let baseline = report.baseline else { return [] }
        return ["", "baseline     \(baseline.title)"] + baseline.changes.filter(\.isShort).map { "             \($0.text)" }
    }
}

extension String {
    func padding(to width: Int, atEnd: Bool = true) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return atEnd ? self + space : space + self
    }

    fileprivate func trimmingEnd() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
