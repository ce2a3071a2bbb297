import Glibc
import Media
import Primitives

/// Up to how many calls at a time the tool itself is in time on this machine, seen while it runs. A value.
struct Punctuality: Sendable {
    /// One packet in a hundred may leave so much later than its time.
    static let limit = Duration.milliseconds(1)
    /// Fewer packets say nothing of one in a hundred.
    private static let enough: UInt64 = 500

    /// The lateness at about the same number of calls: levels are a tenth apart.
    private struct Level {
        var fewest: Int, most: Int, streams: Int
        var lateness = Lateness()
    }

    private var levels: [Int: Level] = [:]

    /// Adds the lateness of the packets that left since the last time, with the number of calls up and of our ends that send.
    mutating func note(_ lateness: Lateness, calls: Int, streams: Int) {
        guard lateness.count > 0, calls > 0 else { return }
        var level = levels[Int(log(Double(calls)) / log(1.1))] ?? Level(fewest: calls, most: calls, streams: streams)
        (level.fewest, level.most, level.streams) = (min(level.fewest, calls), max(level.most, calls), max(level.streams, streams))
        level.lateness = level.lateness + lateness
        levels[Int(log(Double(calls)) / log(1.1))] = level
    }

    /// A moment that was late at few calls says nothing where it was in time with more.
    var figures: PunctualityFigures? {
        let known = levels.keys.sorted().compactMap { levels[$0] }.filter { $0.lateness.count >= Self.enough }
        guard !known.isEmpty else { return nil }
        let last = known.lastIndex { isPunctual($0) }, late = known.suffix(from: last.map { $0 + 1 } ?? 0).first
        return PunctualityFigures(
            calls: last.map { known[$0].most }, streams: last.map { known[$0].streams }, lateAt: late?.fewest,
            latenessThere: late?.lateness.percentile(99).map(\.inMilliseconds))
    }

    private func isPunctual(_ level: Level) -> Bool { level.lateness.percentile(99).map { $0 < Self.limit } ?? false }
}

/// The largest number of calls at which 99 of 100 packets of the tool left within a millisecond of their time.
public struct PunctualityFigures: Codable, Hashable, Sendable {
    /// Nil: at no number that was seen.
    public var calls: Int?
    /// Ends of the tool's own that sent then.
    public var streams: Int?
    /// The next number of calls that was seen, where they were later; nil: none was.
    public var lateAt: Int?
    /// Milliseconds, of one packet in a hundred.
    public var latenessThere: Double?
}
