/// An earlier run beside a later one, by its figures.
public struct LoadBaseline: Codable, Hashable, Sendable {
    /// One figure of both.
    public struct Change: Codable, Hashable, Sendable {
        /// As a term of a service level: `setup_p95`.
        public var name: String
        public var unit: String
        public var before: Double, now: Double
        /// Now by before; nil where that was nothing.
        public var ratio: Double?

        var text: String {
            let values = "\(Number.text(before)) → \(Number.text(now))\(unit.isEmpty ? "" : " \(unit)")"
            return name.padding(to: 24) + " " + values + (ratio.map { " (\(Number.text($0)) ×)" } ?? "")
        }

        /// Whether the metric is of both directions together.
        var isShort: Bool { !name.contains("_out_") && !name.contains("_in_") && !name.hasPrefix("r_") }
    }

    public var began: String, version: String, command: String
    public var changes: [Change]

    /// For people.
    var title: String { "\(began), hookswitch \(version): \(command)" }

    /// - Parameters:
    ///   - earlier: what `--json` has written.
    ///   - report: the later run.
    public init(_ earlier: EarlierReport, beside report: LoadReport) {
        (began, version, command) = (earlier.run.began, earlier.run.version, earlier.run.command)
        changes = LoadMetric.allCases.flatMap { metric -> [Change] in
            guard let before = earlier.metrics[metric.rawValue] ?? nil, let now = report.metrics[metric.rawValue] ?? nil else { return [] }
            return Self.statistics(of: metric).compactMap { name, value in
                Self.change("\(metric.rawValue)_\(name)", metric.unit, value(before), value(now))
            }
        }
        let shares = [("failed", earlier.ratios.failed, report.ratios.failed), ("ser", earlier.ratios.ser, report.ratios.ser)]
        changes += shares.compactMap { Self.change($0, "%", $1, $2) }
    }

    private typealias Statistic = (String, (Distribution.Summary) -> Double?)

    /// The middle, and the worse end.
    private static func statistics(of metric: LoadMetric) -> [Statistic] {
        switch metric {
        case .mos, .mosOut, .mosIn, .rating, .ratingOut, .ratingIn: [("p50", \.p50), ("p5", \.p5)]
        case .loss, .lossOut, .lossIn: [("mean", \.mean), ("p95", \.p95)]
        default: [("p50", \.p50), ("p95", \.p95)]
        }
    }

    private static func change(_ name: String, _ unit: String, _ before: Double?, _ now: Double?) -> Change? {
        guard let before, let now else { return nil }
        return Change(name: name, unit: unit, before: before, now: now, ratio: before > 0 ? now / before : nil)
    }
}

/// The part of an earlier report that is compared. Reports of earlier versions have it, too.
public struct EarlierReport: Decodable, Sendable {
    struct Run: Decodable, Sendable {
        var began: String, version: String, command: String
    }

    var run: Run
    var ratios: LoadReport.Ratios
    var metrics: [String: Distribution.Summary?]
}
