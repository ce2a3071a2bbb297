import Glibc

extension Resampler {
    /// A Kaiser-windowed sinc at `up` times the input rate, taken apart into `up` phases of equal length, each scaled to pass a constant
    /// unchanged.
    static func polyphase(up: Int, down: Int) -> (filter: [Float], taps: Int) {
        guard up != down else { return ([], 8) }
        let passband = 0.85, attenuation = 66.0
        let nyquist = 0.5 / Double(max(up, down))   // of the lower rate, in cycles per sample of the fast clock
        let transition = nyquist * (1 - passband)
        let length = (attenuation - 7.95) / (14.36 * transition)
        let taps = (Int((length / Double(up)).rounded(.up)) + 7) / 8 * 8
        let prototype = lowpass(length: taps * up, cutoff: nyquist * (1 + passband) / 2, beta: 0.1102 * (attenuation - 8.7))
        var filter = [Float](repeating: 0, count: taps * up)
        for phase in 0..<up {
            let branch = (0..<taps).map { prototype[($0) * up + phase] }
            let gain = branch.reduce(0, +)
            for tap in 0..<taps { filter[phase * taps + taps - 1 - tap] = Float(branch[tap] / gain) }
        }
        return (filter, taps)
    }

    private static func lowpass(length: Int, cutoff: Double, beta: Double) -> [Double] {
        let middle = Double(length - 1) / 2
        return (0..<length).map { index in
            let offset = Double(index) - middle, angle = 2 * Double.pi * cutoff * offset
            let sinc = offset == 0 ? 1 : sin(angle) / angle
            let edge = offset / (middle + 0.5)
            return sinc * besselI0(beta * (1 - edge * edge).squareRoot())
        }
    }

    /// The modified Bessel function of order zero, by its power series.
    private static func besselI0(_ x: Double) -> Double {
        var sum = 1.0, term = 1.0, k = 1.0
        while term > 1e-12 * sum {
            term *= (x / (2 * k)) * (x / (2 * k))
            sum += term
            k += 1
        }
        return sum
    }
}
