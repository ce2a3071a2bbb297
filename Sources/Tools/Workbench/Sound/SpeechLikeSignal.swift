import Glibc
import Primitives

/// A sound with the rhythm and the spectrum of speech: syllables of a gliding voice or of noise, each coloured by three formants, and
/// pauses.
///
/// Codecs treat it as speech, and it is like nothing but itself: two seeds do not correlate, and neither does one with its own past. So it
/// proves where a sound came from.
public enum SpeechLikeSignal {
    /// Wideband, in Hz.
    public static let sampleRate = 16_000

    /// So many seconds of it; about -20 dB below a full-scale sine, never louder than half of full scale.
    public static func samples(seed: UInt64, seconds: Double) -> [Int16] {
        let count = max(0, Int(seconds * Double(sampleRate)))
        var voice = Voice(seed: seed), sound: [Double] = []
        sound.reserveCapacity(count + sampleRate)
        while sound.count < count { voice.speak(into: &sound) }
        return sound.prefix(count).map { Int16((max(-1, min(1, $0)) * 16_383).rounded()) }
    }
}

private struct Voice {
    private var random: SeededRandom
    /// The phase of the vocal cords, in periods.
    private var phase = 0.0
    private var pitch = 140.0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// One syllable, and now and then a pause.
    mutating func speak(into sound: inout [Double]) {
        let length = samples(0.09...0.26)
        let excitation = Double.random(in: 0...1, using: &random) < 0.75 ? voiced(length) : noise(length)
        sound += shaped(excitation)
        let pause = Double.random(in: 0...1, using: &random) < 0.2 ? samples(0.08...0.25) : samples(0.01...0.03)
        sound += [Double](repeating: 0, count: pause)
    }

    private mutating func samples(_ seconds: ClosedRange<Double>) -> Int {
        Int(Double.random(in: seconds, using: &random) * Double(SpeechLikeSignal.sampleRate))
    }

    /// Pulses of a pitch that glides to another one.
    private mutating func voiced(_ length: Int) -> [Double] {
        let goal = Double.random(in: 95...230, using: &random), glide = (goal - pitch) / Double(length)
        return (0..<length).map { _ in
            pitch += glide
            phase += pitch / Double(SpeechLikeSignal.sampleRate)
            let breath = Double.random(in: -0.04...0.04, using: &random)
            guard phase >= 1 else { return breath }
            phase -= 1
            return 1 + breath
        }
    }

    private mutating func noise(_ length: Int) -> [Double] { (0..<length).map { _ in Double.random(in: -0.3...0.3, using: &random) } }

    /// Three formants, a soft beginning and end, and a loudness of its own.
    private mutating func shaped(_ excitation: [Double]) -> [Double] {
        var sound = excitation
        for (range, width) in [(280.0...850.0, 90.0), (900.0...2_300.0, 130.0), (2_300.0...3_000.0, 200.0)] {
            var formant = Resonance(frequency: Double.random(in: range, using: &random), width: width)
            sound = sound.map { 0.05 * $0 + formant.filter($0) }
        }
        let energy = sound.reduce(0) { $0 + $1 * $1 }, level = (energy / Double(max(1, sound.count))).squareRoot()
        let gain = Double.random(in: 0.12...0.3, using: &random) / max(level, 1e-9), edge = Double(SpeechLikeSignal.sampleRate) / 80
        return sound.indices.map { index in
            let fromEdge = Double(min(index, sound.count - 1 - index)) / edge
            return sound[index] * gain * min(1, fromEdge)
        }
    }
}

/// A resonator of two poles, with a gain of one at its frequency.
private struct Resonance {
    private let gain: Double, first: Double, second: Double
    private var last = 0.0, beforeLast = 0.0

    init(frequency: Double, width: Double) {
        let rate = Double(SpeechLikeSignal.sampleRate), radius = exp(-Double.pi * width / rate), angle = 2 * Double.pi * frequency / rate
        (first, second) = (2 * radius * cos(angle), -radius * radius)
        gain = (1 - radius) * (1 - 2 * radius * cos(2 * angle) + radius * radius).squareRoot()
    }

    mutating func filter(_ input: Double) -> Double {
        let output = gain * input + first * last + second * beforeLast
        (beforeLast, last) = (last, output)
        return output
    }
}
