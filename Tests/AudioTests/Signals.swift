import Audio
import Glibc

/// Test signals that are the same on every machine.
enum Signals {
    static func sine(_ frequency: Double, sampleRate: Int, count: Int, level: Double = -10) -> [Int16] {
        var generator = ToneGenerator(Tone(frequency, level: level), sampleRate: sampleRate)
        var samples = [Int16](repeating: 0, count: count)
        var room = samples.mutableSpan
        generator.fill(&room)
        return samples
    }

    /// Full-scale noise in 16 bits: the top bits of Knuth's linear congruence.
    static func noise(seed: UInt64, count: Int, shift: (Int) -> Int16 = { _ in 0 }) -> [Int16] {
        var state = seed
        return (0..<count).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int16(truncatingIfNeeded: state >> 48) >> shift(index)
        }
    }

    /// Like speech: syllables of a gliding pitch under two formants, with pauses, over a little noise.
    static func speech(seed: UInt64, seconds: Double, sampleRate: Int = 8_000) -> [Int16] {
        let count = Int(seconds * Double(sampleRate)), choices = noise(seed: seed, count: 4_000).map { Double($0) / 65_536 + 0.5 }
        var samples: [Int16] = [], choice = 0
        func next(_ range: ClosedRange<Double>) -> Double {
            choice = (choice + 1) % choices.count
            return range.lowerBound + (range.upperBound - range.lowerBound) * choices[choice]
        }
        while samples.count < count {
            let length = Int(next(0.08...0.3) * Double(sampleRate)), pause = Int(next(0.0...0.15) * Double(sampleRate))
            let pitch = (next(90...220), next(90...220)), formants = (next(300...800), next(1_000...2_400))
            var phase = 0.0
            for index in 0..<length {
                let position = Double(index) / Double(length), frequency = pitch.0 + (pitch.1 - pitch.0) * position
                phase += 2 * .pi * frequency / Double(sampleRate)
                let sum = stride(from: 1.0, to: 3_200 / frequency, by: 1).reduce(0.0) { sum, harmonic in
                    let away = (abs(harmonic * frequency - formants.0) / 150, abs(harmonic * frequency - formants.1) / 250)
                    return sum + sin(harmonic * phase) * (1 / (1 + away.0 * away.0) + 0.5 / (1 + away.1 * away.1))
                }
                samples.append(Int16(max(-32_000, min(32_000, 4_000 * sin(.pi * position) * sum))))
            }
            samples += Array(repeating: 0, count: pause)
        }
        return zip(samples, noise(seed: seed &+ 1, count: count)).map { $0 &+ $1 >> 9 }
    }

    /// Energy of the signal over energy of the difference, in dB, at the best delay of 0…`maximumDelay` samples.
    static func signalToNoise(_ original: [Int16], _ copy: [Int16], maximumDelay: Int, skip: Int = 800) -> (decibels: Double, delay: Int) {
        (0...maximumDelay).map { delay in
            var signal = 0.0, noise = 1e-9
            for index in skip..<original.count - maximumDelay where index + delay < copy.count {
                let difference = Double(original[index]) - Double(copy[index + delay])
                signal += Double(original[index]) * Double(original[index])
                noise += difference * difference
            }
            return (10 * log10(signal / noise), delay)
        }.max { $0.0 < $1.0 } ?? (0, 0)
    }
}

extension FrameEncoder {
    /// Encodes frame after frame; a last piece of a frame is left out.
    func payloads(of samples: [Int16]) throws -> [[UInt8]] {
        try stride(from: 0, through: samples.count - samplesPerFrame, by: samplesPerFrame).map { start in
            var payload = [UInt8](repeating: 0, count: largestPayload)
            var room = payload.mutableSpan
            let length = try encode(samples.span.extracting(start..<start + samplesPerFrame), into: &room)
            return Array(payload.prefix(length))
        }
    }
}

extension FrameDecoder {
    /// Decodes payload after payload; nil is a lost one.
    func samples(of payloads: [[UInt8]?]) throws -> [Int16] {
        try payloads.flatMap { payload in
            var samples = [Int16](repeating: 0, count: largestOutput)
            var room = samples.mutableSpan
            let count = if let payload { try decode(payload.span, into: &room) } else { try conceal(into: &room) }
            return Array(samples.prefix(count))
        }
    }
}

extension ToneDetector {
    static func hearing(_ samples: [Int16], frequency: Double, sampleRate: Int) -> ToneDetector {
        var detector = ToneDetector(frequency: frequency, sampleRate: sampleRate)
        detector.listen(to: samples.span)
        return detector
    }
}
