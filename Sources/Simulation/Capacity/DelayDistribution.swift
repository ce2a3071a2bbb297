import Glibc

/// Delays by classes that are 5 % wide, from 10 µs on. A value; seconds.
public struct DelayDistribution: Hashable, Sendable {
    private static let first = 1e-5, growth = 1.05
    private var classes: [UInt32] = []
    /// All delays.
    public private(set) var count = 0
    /// The sum of all delays, in seconds.
    public private(set) var sum = 0.0

    mutating func add(_ delay: Double) {
        let index = delay <= Self.first ? 0 : 1 + Int(log(delay / Self.first) / log(Self.growth))
        if index >= classes.count { classes += [UInt32](repeating: 0, count: index + 1 - classes.count) }
        classes[index] += 1
        count += 1
        sum += delay
    }

    /// The mean, in seconds; 0 where there is none.
    public var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// The delay that a share of all does not exceed, to 5 %, in seconds; 0 where there is none.
    public func quantile(_ share: Double) -> Double {
        let wanted = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, number) in classes.enumerated() {
            seen += Int(number)
            if seen >= wanted { return index == 0 ? Self.first : Self.first * pow(Self.growth, Double(index)) }
        }
        return 0
    }
}
