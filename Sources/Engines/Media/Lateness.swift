import Primitives

/// The lateness of tasks, as counts in steps that grow with the value: 6 % apart, from 16 µs to an hour. Takes no memory after `init`.
public struct Lateness: Hashable, Sendable {
    /// The number of tasks that were noted.
    public private(set) var count: UInt64 = 0
    /// The greatest of all, exact.
    public private(set) var greatest = Duration.zero
    private var steps = [UInt64](repeating: 0, count: 32 * 16)

    /// Nothing noted. Takes all the memory that it will need.
    public init() {}

    /// Earlier than due counts as in time.
    public mutating func note(_ lateness: Duration) {
        let late = max(.zero, lateness)
        count += 1
        greatest = max(greatest, late)
        steps[Self.step(of: UInt64(late.wholeNanoseconds / 1_000))] += 1
    }

    /// The lateness that `percent` of all did not exceed; nil before the first.
    public func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        let wanted = max(1, UInt64((Double(count) * percent / 100).rounded(.up)))
        var seen: UInt64 = 0
        for (step, counted) in steps.enumerated() {
            seen += counted
            if seen >= wanted { return min(greatest, .microseconds(Int64(Self.upperEdge(of: step)))) }
        }
        return greatest
    }

    /// The delays of both.
    public static func + (one: Lateness, other: Lateness) -> Lateness {
        var sum = one
        sum.count += other.count
        sum.greatest = max(one.greatest, other.greatest)
        for step in sum.steps.indices { sum.steps[step] += other.steps[step] }
        return sum
    }

    /// Sixteen steps to each doubling; below 16 µs one for each microsecond.
    private static func step(of microseconds: UInt64) -> Int {
        guard microseconds >= 16 else { return Int(microseconds) }
        let octave = 63 - microseconds.leadingZeroBitCount - 4
        return min(32 * 16 - 1, (octave + 1) * 16 + Int(microseconds >> UInt64(octave)) - 16)
    }

    private static func upperEdge(of step: Int) -> UInt64 {
        guard step >= 16 else { return UInt64(step) + 1 }
        let octave = UInt64(step / 16 - 1)
        return UInt64(step % 16 + 17) << octave
    }
}

extension Lateness: Codable {
    private enum CodingKeys: CodingKey { case greatest, steps }

    /// Steps that nothing is in are left out: pairs of a step and its count.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(greatest.wholeNanoseconds, forKey: .greatest)
        try container.encode(steps.indices.filter { steps[$0] > 0 }.map { [UInt64($0), steps[$0]] }, forKey: .steps)
    }

    /// - Throws: for steps that there are not.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        greatest = .nanoseconds(max(0, try container.decode(Int64.self, forKey: .greatest)))
        for pair in try container.decode([[UInt64]].self, forKey: .steps) {
            guard pair.count == 2, pair[0] < UInt64(steps.count), pair[1] < 1 << 40 else {
                throw DecodingError.dataCorruptedError(forKey: .steps, in: container, debugDescription: "no step of a lateness")
            }
            steps[Int(pair[0])] = pair[1]
        }
        count = steps.reduce(0, +)
    }
}
