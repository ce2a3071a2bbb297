/// The database: cores, one commit with notices at a time, and a time in which it does not answer. A value; seconds.
///
/// PostgreSQL holds one lock from the first notice of a transaction until it is committed, so that the log of changes is flushed for one of
/// them at a time, whoever's they are.
struct DatabaseServer {
    private(set) var meter: Meter
    private(set) var lockMeter = Meter(capacity: 1)
    private var pool: WorkPool
    private var lock = WorkQueue()
    private let flush: Work, wake: Work, send: Work
    /// From when to when it does not answer.
    var outage: Range<Double>?

    init(_ plan: ClusterPlan, _ costs: CostTable) {
        meter = Meter(capacity: Double(plan.hardware.databaseCores))
        pool = WorkPool(cores: plan.hardware.databaseCores)
        (flush, wake, send) = (costs.work(.flush), costs.work(.listenerWoken), costs.work(.listenerNotice))
    }

    func isUp(at time: Double) -> Bool { outage.map { !$0.contains(time) } ?? true }

    /// Runs a transaction that writes nothing.
    /// - Returns: when the answer is there.
    mutating func read(_ work: Work, at time: Double) -> Double {
        meter.add(work)
        return pool.take(work.seconds, at: time)
    }

    /// Runs a transaction that writes, and sends so many notices to each of the listeners.
    mutating func write(_ work: Work, notices: Int, listeners: Double, at time: Double) -> Double {
        meter.add(work)
        let worked = pool.take(work.seconds, at: time)
        guard notices > 0 else { return worked + flush.seconds }
        lockMeter.add(flush)
        let done = worked + lock.take(flush.seconds, at: worked) + flush.seconds
        let told = listeners * (wake + Double(notices) * send)
        meter.add(told)
        pool.spread(told.seconds, at: time)
        return done
    }

    mutating func close(_ seconds: Double) {
        meter.close(seconds)
        lockMeter.close(seconds)
    }
}

/// The notices of all gateways, by steps: how many have been sent. A value.
struct NoticeBoard {
    private let step: Double
    private var pending: [Int]
    /// Notices that had been sent at the end of each step.
    private var history = [0]
    /// Notices that have been sent by now.
    private(set) var sent = 0

    init(step: Double, span: Double) {
        self.step = step
        pending = [Int](repeating: 0, count: Int((span / step).rounded(.up)) + 1)
    }

    /// Notices that a commit sends at a time.
    mutating func post(_ notices: Int, at time: Double) {
        let index = Int(time / step)
        if index < pending.count { pending[index] += notices }
    }

    /// The step begins: what was sent in the one before is heard.
    /// - Returns: how many notices that is.
    mutating func advance(to index: Int) -> Int {
        guard index > 0 else { return 0 }
        sent += pending[index - 1]
        history.append(sent)
        return pending[index - 1]
    }

    /// The age of the oldest notice that is unread where this many were read, in order.
    /// - Parameter place: where the search goes on, a step; it is moved.
    func age(unreadFrom level: Double, from place: inout Int, at now: Double) -> Double {
        while place < history.count, Double(history[place]) <= level { place += 1 }
        return place < history.count ? max(0, now - Double(place) * step) : 0
    }
}
