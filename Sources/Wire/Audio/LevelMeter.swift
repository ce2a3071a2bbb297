import Glibc

/// Measures how loud a stream is, in dB relative to a full-scale sine (dBFS: such a sine reads 0, silence minus infinity).
public struct LevelMeter: Hashable, Sendable {
    /// Samples heard.
    public private(set) var count = 0
    /// The largest magnitude, 0…32,768.
    public private(set) var peak = 0
    private var energy = 0.0

    /// Nothing was heard yet.
    public init() {}

    /// Root mean square over everything heard.
    public var level: Double { count == 0 ? -.infinity : decibels(2 * energy / Double(count)) }
    /// The level of the loudest sample.
    public var peakLevel: Double { decibels(pow(Double(peak) / 32_768, 2)) }

    /// Adds samples of whatever rate. Allocates nothing.
    public mutating func listen(to samples: Span<Int16>) {
        for index in 0..<samples.count {
            let sample = Int(samples[index])
            peak = max(peak, abs(sample))
            energy += Double(sample * sample) / (32_768 * 32_768)
        }
        count += samples.count
    }

    /// One frame on its own.
    public static func level(of samples: Span<Int16>) -> Double {
        var meter = LevelMeter()
        meter.listen(to: samples)
        return meter.level
    }
}

/// Says when a stream has gone silent and when it is heard again.
public struct SilenceDetector: Hashable, Sendable {
    /// The change of the stream.
    public enum Change: Hashable, Sendable { case silent, heard }

    /// The last change, or the state that it began in.
    public private(set) var isSilent: Bool
    /// Samples of frames that were loud.
    public private(set) var soundSamples = 0
    private let threshold: Double
    private let timeout: Int
    private var quietSamples = 0

    /// - Parameters:
    ///   - threshold: frames below this level (dBFS) are quiet.
    ///   - milliseconds: quiet for so long is silent; nil: it is never told.
    ///   - beginsSilent: before the first sound, silence is not a change.
    public init(threshold: Double = -50, after milliseconds: Int?, sampleRate: Int, beginsSilent: Bool = true) {
        self.threshold = threshold
        timeout = milliseconds.map { $0 * sampleRate / 1_000 } ?? .max
        isSilent = beginsSilent
    }

    /// Hears one frame; a frame is quiet or loud as a whole.
    public mutating func listen(to frame: Span<Int16>) -> Change? {
        guard !frame.isEmpty else { return nil }
        if LevelMeter.level(of: frame) >= threshold {
            quietSamples = 0
            soundSamples += frame.count
            guard isSilent else { return nil }
            isSilent = false
            return .heard
        }
        quietSamples = min(quietSamples + frame.count, timeout)
        guard !isSilent, quietSamples >= timeout else { return nil }
        isSilent = true
        return .silent
    }
}
