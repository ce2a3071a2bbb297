import Primitives
import Testing

@testable import Workbench

@Suite struct ArrivalScheduleTests {
    @Test func `a constant rate is one call every so often, from the first moment on`() {
        #expect(Self.times(ArrivalPlan(rate: 4), 5) == [0, 0.25, 0.5, 0.75, 1])
    }

    @Test func `steps follow each other, and the last one's end is the end`() {
        let plan = ArrivalPlan(from: 1, to: 3, by: 1, every: .seconds(2)), times = Self.times(plan, 100)
        #expect(plan.steps.map(\.rate) == [1, 2, 3])
        #expect(times.prefix(6) == [0, 1, 2, 2.5, 3, 3.5])
        #expect(times.count == 2 + 4 + 6)
    }

    @Test(arguments: [(0.1, 0.3, 3), (2, 2.3, 4), (10, 29.9, 2)]) func `a ramp goes to its end, though decimals have no exact sums`(
        from: Double, to: Double, steps: Int
    ) {
        #expect(ArrivalPlan(from: from, to: to, by: to < 5 ? 0.1 : 10, every: .seconds(10)).steps.count == steps)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `calls by chance have the rate that was asked for, and the spread of chance`(seed: UInt64)
    {
        let times = Self.times(ArrivalPlan(rate: 50, isPoisson: true), 5_000, seed: seed),
            gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        let mean = gaps.reduce(0, +) / Double(gaps.count),
            variance = gaps.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(gaps.count)
        #expect(abs(mean - 0.02) < 0.001)
        #expect(abs(variance.squareRoot() / mean - 1) < 0.1, "the deviation of an exponential distribution is its mean")
        #expect(
            Self.times(ArrivalPlan(rate: 50, isPoisson: true), 10, seed: seed) == Array(times.prefix(10)), "a seed makes the same times")
    }

    private static func times(_ plan: ArrivalPlan, _ count: Int, seed: UInt64 = 1) -> [Double] {
        var schedule = ArrivalSchedule(plan, seed: seed), times: [Double] = []
        while times.count < count, let due = schedule.due {
            times.append(due.inSeconds)
            schedule.advance()
        }
        return times
    }
}
