public import Streaming

/// Figures of all streams of programs.
public struct StreamTotals: Sendable {
    /// Streams that are open, or whose program is awaited.
    public var open = 0
    /// Streams that ended since the start, by why.
    public var ends: [StreamEnd: UInt64] = [:]
    /// Sums over the streams that ended.
    public var counts = StreamSession.Counts()

    public init() {}
}

/// Keeps the totals while streams come and go. Lives on the signalling lane.
final class StreamTally {
    private(set) var totals = StreamTotals()

    func began() { totals.open += 1 }

    func ended(_ end: StreamEnd, _ counts: StreamSession.Counts) {
        totals.open -= 1
        totals.ends[end, default: 0] += 1
        totals.counts += counts
    }
}
