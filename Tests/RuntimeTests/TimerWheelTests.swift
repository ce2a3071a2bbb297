import Primitives
import Runtime
import Testing

@Suite struct TimerWheelTests {
    @Test func `fires at the nanosecond and never before`() {
        var wheel = TimerWheel<String>(at: .zero)
        wheel.arm("a", at: .zero + .nanoseconds(500_000_001))
        #expect(wheel.nextDeadline == .zero + .nanoseconds(500_000_001))
        #expect(wheel.advance(to: .zero + .nanoseconds(500_000_000)) == [])
        #expect(wheel.advance(to: .zero + .nanoseconds(500_000_001)) == ["a"])
        #expect(wheel.nextDeadline == nil)
        #expect(wheel.count == 0)
    }

    @Test func `equal deadlines fire in the order of arming`() {
        var wheel = TimerWheel<Int>(at: .zero)
        for id in [3, 1, 2] { wheel.arm(id, at: .zero + .seconds(1)) }
        wheel.arm(0, at: .zero + .milliseconds(999))
        #expect(wheel.advance(to: .zero + .seconds(2)) == [0, 3, 1, 2])
    }

    @Test func `a deadline that has passed is due at once`() {
        var wheel = TimerWheel<Int>(at: .zero)
        _ = wheel.advance(to: .zero + .seconds(100))
        wheel.arm(1, at: .zero + .seconds(3))
        #expect(wheel.nextDeadline == .zero + .seconds(3))
        #expect(wheel.advance(to: .zero + .seconds(100)) == [1])
    }

    @Test func `a stale token cancels nothing, even when its place is used again`() {
        var wheel = TimerWheel<Int>(at: .zero)
        let first = wheel.arm(1, at: .zero + .seconds(1))
        #expect(wheel.cancel(first) == 1)
        #expect(wheel.cancel(first) == nil)
        let second = wheel.arm(2, at: .zero + .seconds(1))
        #expect(wheel.cancel(first) == nil)
        #expect(wheel.count == 1)
        #expect(wheel.advance(to: .zero + .seconds(1)) == [2])
        #expect(wheel.cancel(second) == nil)
    }

    @Test(arguments: [Duration.seconds(41), .seconds(3600), .seconds(86_400 * 365), .nanoseconds(Int64.max)])
    func `a far timer fires too, and its announced deadline is never late`(distance: Duration) {
        var wheel = TimerWheel<Int>(at: .zero)
        let due = Instant.zero + distance
        wheel.arm(1, at: due)
        var wakes = 0
        while let next = wheel.nextDeadline, next < due {
            #expect(wheel.advance(to: next) == [])
            wakes += 1
            if wakes > 10 { break }
        }
        #expect(wheel.advance(to: due) == [1])
    }

    /// Against a list that is searched from end to end, at every time scale that the two rings have.
    @Test(arguments: 0..<24)
    func `does what a plain list does`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var now = Instant(nanoseconds: random.next() >> 8)
        var wheel = TimerWheel<Int>(at: now)
        var model = Model()
        var tokens: [(token: TimerToken, id: Int)] = []
        for step in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let deadline = now + distance(&random)
                tokens.append((wheel.arm(step, at: deadline), step))
                model.arm(step, at: deadline)
            case 5..<7 where !tokens.isEmpty:
                let victim = tokens[Int.random(in: tokens.indices, using: &random)]
                #expect(wheel.cancel(victim.token) == model.cancel(victim.id), "seed \(seed), step \(step)")
            case 7:
                if let next = wheel.nextDeadline { now = max(now, next) }
                #expect(wheel.advance(to: now) == model.advance(to: now), "seed \(seed), step \(step)")
            default:
                now += distance(&random)
                #expect(wheel.advance(to: now) == model.advance(to: now), "seed \(seed), step \(step)")
            }
            #expect(wheel.count == model.count)
            check(wheel.nextDeadline, against: model.deadline, now: now)
        }
    }

    /// Timers of ten days wait in the far ring and move into the near one as their turn comes.
    @Test(arguments: 0..<4) func `many timers in any order come out in the order of their deadlines`(seed: UInt64) {
        var random = SeededRandom(seed: seed), wheel = TimerWheel<Int>(at: .zero), set: [(due: Instant, id: Int, token: TimerToken)] = []
        for id in 0..<20_000 {
            let due = Instant(nanoseconds: UInt64.random(in: 0..<864_000_000_000_000, using: &random))
            set.append((due, id, wheel.arm(id, at: due)))
        }
        set.shuffle(using: &random)
        for timer in set.suffix(10_000) { #expect(wheel.cancel(timer.token) == timer.id) }
        set.removeLast(10_000)
        var fired: [Int] = []
        while let next = wheel.nextDeadline { fired += wheel.advance(to: next) }
        set.sort { ($0.due, $0.id) < ($1.due, $1.id) }
        #expect(fired == set.map(\.id) && wheel.count == 0, "seed \(seed)")
        #expect(set.allSatisfy { wheel.cancel($0.token) == nil }, "all are stale")
    }

    @Test func `time does not go back`() {
        var wheel = TimerWheel<Int>(at: .zero)
        wheel.arm(1, at: .zero + .seconds(50))
        #expect(wheel.advance(to: .zero + .seconds(45)) == [] && wheel.advance(to: .zero + .seconds(1)) == [])
        wheel.arm(2, at: .zero + .seconds(40))
        #expect(wheel.advance(to: .zero + .seconds(41)) == [2], "its deadline has come")
        #expect(wheel.advance(to: .zero + .seconds(49)) == [] && wheel.advance(to: .zero + .seconds(50)) == [1])
    }

    private func check(_ announced: Instant?, against earliest: Instant?, now: Instant) {
        guard let earliest else { return #expect(announced == nil) }
        guard let announced else { return #expect(Bool(false), "a timer is set and none announced") }
        #expect(announced <= earliest)
        if earliest - now < .seconds(40), announced > now { #expect(announced == earliest || turnBegins(at: announced)) }
    }

    private func turnBegins(at instant: Instant) -> Bool { instant.nanoseconds.isMultiple(of: 4096 * 10_000_000) }

    private func distance(_ random: inout SeededRandom) -> Duration {
        let scales: [Int64] = [0, 1, 10_000_000, 500_000_000, 32_000_000_000, 41_000_000_000, 3_600_000_000_000, 180_000_000_000_000]
        return .nanoseconds(Int64.random(in: 0...scales[Int.random(in: 0..<scales.count, using: &random)], using: &random))
    }
}

private struct Model {
    private var timers: [(id: Int, deadline: Instant)] = []
    var count: Int { timers.count }
    var deadline: Instant? { timers.map(\.deadline).min() }

    mutating func arm(_ id: Int, at deadline: Instant) { timers.append((id, deadline)) }

    mutating func cancel(_ id: Int) -> Int? {
        guard let index = timers.firstIndex(where: { $0.id == id }) else { return nil }
        return timers.remove(at: index).id
    }

    mutating func advance(to now: Instant) -> [Int] {
        let due = timers.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        timers.removeAll { $0.deadline <= now }
        return due.map(\.id)
    }
}
