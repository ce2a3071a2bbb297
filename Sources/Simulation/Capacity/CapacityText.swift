/// The tables of a study, in Markdown, for a person and for a page.
public struct CapacityText {
    private let study: CapacityStudy
    private var plan: ClusterPlan { study.options.plan }

    public init(_ study: CapacityStudy) { self.study = study }

    /// All of them.
    public var text: String {
        let next = study.outcomesOfNextStep, step = ", with the next step"
        return
            ([heading, needs, loads("", study.outcomes), storms("", study.outcomes)]
            + (next.isEmpty ? [] : [loads(step, next), storms(step, next)]) + (study.variants.isEmpty ? [] : [breaks]))
            .joined(separator: "\n\n")
    }

    private var heading: String {
        let refresh = plan.expires * plan.refreshShare
        return """
            \(Self.grouped(plan.nodes)) gateways, \(Self.grouped(plan.devices)) devices that register every \(Self.rounded(refresh)) s, \
            \(Self.grouped(plan.calls)) calls of \(Self.rounded(plan.talkTime)) s: \(Self.rounded(plan.callRate)) calls and \
            \(Self.rounded(plan.registerRate)) registrations a second; seed \(plan.seed).

            Nobody has run such a cluster: every figure below is extrapolated from the costs of one gateway and one database. "Assumed" is
            the part of a figure that rests on costs which nobody has measured; the rest was measured (--costs). A load is the work that
            comes: above 100 % it waits. "Most gateways": each with as many devices and calls as now.
            """
    }

    // MARK: Tables

    private var needs: String {
        Self.table(
            "Needed in the mean (closed form)",
            [
                "resource", "load", "assumed", "breaks at devices / calls", "assumed costs high ... low",
                "most gateways",
            ],
            study.needs.map { need in
                [
                    need.resource.title, Self.percent(need.load.seconds), Self.percent(need.load.assumedShare), size(need.limit),
                    need.load.assumed > 0 ? "\(size(need.least)) ... \(size(need.most))" : "the same",
                    need.limitOfNodes.map { $0 == 0 ? "any" : Self.grouped(Int($0 * Double(plan.nodes))) } ?? "none",
                ]
            })
            + "\n\nOne signalling lane that does nothing else sets up \(Self.rounded(study.callsOfOneLane)) calls a second at all of a core,"
            + " and \(Self.rounded(0.7 * study.callsOfOneLane)) at 70 % of it."
    }

    private func loads(_ step: String, _ outcomes: [(name: String, outcome: Outcome)]) -> String {
        let resources: [Resource] = [.signalling, .storeLane, .media, .database, .commits, .proxy]
        return Self.table(
            "Simulated\(step): load in the mean / worst second",
            [
                "failure", "signalling", "store lane", "media", "database", "commits that tell", "proxies", "set-up p50 / p99 before",
                "after",
            ],
            outcomes.map { name, outcome in
                [name]
                    + resources.map { outcome.loads[$0].map { "\(Self.percent($0.mean)) / \(Self.percent($0.peak))" } ?? "" }
                    + [Self.delays(outcome.setUps), Self.delays(outcome.setUpsAfter)]
            })
            + "\n\nAssumed: "
            + (outcomes.first.map { first in
                resources.map { "\($0.rawValue) \(Self.percent(first.outcome.loads[$0]?.assumedShare ?? 0))" }.joined(separator: ", ")
            } ?? "") + "."
    }

    private func storms(_ step: String, _ outcomes: [(name: String, outcome: Outcome)]) -> String {
        Self.table(
            "Simulated\(step): failures",
            [
                "failure", "over after", "calls ended", "BYEs, the last after", "calls refused, or too late",
                "registrations (refused first)",
                "most rows that waited", "rows lost", "longest behind", "everything read (in time)", "taken for dead",
            ],
            outcomes.map { name, outcome in
                let storm = outcome.storm
                return [
                    name, storm.length.map { "\(Self.rounded($0)) s" } ?? "not in \(Self.rounded(outcome.plan.span)) s",
                    Self.grouped(outcome.calls.ended),
                    storm.endsTold > 0 ? "\(Self.grouped(storm.endsTold)), \(lastEnd(outcome))" : "none",
                    Self.grouped(outcome.calls.refused), "\(Self.grouped(storm.registered)) (\(Self.grouped(storm.refusedRegisters)))",
                    Self.grouped(outcome.rows.mostWaiting), Self.grouped(outcome.rows.lost),
                    "\(Self.rounded(outcome.rows.longestBehind)) s",
                    "\(storm.fullReadings) (\(storm.fullReadingsDone))", Self.grouped(storm.takenForDead),
                ]
            })
    }

    private var breaks: String {
        Self.table(
            "Where it breaks first without a failure (simulated)",
            ["changes", "devices / calls", "the fullest resource", "with assumed costs high ... low"],
            study.variants.map { variant in
                [
                    variant.name, Self.size(variant.found), variant.found.map { $0.resource.title } ?? "none",
                    "\(Self.size(variant.least)) ... \(Self.size(variant.most))",
                ]
            })
    }

    // MARK: Words

    private func lastEnd(_ outcome: Outcome) -> String {
        let left = outcome.plan.span - outcome.plan.failureAt
        return outcome.storm.lastEndTold <= left ? "\(Self.rounded(outcome.storm.lastEndTold)) s" : "not in \(Self.rounded(left)) s"
    }

    private func size(_ factor: Double?) -> String {
        guard let factor else { return "none" }
        return factor == 0 ? "any" : Self.size(BreakSearch.Found(plan: plan.scaled(by: factor), resource: .users))
    }

    private static func size(_ found: BreakSearch.Found?) -> String {
        found.map { "\(grouped(Int(significant(Double($0.plan.devices))))) / \(grouped(Int(significant(Double($0.plan.calls)))))" }
            ?? "none"
    }

    /// To two digits: a search is no more exact.
    private static func significant(_ value: Double) -> Double {
        var unit = 1.0
        while value / unit >= 100 { unit *= 10 }
        return (value / unit).rounded() * unit
    }

    private static func delays(_ delays: DelayDistribution) -> String {
        guard delays.count > 0 else { return "none" }
        return "\(rounded(delays.quantile(0.5) * 1_000)) / \(rounded(delays.quantile(0.99) * 1_000)) ms"
    }

    static func percent(_ value: Double) -> String { value < 10 ? "\(rounded(value * 100)) %" : "\(rounded(value)) times" }

    /// Whole numbers from 10 on, one decimal place below.
    static func rounded(_ value: Double) -> String {
        guard value < 10 else { return grouped(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }

    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return String(
            digits.enumerated().flatMap { place, digit in
                place > 0 && (digits.count - place) % 3 == 0 && digits[place - 1] != "-" ? [",", digit] : [digit]
            })
    }

    private static func table(_ title: String, _ heads: [String], _ rows: [[String]]) -> String {
        let lines = [heads, heads.map { _ in "---" }] + rows
        return "## \(title)\n\n" + lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
}

extension CostTable {
    /// The costs with their sources, in Markdown.
    public var text: String {
        let rows = costs.map { cost in
            let basis =
                switch cost.basis {
                case .measured(let source): "measured | \(source)"
                case .assumed(let reason, let range):
                    "**assumed** | \(reason); \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
                }
            return "| `\(cost.kind)` | \(cost.name) | \(Self.plain(cost.value)) \(cost.unit) | \(basis) |"
        }
        return (["| cost | of | figure | basis | source |", "|---|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    private static func plain(_ value: Double) -> String { value == value.rounded() ? CapacityText.grouped(Int(value)) : "\(value)" }
}
