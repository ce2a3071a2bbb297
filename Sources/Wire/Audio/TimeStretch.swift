/// Makes a piece of sound a little shorter or longer without changing its pitch: one period is overlapped with the next, or repeated.
public enum TimeStretch {
    /// The most that one call adds or takes, in milliseconds; a piece must be twice as long.
    public static let greatestMilliseconds = 10

    /// Takes one period of 2.5 to 10 ms out of the first `count` samples.
    ///
    /// - Returns: how many samples there are now; `count` when the piece is shorter than 20 ms.
    public static func shorten(_ samples: inout MutableSpan<Int16>, count: Int, sampleRate: Int) -> Int {
        guard let lag = period(samples.span, count, sampleRate) else { return count }
        let length = count - lag
        for index in 0..<length { samples[index] = blend(samples[index], samples[index + lag], index, length) }
        return length
    }

    /// Repeats one period of 2.5 to 10 ms within the first `count` samples.
    ///
    /// - Returns: how many samples there are now; `count` when the piece is shorter than 20 ms or `samples` has no room.
    public static func lengthen(_ samples: inout MutableSpan<Int16>, count: Int, sampleRate: Int) -> Int {
        guard let lag = period(samples.span, count, sampleRate), count + lag <= samples.count else { return count }
        for index in stride(from: count + lag - 1, through: count, by: -1) { samples[index] = samples[index - lag] }
        for index in stride(from: count - 1, through: lag, by: -1) {
            samples[index] = blend(samples[index], samples[index - lag], index - lag, count - lag)
        }
        return count + lag
    }

    private static func period(_ samples: Span<Int16>, _ count: Int, _ sampleRate: Int) -> Int? {
        let longest = sampleRate * greatestMilliseconds / 1_000
        guard count >= 2 * longest, longest > 0 else { return nil }
        return PitchSearch.bestLag(
            samples, start: longest, count: count - longest, lags: sampleRate / 400...longest, sampleRate: sampleRate)
    }

    /// From `first` to `second`, `index` of `length` steps on the way.
    private static func blend(_ first: Int16, _ second: Int16, _ index: Int, _ length: Int) -> Int16 {
        Int16((Int(first) * (length - index) + Int(second) * index) / length)
    }
}
