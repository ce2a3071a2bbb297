import Primitives
import SIP

/// Whether the memory of a process grows with the calls that are over. A value.
///
/// Memory goes up with the calls that are kept, and with what is made once: only moments with about as many calls kept are compared, late
/// in a run with earlier. Kept are those that are up, and those that ended a short time ago: over UDP their transactions wait for copies
/// (RFC 3261 timer J, RFC 6026 timer L).
public struct MemoryTrend: Sendable {
    /// Less than this says nothing: allocators keep and give back by whole blocks.
    static let smallest: UInt64 = 8 << 20
    /// Calls that have to be over between the two parts that are compared.
    static let fewestCalls = 200
    private static let mostSamples = 512
    /// The time for which a call is kept after its end.
    static let lingering = TimerValues().timeout

    private struct Sample {
        var resident: UInt64
        var over: Int, kept: Int
    }

    /// The memory that one call may leave, in bytes.
    private let allowance: Double
    private var samples: [Sample] = []
    /// The looks of the last `lingering`, and the one before them.
    private var recent: [(time: Duration, over: Int)] = []
    /// Every so many-th look is kept.
    private var stride = 1, looks = 0

    /// - Parameter allowance: bytes that each call may leave.
    public init(allowance: Double) { self.allowance = allowance }

    /// A look, some way into a run: calls that are over by then, and that are up.
    /// - Parameter time: since the first call; nil before it.
    public mutating func note(resident: UInt64?, over: Int, up: Int, at time: Duration?) {
        guard let resident, let time else { return }
        recent.append((time, over))
        while recent.count > 1, recent[1].time <= time - Self.lingering { recent.removeFirst() }
        let isLongEnough = recent[0].time <= time - Self.lingering
        looks += 1
        guard looks % stride == 0 else { return }
        samples.append(Sample(resident: resident, over: over, kept: up + over - (isLongEnough ? recent[0].over : 0)))
        guard samples.count == Self.mostSamples else { return }
        samples = samples.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        stride *= 2
    }

    /// The last quarter of the run, by calls, beside the one before it, each by its median; nil where that cannot be compared.
    private var growth: (bytes: Double, calls: Double)? {
        guard let total = samples.last?.over, let usual = median(samples.map { Double($0.kept) }) else { return nil }
        func part(_ from: Double, _ to: Double) -> [Sample] {
            samples.filter {
                Double($0.over) >= from * Double(total) && Double($0.over) <= to * Double(total)
                    && abs(Double($0.kept) - usual) <= max(2, usual / 4)
            }
        }
        let (before, after) = (part(0.5, 0.75), part(0.75, 1))
        guard before.count >= 3, after.count >= 3, let then = median(before.map { Double($0.resident) }),
            let now = median(after.map { Double($0.resident) })
        else { return nil }
        guard
            let calls = median(after.map { Double($0.over) }).flatMap({ late in median(before.map { Double($0.over) }).map { late - $0 } }),
            calls > 0
        else { return nil }
        return (now - then, calls)
    }

    /// Bytes for each call that is over; nil where the run was too short or too uneven to tell.
    public var perCall: Double? {
        guard let growth, growth.calls >= Double(Self.fewestCalls) / 2 else { return nil }
        return growth.bytes / growth.calls
    }

    /// It goes up, by more than a call may leave.
    public var isGrowing: Bool {
        guard let growth, let perCall else { return false }
        return perCall > allowance && growth.bytes > Double(Self.smallest) / 2
    }

    private func median(_ values: [Double]) -> Double? { values.isEmpty ? nil : values.sorted()[values.count / 2] }
}

/// Figures of one process's memory over a run, in bytes.
public struct MemoryFigures: Codable, Hashable, Sendable {
    /// Before the first call and after the last.
    public var before: UInt64?, after: UInt64?
    /// The growth for each call that was over, late in the run, in bytes; nil: the run was too short to tell.
    public var perCall: Double?

    /// A value that was not read is nil.
    public init(before: UInt64? = nil, after: UInt64? = nil, perCall: Double? = nil) {
        (self.before, self.after, self.perCall) = (before, after, perCall)
    }
}
