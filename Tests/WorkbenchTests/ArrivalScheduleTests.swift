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

    @Test(arguments: [
        (1.0, 3.0, 0.0, [1.0]), (1, 3, -1, [1]), (3, 1, 1, [3]), (1, 1, 1, [1]), (1, 2.9, 1, [1, 2]), (0.5, 1.5, 0.5, [0.5, 1, 1.5]),
    ]) func `a ramp that does not rise has one step`(from: Double, to: Double, by: Double, rates: [Double]) {
        #expect(ArrivalPlan(from: from, to: to, by: by, every: .seconds(1)).steps.map(\.rate) == rates)
    }

    @Test func `a ramp has ten thousand steps at most`() {
        let plan = ArrivalPlan(from: 1, to: 1e12, by: 1, every: .seconds(1))
        #expect(plan.steps.count == ArrivalPlan.mostSteps && plan.steps.last?.rate == 10_000)
    }

    @Test func `without a step no call begins, and a step of no time is passed over`() {
        #expect(Self.times(ArrivalPlan(steps: []), 9).isEmpty && Self.times(ArrivalPlan(steps: [], isPoisson: true), 9).isEmpty)
        let plan = ArrivalPlan(steps: [.init(rate: 1, time: .seconds(1)), .init(rate: 9, time: .zero), .init(rate: 2, time: .seconds(1))])
        #expect(Self.times(plan, 9) == [0, 1, 1.5])
    }

    @Test func `a step without an end goes on, and those behind it never come`() {
        let plan = ArrivalPlan(steps: [.init(rate: 1, time: .seconds(2)), .init(rate: 10), .init(rate: 1, time: .seconds(1))])
        #expect(Self.times(plan, 500).count == 500 && Self.times(plan, 5) == [0, 1, 2, 2.1, 2.2])
    }

    @Test func `a call knows its step`() {
        var schedule = ArrivalSchedule(ArrivalPlan(from: 1, to: 3, by: 1, every: .seconds(2)), seed: 1), steps: [Int] = []
        while schedule.due != nil {
            steps.append(schedule.step)
            schedule.advance()
        }
        #expect(steps == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        schedule.advance()
        #expect(schedule.due == nil, "the end is the end")
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `calls by chance keep to the rate of each step`(seed: UInt64) {
        let plan = ArrivalPlan(steps: [.init(rate: 20, time: .seconds(100)), .init(rate: 80, time: .seconds(100))], isPoisson: true)
        let times = Self.times(plan, 100_000, seed: seed), first = times.count { $0 < 100 }
        // Five deviations of 2,000 and of 8,000.
        #expect(abs(first - 2_000) < 224 && abs(times.count - first - 8_000) < 448 && times.last! < 200)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
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
