import Glibc
import Primitives

/// When calls begin.
public struct ArrivalPlan: Hashable, Sendable {
    /// So many calls a second, for so long; nil: until the end.
    public struct Step: Hashable, Sendable {
        /// Calls a second.
        public var rate: Double
        /// Nil: until the end.
        public var time: Duration?

        /// - Parameter rate: calls a second, more than 0.
        public init(rate: Double, time: Duration? = nil) { (self.rate, self.time) = (rate, time) }
    }

    /// One after the other; the last may have no end.
    public var steps: [Step]
    /// Independent of each other, as people call, instead of one every so often.
    public var isPoisson: Bool
    /// The part of the time between two calls, 0 to below 1, by which the first call of each step comes later; means nothing to calls by chance.
    public var phase = 0.0

    /// - Parameter steps: empty for no calls at all.
    public init(steps: [Step], isPoisson: Bool = false) { (self.steps, self.isPoisson) = (steps, isPoisson) }
    /// One rate until the end.
    public init(rate: Double, isPoisson: Bool = false) { self.init(steps: [Step(rate: rate)], isPoisson: isPoisson) }

    /// The most steps that a ramp may have: each is a line of the report.
    public static let mostSteps = 10_000

    /// From one rate to another in equal steps, `mostSteps` at most.
    public init(from: Double, to: Double, by: Double, every time: Duration, isPoisson: Bool = false) {
        // 0.3 - 0.1 is a little less than 0.2.
        let count = by > 0 ? Int(min((to - from) / by + 1e-9, Double(Self.mostSteps - 1)).rounded(.down)) : 0
        self.init(steps: (0...max(0, count)).map { Step(rate: from + Double($0) * by, time: time) }, isPoisson: isPoisson)
    }
}

/// The times of the calls to come, one after the other. A value; chance is given.
public struct ArrivalSchedule: Sendable {
    private let plan: ArrivalPlan
    private var random: SeededRandom
    /// The time of the next call, in seconds after the beginning; nil when no more are to come.
    private var next: Double?
    private var stepBegan = 0.0
    /// The step that the next call belongs to.
    public private(set) var step = 0

    /// - Parameter seed: the same one gives the same times.
    public init(_ plan: ArrivalPlan, seed: UInt64) {
        (self.plan, random, next) = (plan, SeededRandom(seed: seed), nil)
        if !plan.steps.isEmpty { next = first(0) }
        if plan.isPoisson, next != nil { leaveSteps() }
    }

    /// When the next call begins, after the beginning; nil when no more are to come.
    public var due: Duration? { next.map { .nanoseconds(Int64(($0 * 1e9).rounded())) } }

    /// The next call begins: on to the one after it.
    public mutating func advance() {
        guard let now = next else { return }
        next = now + gap(plan.steps[step].rate)
        leaveSteps()
    }

    /// Goes on with the step that the next call lies in.
    private mutating func leaveSteps() {
        while let time = next, let length = plan.steps[step].time, time >= stepBegan + length.inSeconds - 1e-9 {
            guard step + 1 < plan.steps.count else { return next = nil }
            stepBegan += length.inSeconds
            step += 1
            next = stepBegan + first(step)
        }
    }

    /// From the beginning of a step to its first call.
    private mutating func first(_ step: Int) -> Double {
        let gap = gap(plan.steps[step].rate)
        return plan.isPoisson ? gap : plan.phase * gap
    }

    /// Goes on with the first call of a step, which begins at a time after the beginning.
    mutating func go(to step: Int, at time: Duration) {
        (self.step, stepBegan) = (step, time.inSeconds)
        next = stepBegan + first(step)
    }

    private mutating func gap(_ rate: Double) -> Double {
        guard plan.isPoisson else { return 1 / rate }
        return -log(1 - Double.random(in: 0..<1, using: &random)) / rate
    }
}

extension Duration {
    var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
    /// Milliseconds, to the microsecond.
    var inMilliseconds: Double { Double(wholeNanoseconds / 1_000) / 1_000 }
    static func seconds(fraction seconds: Double) -> Duration { .nanoseconds(Int64(seconds * 1e9)) }
}
