import Primitives
import Testing

@testable import Capacity

@Suite struct WorkQueueTests {
    /// Jobs of one length that come by chance, of a core that is busy for a part of the time.
    private func meanWait(load: Double, jobs: Int, seed: UInt64) -> Double {
        var random = SeededRandom(seed: seed), queue = WorkQueue(), time = 0.0, waits = 0.0
        for _ in 0..<jobs {
            time += random.exponential(1 / load)
            waits += queue.take(1, at: time)
        }
        return waits / Double(jobs)
    }

    @Test(arguments: [0.2, 0.5, 0.8])
    func `jobs of one length wait as the formula for M D 1 says`(load: Double) {
        let formula = load / (2 * (1 - load))
        #expect(abs(meanWait(load: load, jobs: 100_000, seed: 7) / formula - 1) < 0.06)
    }

    @Test func `nothing waits before a queue that is empty`() {
        var queue = WorkQueue()
        let waits = [queue.take(2, at: 1), queue.take(2, at: 2), queue.take(1, at: 9)]
        #expect(waits == [0, 1, 0])
        #expect(queue.freeAt == 10 && queue.backlog(at: 9.5) == 0.5 && queue.backlog(at: 11) == 0)
    }

    @Test func `a pool does as many jobs at a time as it has cores`() {
        var pool = WorkPool(cores: 2)
        let ends = [pool.take(3, at: 0), pool.take(3, at: 0), pool.take(3, at: 1)]
        #expect(ends == [3, 3, 6])
        var spread = WorkPool(cores: 2)
        spread.spread(4, at: 1)
        let end = spread.take(1, at: 1)
        #expect(end == 4)
    }

    @Test func `a meter has the mean and the worst window, and what of it is assumed`() {
        var meter = Meter(capacity: 2)
        meter.add(Work(seconds: 3, assumed: 1))
        meter.close(1)
        meter.close(1)
        #expect(meter.peak == 1.5 && meter.mean(over: 2) == 0.75)
        #expect(abs(meter.total.assumedShare - 1.0 / 3) < 1e-12)
    }
}

@Suite struct DelayDistributionTests {
    @Test(arguments: [(0.5, 0.5), (0.99, 0.99), (1, 1)])
    func `a quantile is right to five parts of a hundred`(share: Double, delay: Double) {
        var delays = DelayDistribution()
        for number in 1...1_000 { delays.add(Double(number) / 1_000) }
        #expect(abs(delays.quantile(share) / delay - 1) < 0.05)
        #expect(delays.count == 1_000 && abs(delays.mean - 0.5005) < 1e-9)
    }

    @Test func `nothing has no delay`() { #expect(DelayDistribution().quantile(0.5) == 0 && DelayDistribution().mean == 0) }
}

@Suite struct ChangeQueueTests {
    @Test func `a row too many is lost, and every row is written, waits or is lost`() {
        var queue = ChangeQueue()
        for number in 0..<ChangeQueue.limit + 7 { queue.add(.registration, at: Double(number)) }
        #expect(queue.lost == 7 && queue.count == ChangeQueue.limit)
        _ = queue.next(500)
        queue.add(.expiry, at: 1e5)
        #expect(queue.added == queue.written + queue.count + queue.lost)
        #expect(queue.oldest == 500)
    }

    @Test func `a later change of a row takes the place of one that waits, and not of one that is written`() {
        var queue = ChangeQueue()
        let marks = [queue.add(.ongoing, at: 0), queue.add(.ongoing, at: 0)].compactMap(\.self), first = queue.next(1)
        #expect(first == ChangeBatch(rows: 1, told: 0, recents: 1, bindings: 0))
        let replaced = marks.map { queue.replace($0, by: .recent) }, second = queue.next(9)
        #expect(replaced == [false, true])
        #expect(second == ChangeBatch(rows: 1, told: 1, recents: 1, trims: 1, bindings: 0) && queue.count == 0)
    }

    @Test func `a batch knows its rows`() {
        var queue = ChangeQueue()
        for change in [RowChange.registration, .expiry, .dialog, .ongoing, .recent] { queue.add(change, at: 0) }
        let batch = queue.next(9)
        #expect(batch == ChangeBatch(rows: 5, told: 3, recents: 2, trims: 1, bindings: 2) && batch.dialogs == 1)
    }
}

@Suite struct DatabaseServerTests {
    @Test func `a commit with notices waits for the one before it, and wakes everybody that listens`() {
        var plan = ClusterPlan(), costs = CostTable.standard
        plan.hardware.databaseCores = 4
        (costs[.flush], costs[.listenerWoken], costs[.listenerNotice]) = (1_000_000, 2_000_000, 500_000)
        var database = DatabaseServer(plan, costs)
        let job = Work(seconds: 1), ends = [0, 1, 1].map { database.write(job, notices: $0, listeners: 0, at: 0) }
        #expect(ends == [2, 2, 3])
        database.close(1)
        #expect(database.meter.total.seconds == 3 && database.lockMeter.total.seconds == 2)
        _ = database.write(job, notices: 4, listeners: 10, at: 100)
        database.close(1)
        #expect(database.meter.total.seconds == 44, "a job more, and two seconds and four half ones for each of ten")
    }
}

@Suite struct ChanceTests {
    @Test(arguments: [0.3, 8, 400])
    func `numbers of events have their mean`(mean: Double) {
        var random = SeededRandom(seed: 3), sum = 0
        for _ in 0..<20_000 { sum += random.poisson(mean) }
        #expect(abs(Double(sum) / 20_000 / mean - 1) < 0.03)
    }

    @Test func `times without memory have their mean`() {
        var random = SeededRandom(seed: 3), sum = 0.0
        for _ in 0..<20_000 { sum += random.exponential(5) }
        #expect(abs(sum / 20_000 / 5 - 1) < 0.03)
    }
}
