import CallJournal
import Primitives

// The page of a run that goes on: it asks for its content once a second, and for the report when the run is over.
extension LoadPage {
    /// The page, without a figure yet. It needs its script at `/live.js`, and its content at `/now`.
    public static func live(target: String, command: String) -> String {
        let title = Markup.escaped("Load on \(target)")
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title><style>\(style)</style></head><body>
            <h1>\(title)</h1>
            <p class="quiet"><code>\(Markup.escaped(command))</code></p>
            <main><p>No call was begun yet.</p></main>
            <p class="no" role="status" id="away" hidden>The run answers no more: its command has ended.</p>
            <script type="module" src="/live.js"></script></body></html>

            """
    }

    public static let liveScript = """
        const main = document.querySelector("main"), away = document.querySelector("#away");
        async function draw() {
          try {
            const answer = await fetch("/now", { cache: "no-store" });
            main.innerHTML = await answer.text();
            away.hidden = true;
            if (answer.headers.get("Run-State") === "over") return;
          } catch {
            away.hidden = false;
          }
          setTimeout(draw, 1000);
        }
        draw();

        """

    /// The content while the run goes on.
    ///
    /// - Parameter charts: of the calls that are over, as `LiveLoad.charts` draws them.
    public static func now(_ snapshot: LoadSnapshot, _ curve: LoadCurve, charts: LoadCharts) -> String {
        let progress = snapshot.progress, elapsed = snapshot.elapsed.map { Double($0.wholeMilliseconds) / 1_000 }
        let tiles = [
            ("phase", progress.phase.rawValue), ("seconds", elapsed.map { Number.short($0, digits: 1) } ?? "–"),
            ("up now", "\(progress.active)"),
            ("begun", "\(progress.begun)"), ("a second, by the plan", Number.text(progress.rate)),
            ("answered", "\(progress.answered)"),
            ("over", "\(progress.over)"), ("judged", "\(snapshot.judged)"), ("not good", "\(snapshot.bad)"),
            ("not begun", "\(progress.skipped + progress.withoutPort)"),
        ]
        let up = Plot(
            title: "Calls up, and begun a second", unit: "",
            lines: [
                .init(name: "up, the most at a time", color: "a", values: curve.up),
                .init(name: "begun/s", color: "b", values: curve.begun),
            ])
        let plots = up.figure(length: curve.length) + charts.overTime
        return "<h2>Now</h2>\(Self.tiles(tiles))<h2>Over time</h2><div class=\"plots\">\(plots)</div>"
            + "<h2>Cumulative</h2>\(charts.cumulative)"
    }
}

/// The charts of the calls of a run that are over, as HTML.
public struct LoadCharts: Sendable {
    /// By the time at which they began.
    var overTime = ""
    var cumulative = ""

    /// None yet.
    public init() {}
}

extension LoadCharts {
    /// Charts of calls that are over so far. Takes time in proportion to them: to be made on no lane.
    ///
    /// - Parameters:
    ///   - figures: of all of them.
    ///   - calls: those that are known one by one.
    ///   - level: whose terms are drawn.
    public init(_ figures: LoadFigures, calls: [CallFigures], _ level: ServiceLevel?) {
        overTime = LoadPage.qualityPlots(LoadSeries.points(of: calls), level)
        cumulative = LoadPage.distributions(figures.tally.histograms, level)
    }
}

extension LiveLoad {
    /// The report's charts of the calls that are over so far. Takes time in proportion to them: to be called from no lane.
    public func charts(_ level: ServiceLevel?) -> LoadCharts {
        let (calls, figures) = ledger.read { ($0.calls, LoadFigures($0)) }
        return LoadCharts(figures, calls: calls, level)
    }
}
