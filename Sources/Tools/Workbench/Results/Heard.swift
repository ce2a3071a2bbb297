import Audio

/// The sound that one call heard: its level, and its first minute at 8 kHz for comparison. Bounded.
public struct Heard: Sendable {
    static let rate = 8_000
    static let longest = 60 * rate

    /// At 8 kHz; at most a minute.
    public private(set) var samples: [Int16] = []
    /// The length of all that was heard, in seconds.
    public private(set) var seconds = 0.0
    private var meter = LevelMeter()
    private var resampler: Resampler?

    /// Nothing was heard yet.
    public init() {}

    /// dB below a full-scale sine; nil when nothing or perfect silence was heard.
    public var level: Double? { meter.level.isFinite ? meter.level : nil }

    mutating func append(_ recorded: [Int16], sampleRate: Int) {
        meter.listen(to: recorded.span)
        seconds += Double(recorded.count) / Double(max(1, sampleRate))
        guard samples.count < Self.longest else { return }
        if resampler?.inputRate != sampleRate { resampler = try? Resampler(from: sampleRate, to: Self.rate) }
        guard var resampler else { return }
        self.resampler = nil   // one owner, so that its buffer is not copied
        defer { self.resampler = resampler }
        var converted = [Int16](repeating: 0, count: resampler.outputCapacity(for: recorded.count)), room = converted.mutableSpan
        guard let count = try? resampler.process(recorded.span, into: &room) else { return }
        samples += converted.prefix(min(count, Self.longest - samples.count))
    }
}
