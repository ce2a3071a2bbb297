import Histogram

/// The distribution of one metric: an HDR histogram, in thousandths of its unit, to three digits.
public struct Distribution: Sendable {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    /// Without values.
    public init() {}

    /// Number of values that were recorded.
    public var count: UInt64 { histogram.totalCount }

    /// Below zero counts as zero.
    public mutating func record(_ value: Double) { _ = histogram.record(UInt64(max(0, min(value * 1_000, 1e12)).rounded())) }

    /// Nil where too few values are known for it, as all here before the first.
    public func percentile(_ percent: Double) -> Double? {
        count >= Percentile.valuesNeeded(for: percent) ? Double(histogram.valueAtPercentile(percent)) / 1_000 : nil
    }
    /// Nil without values, as the next two.
    public var mean: Double? { count == 0 ? nil : histogram.mean / 1_000 }
    /// To three digits, as all values here.
    public var minimum: Double? { count == 0 ? nil : Double(histogram.min) / 1_000 }
    /// To three digits.
    public var maximum: Double? { count == 0 ? nil : Double(histogram.max) / 1_000 }

    /// Nil without values.
    public var summary: Summary? {
        guard count > 0 else { return nil }
        return Summary(
            count: count, min: minimum ?? 0, mean: ((mean ?? 0) * 1_000).rounded() / 1_000, p5: percentile(5), p50: percentile(50),
            p90: percentile(90), p95: percentile(95), p99: percentile(99), max: maximum ?? 0)
    }

    /// The steps of the histogram: up to which value, and how many.
    public var steps: [Step] { histogram.recordedValues().map { Step(upTo: Double($0.value) / 1_000, count: $0.count) } }

    /// Adds the values of another one, which so are known to three digits.
    mutating func add(_ other: Distribution) { for step in other.histogram.recordedValues() { add(step.count, of: step.value) } }

    private mutating func add(_ count: UInt64, of thousandths: UInt64) { _ = histogram.record(thousandths, count: count) }

    /// A step of the histogram.
    public struct Step: Codable, Hashable, Sendable {
        /// The greatest value in it, in the unit of the metric.
        public var upTo: Double
        /// Number of values in it.
        public var count: UInt64
    }

    /// The figures of a distribution, in the unit of the metric.
    public struct Summary: Codable, Hashable, Sendable {
        /// Number of values.
        public var count: UInt64
        public var min: Double, mean: Double
        /// Nil where too few values are known.
        @ExplicitNull public var p5: Double?
        @ExplicitNull public var p50: Double?
        @ExplicitNull public var p90: Double?
        @ExplicitNull public var p95: Double?
        @ExplicitNull public var p99: Double?
        public var max: Double
    }
}

extension Distribution: Codable {
    /// Pairs of a value in thousandths of the unit, and its count.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(histogram.recordedValues().map { [$0.value, $0.count] })
    }

    /// - Throws: for what is no pair of a value and a count.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init()
        for pair in try container.decode([[UInt64]].self) {
            guard pair.count == 2, pair[0] < 1 << 42, pair[1] < 1 << 40 else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no pair of a value and a count")
            }
            add(pair[1], of: pair[0])
        }
    }
}

enum Percentile {
    /// Gives the number of values that a percentile needs: one must lie beyond it. 20 for p5 and p95, 100 for p99, 1 for p0 and p100.
    static func valuesNeeded(for percent: Double) -> UInt64 {
        let beyond = min(percent, 100 - percent)
        return beyond > 0 ? UInt64((100 / beyond - 1e-9).rounded(.up)) : 1
    }

    /// `one in 100`: the part of the values that lies beyond.
    static func words(_ percent: Double) -> String { percent == 50 ? "one in two" : "one in \(Int((100 / (100 - percent)).rounded()))" }
}
