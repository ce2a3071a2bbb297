import Glibc

/// A signalling tone: one frequency or two, a level, and when it sounds.
public struct Tone: Hashable, Sendable {
    /// Hz; the second is 0 for a single tone.
    public var first: Double
    /// Hz; 0 for a single tone.
    public var second: Double
    /// The level of each frequency, in dB below a full-scale sine (0 is the loudest; telephone tones lie near -20).
    public var level: Double
    /// Milliseconds on, off, on, off …, then again from the start; empty for a steady tone.
    public var cadence: [Int]

    /// - Parameters:
    ///   - level: of each frequency, in dB below a full-scale sine.
    ///   - cadence: milliseconds on, off, on ...; empty for a steady tone.
    public init(_ first: Double, _ second: Double = 0, level: Double = -16, cadence: [Int] = []) {
        self.first = first
        self.second = second
        self.level = level
        self.cadence = cadence
    }

    /// The European tones of ITU-T E.180.
    public static let dial = Tone(425)
    /// One second on, four off.
    public static let ringback = Tone(425, cadence: [1_000, 4_000])
    /// Half a second on, half a second off.
    public static let busy = Tone(425, cadence: [500, 500])
    /// A quarter of a second on, a quarter off.
    public static let congestion = Tone(425, cadence: [250, 250])
    /// Before a message is taken.
    public static let beep = Tone(1_000)

    /// The two frequencies of a key (ITU-T Q.23): 0–9, *, #, A–D; nil for anything else.
    public static func key(_ key: Character, level: Double = -10) -> Tone? {
        let keys: [Character] = ["1", "2", "3", "A", "4", "5", "6", "B", "7", "8", "9", "C", "*", "0", "#", "D"]
        guard let index = keys.firstIndex(of: key) else { return nil }
        return Tone([697, 770, 852, 941][index / 4], [1_209, 1_336, 1_477, 1_633][index % 4], level: level)
    }
}

/// Makes the samples of a tone, frame after frame without a jump of phase.
public struct ToneGenerator: Sendable {
    /// The tone that it makes.
    public let tone: Tone
    /// The rate of the samples, in Hz.
    public let sampleRate: Int

    private let steps: (Double, Double)
    private let amplitude: Double
    private var phases = (0.0, 0.0)
    /// The cadence in samples, and where in it the next sample lies.
    private let cadence: [Int]
    private var part = 0, elapsed = 0

    /// The tone's parts that would be shorter than one sample are left out.
    public init(_ tone: Tone, sampleRate: Int) {
        precondition(sampleRate > 0, "a sample rate above zero")
        self.tone = tone
        self.sampleRate = sampleRate
        steps = (2 * .pi * tone.first / Double(sampleRate), 2 * .pi * tone.second / Double(sampleRate))
        amplitude = 32_767 * pow(10, min(tone.level, 0) / 20)
        let samples = tone.cadence.map { max(0, $0) * sampleRate / 1_000 }
        cadence = samples.contains { $0 > 0 } ? samples : []
    }

    /// Fills all of `samples`.
    public mutating func fill(_ samples: inout MutableSpan<Int16>) {
        for index in 0..<samples.count {
            let sum = amplitude * (sin(phases.0) + (steps.1 == 0 ? 0 : sin(phases.1)))
            samples[index] = isOn() ? Int16(max(-32_768, min(32_767, sum.rounded()))) : 0
            phases = (advanced(phases.0, steps.0), advanced(phases.1, steps.1))
        }
    }

    private func advanced(_ phase: Double, _ step: Double) -> Double {
        let next = phase + step
        return next >= 2 * .pi ? next - 2 * .pi : next
    }

    /// Whether the next sample sounds; the cadence moves on by one.
    private mutating func isOn() -> Bool {
        guard !cadence.isEmpty else { return true }
        while elapsed >= cadence[part] { (part, elapsed) = ((part + 1) % cadence.count, 0) }
        elapsed += 1
        return part % 2 == 0
    }
}
