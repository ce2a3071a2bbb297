/// The processor time that something takes, and how much of it rests on figures that nobody has measured.
public struct Work: Hashable, Sendable {
    /// Seconds of one core.
    public var seconds: Double
    /// Seconds among these whose cost is assumed.
    public var assumed: Double

    /// Nothing, unless told otherwise.
    public init(seconds: Double = 0, assumed: Double = 0) { (self.seconds, self.assumed) = (seconds, assumed) }

    /// The part that is assumed, 0 to 1.
    public var assumedShare: Double { seconds > 0 ? assumed / seconds : 0 }

    static func + (one: Work, other: Work) -> Work { Work(seconds: one.seconds + other.seconds, assumed: one.assumed + other.assumed) }
    static func += (one: inout Work, other: Work) { one = one + other }
    static func * (count: Double, work: Work) -> Work { Work(seconds: count * work.seconds, assumed: count * work.assumed) }
}

/// A queue before one core, first come, first served. A value; times in seconds.
///
/// The wait of a job is known when it comes: it begins when all before it are done (Lindley's recursion). Jobs have to come in the order of
/// their times.
struct WorkQueue {
    /// When all that has come is done.
    private(set) var freeAt = 0.0

    /// Takes a job.
    /// - Returns: the time that it waits before it begins.
    mutating func take(_ seconds: Double, at time: Double) -> Double {
        let start = max(freeAt, time)
        freeAt = start + seconds
        return start - time
    }

    /// The time that a job would wait.
    func backlog(at time: Double) -> Double { max(0, freeAt - time) }
}

/// A queue before several cores: a job runs on the one that is free first. A value; times in seconds.
struct WorkPool {
    private var freeAt: [Double]

    /// - Precondition: at least one core.
    init(cores: Int) {
        precondition(cores > 0)
        freeAt = [Double](repeating: 0, count: cores)
    }

    /// Takes a job.
    /// - Returns: when it is done.
    mutating func take(_ seconds: Double, at time: Double) -> Double {
        var first = 0
        for core in freeAt.indices where freeAt[core] < freeAt[first] { first = core }
        freeAt[first] = max(freeAt[first], time) + seconds
        return freeAt[first]
    }

    /// Takes many small jobs, as much of them on each core.
    mutating func spread(_ seconds: Double, at time: Double) {
        let each = seconds / Double(freeAt.count)
        for core in freeAt.indices { freeAt[core] = max(freeAt[core], time) + each }
    }
}

/// The load of one resource over time: work that has come for each second of a core that it has. It may be more than 1.
struct Meter {
    /// Cores, or other units of a second each.
    let capacity: Double
    private(set) var total = Work()
    private(set) var peak = 0.0
    private var window = Work()

    init(capacity: Double) { self.capacity = capacity }

    mutating func add(_ work: Work) { window += work }

    /// The end of a window of so many seconds.
    mutating func close(_ seconds: Double) {
        total += window
        peak = max(peak, window.seconds / (seconds * capacity))
        window = Work()
    }

    /// The mean load over so many seconds.
    func mean(over seconds: Double) -> Double { seconds > 0 ? total.seconds / (seconds * capacity) : 0 }
}
