import Primitives

/// The lateness of the packets of a stream against the fastest ones, and so the time that sound must wait to be complete.
///
/// Transit is a packet's arrival less its timestamp, on one clock; only differences of it mean something. The fastest of the last five to
/// ten seconds is the base, so that a drifting clock moves the base along. Latenesses go into a histogram that forgets: a packet counts
/// half of what it did after about 350 others.
struct DelayEstimator: Sendable {
    /// The part of packets that must not be late.
    static let quantile: Float = 0.99
    private static let binMilliseconds = 5
    private static let bins = 64
    private static let growth: Float = 1.002

    private let clockRate: Int64
    private let binTicks: Int64
    private var histogram = InlineArray<64, Float>(repeating: 0)
    private var total: Float = 0
    /// The weight of the next packet: it grows, instead of all others shrinking.
    private var weight: Float = 1
    private var windows = (past: Int64.max, present: Int64.max)
    private var windowEnds: Int64 = 0
    /// Ticks that sound waits at least.
    private(set) var wait: Int64

    init(clockRate: UInt32) {
        self.clockRate = Int64(clockRate)
        binTicks = max(1, Int64(clockRate) * Int64(Self.binMilliseconds) / 1_000)
        wait = 0
        // Nothing is known yet: as if some packets had come 30 ms late.
        count(6, by: 5)
        wait = quantileTicks
    }

    /// The least transit of late; nil before any packet.
    var base: Int64? {
        let least = min(windows.past, windows.present)
        return least == .max ? nil : least
    }

    /// - Parameter now: ticks of the same clock as `transit`, never falling.
    mutating func receive(transit: Int64, at now: Int64) {
        if now >= windowEnds {
            windows = (windowEnds == 0 ? .max : windows.present, .max)
            windowEnds = now + 5 * clockRate
        }
        windows.present = min(windows.present, transit)
        let lateness = transit - min(windows.past, windows.present)
        count(Int(min(lateness / binTicks, Int64(Self.bins - 1))), by: weight)
        weight *= Self.growth
        if weight > 1_000_000 { rescale() }
        wait = quantileTicks
    }

    /// After a new beginning of the timestamps: the base is unknown, what was learnt of the network stays.
    mutating func rebase() { (windows, windowEnds) = ((.max, .max), 0) }

    /// The way has grown longer for good: nothing is faster any more than what took `transit` just now.
    mutating func rebase(to transit: Int64, at now: Int64) { (windows, windowEnds) = ((.max, transit), now + 5 * clockRate) }

    private mutating func count(_ bin: Int, by weight: Float) {
        histogram[bin] += weight
        total += weight
    }

    /// The upper edge of the bin that holds the quantile.
    private var quantileTicks: Int64 {
        var above = total * (1 - Self.quantile)
        var bin = Self.bins - 1
        while bin > 0, histogram[bin] <= above {
            above -= histogram[bin]
            bin -= 1
        }
        return Int64(bin + 1) * binTicks
    }

    private mutating func rescale() {
        total = 0
        for bin in 0..<Self.bins {
            histogram[bin] /= weight
            total += histogram[bin]
        }
        weight = 1
    }
}
