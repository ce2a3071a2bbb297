/// Counts of values by fixed bounds: how many were as large as each bound or smaller, as monitors read it.
public struct FixedHistogram: Hashable, Sendable {
    /// Ascending. What is larger than the last is counted, too.
    public let bounds: [Double]
    /// Counts of each bucket by itself; the last one has no bound.
    private var buckets: [UInt64]
    /// The sum of all values.
    public private(set) var sum = 0.0

    /// Nothing is counted yet.
    public init(_ bounds: [Double]) { (self.bounds, buckets) = (bounds, [UInt64](repeating: 0, count: bounds.count + 1)) }

    /// Counts a value.
    public mutating func add(_ value: Double) {
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// All values.
    public var count: UInt64 { buckets.reduce(0, +) }

    /// Each bound with the number of values up to it.
    public var cumulative: [(bound: Double, count: UInt64)] {
        var count: UInt64 = 0
        return zip(bounds, buckets).map { bound, bucket in
            count += bucket
            return (bound, count)
        }
    }
}
