/// The spread of a measure: counts in steps that grow with the value, four to each doubling, so that each is right to a fifth.
///
/// From 0 to about 260,000 of whatever unit its owner counts in; more counts as that much. All memory is its own: noting a value allocates
/// nothing. `Count` is as wide as a step may need: packets of days fit 32 bits, reports of four days 16. A step that is full stays so.
public struct Histogram<Count: FixedWidthInteger & UnsignedInteger & Sendable>: Hashable, Sendable {
    static var steps: Int { 68 }

    /// The number of values that were noted.
    public private(set) var count: UInt64 = 0
    /// The greatest of them, exact.
    public private(set) var greatest: UInt32 = 0
    /// The values of each step.
    public private(set) var counts = InlineArray<68, Count>(repeating: 0)

    /// No values.
    public init() {}

    /// Values that were noted elsewhere, in the same steps.
    public init(count: UInt64, greatest: UInt32, counts: InlineArray<68, Count>) {
        (self.count, self.greatest, self.counts) = (count, greatest, counts)
    }

    /// Counts a value. One whose step is full is not counted.
    public mutating func note(_ value: UInt32) {
        let step = Self.step(of: value)
        guard counts[step] < .max else { return }
        count += 1
        greatest = max(greatest, value)
        counts[step] += 1
    }

    /// The value that `percent` of all values do not exceed, to the upper edge of its step; nil before the first.
    public func percentile(_ percent: Double) -> UInt32? {
        guard count > 0 else { return nil }
        let wanted = max(1, UInt64((Double(count) * percent / 100).rounded(.up)))
        var seen: UInt64 = 0
        for step in 0..<Self.steps {
            seen += UInt64(counts[step])
            if seen >= wanted { return min(greatest, Self.upperEdge(of: step)) }
        }
        return greatest
    }

    /// The steps that hold something: values up to and with the edge, and how many.
    var filled: [(upTo: UInt32, count: UInt64)] {
        (0..<Self.steps).compactMap { counts[$0] == 0 ? nil : (upTo: min(greatest, Self.upperEdge(of: $0)), count: UInt64(counts[$0])) }
    }

    /// One step for each value below four, then four to each doubling.
    private static func step(of value: UInt32) -> Int {
        guard value >= 4 else { return Int(value) }
        let octave = 29 - value.leadingZeroBitCount
        return min(steps - 1, (octave + 1) * 4 + Int(value >> UInt32(octave)) - 4)
    }

    private static func upperEdge(of step: Int) -> UInt32 {
        guard step >= 4 else { return UInt32(step) }
        let octave = UInt32(step / 4 - 1)
        return UInt32(step % 4 + 5) << octave - 1
    }

    public static func == (one: Self, other: Self) -> Bool {
        guard one.count == other.count, one.greatest == other.greatest else { return false }
        for step in 0..<steps where one.counts[step] != other.counts[step] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(greatest)
    }
}

/// A spread for people: a histogram in the unit that they know, milliseconds or percent.
public struct HistogramFigures: Hashable, Sendable, Codable {
    /// Values up to and with this one, and above that of the step before.
    public struct Step: Hashable, Sendable, Codable {
        /// The upper end of the step.
        public var upTo: Double
        /// Values in it.
        public var count: UInt64
    }

    /// Values in all.
    public var count: UInt64
    /// Percentiles, right to a fifth; the greatest is exact.
    public var median: Double, p95: Double, p99: Double, greatest: Double
    /// Those with values in them, rising.
    public var steps: [Step]

    /// Nil for a spread without a value.
    ///
    /// - Parameter unit: what one of its units is here.
    public init?<Count>(_ spread: Histogram<Count>, unit: Double) {
        guard let median = spread.percentile(50), let p95 = spread.percentile(95), let p99 = spread.percentile(99) else { return nil }
        count = spread.count
        (self.median, self.p95, self.p99, greatest) = (
            Double(median) * unit, Double(p95) * unit, Double(p99) * unit, Double(spread.greatest) * unit
        )
        steps = spread.filled.map { Step(upTo: Double($0.upTo) * unit, count: $0.count) }
    }
}
