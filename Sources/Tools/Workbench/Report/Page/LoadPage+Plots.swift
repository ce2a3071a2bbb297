import CallJournal

// Plots of the page.
extension LoadPage {
    static func plots(_ report: LoadReport) -> String {
        let series = report.series
        let up = Plot(
            title: "Calls up, and begun a second", unit: "",
            lines: [
                .init(name: "up, the most at a time", color: "a", values: series.map { Double($0.active) }),
                .init(name: "begun/s", color: "b", values: series.map { Double($0.begun) / $0.length }),
            ])
        return (LoadText.sampleNote(report).map { "<p>\(Markup.escaped($0))</p>" } ?? "") + "<div class=\"plots\">"
            + up.figure(length: series.first?.length ?? 1) + qualityPlots(series, report.level) + "</div>"
    }

    /// Plots of what calls were like, by the time at which they began.
    static func qualityPlots(_ series: [LoadSeries.Point], _ level: ServiceLevel?) -> String {
        func line(_ name: String, _ color: String, _ value: (LoadSeries.Point) -> Double?) -> Plot.Line {
            Plot.Line(name: name, color: color, values: series.map(value))
        }
        func plot(_ title: String, _ unit: String, _ metrics: [LoadMetric], _ lines: [Plot.Line]) -> Plot {
            Plot(title: title, unit: unit, lines: lines, limits: limits(level, metrics))
        }
        let causes = Set(series.flatMap(\.failures.keys)).sorted()
        let plots = [
            plot(
                "Set-up time", "ms", [.setup], [line("p50", "a", \.setupP50), line("p95", "b", \.setupP95), line("max", "c", \.setupMax)]),
            plot("Loss, mean", "%", [.loss, .lossOut, .lossIn], [line("out", "a", \.lossOut), line("in", "b", \.lossIn)]),
            plot("Jitter, mean", "ms", [.jitter, .jitterOut, .jitterIn], [line("out", "a", \.jitterOut), line("in", "b", \.jitterIn)]),
            plot("MOS, lowest", "", [.mos, .mosOut, .mosIn], [line("out", "a", \.mosOut), line("in", "b", \.mosIn)]),
            plot("One-way delay, mean", "ms", [.delay, .delayOut, .delayIn], [line("out", "a", \.delayOut), line("in", "b", \.delayIn)]),
            plot(
                "Calls that are not good, by cause", "", [],
                causes.prefix(6).enumerated().map { index, cause in
                    line(cause, ["a", "b", "c"][index % 3]) { Double($0.failures[cause] ?? 0) }
                }),
        ]
        return plots.map { $0.figure(length: series.first?.length ?? 1) }.joined()
    }

    /// Plots the number of calls in a hundred that were as fast, or as good.
    static func distributions(_ histograms: [String: [Distribution.Step]], _ level: ServiceLevel?) -> String {
        func plot(_ title: String, _ unit: String, _ metrics: [(LoadMetric, String, String)]) -> CumulativePlot {
            let lines = metrics.map { metric, name, color in
                CumulativePlot.Line(name: name, color: color, steps: histograms[metric.rawValue] ?? [])
            }
            return CumulativePlot(title: title, unit: unit, lines: lines, limits: limits(level, metrics.map(\.0)))
        }
        let plots = [
            plot("Set-up and answer", "ms", [(.setup, "set-up", "a"), (.answer, "answer", "b")]),
            plot("One-way delay", "ms", [(.delayOut, "out", "a"), (.delayIn, "in", "b")]),
            plot("Jitter", "ms", [(.jitterOut, "out", "a"), (.jitterIn, "in", "b")]),
            plot("Loss", "%", [(.lossOut, "out", "a"), (.lossIn, "in", "b")]),
        ]
        return "<div class=\"plots\">\(plots.map(\.figure).joined())</div>"
    }

    /// The terms of a level that are of one of these.
    private static func limits(_ level: ServiceLevel?, _ metrics: [LoadMetric]) -> [Plot.Limit] {
        (level?.terms ?? []).compactMap { term in
            switch term.quantity {
            case .percentile(let metric, _), .mean(let metric), .minimum(let metric), .maximum(let metric):
                metrics.contains(metric) ? Plot.Limit(text: term.text, value: term.limit) : nil
            case .share: nil
            }
        }
    }
}
