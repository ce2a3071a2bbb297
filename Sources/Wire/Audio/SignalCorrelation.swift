/// The likeness of two recordings: did what was sent arrive?
///
/// The delay is found over the whole, by a Fourier transform; then the sent signal is taken in half seconds, each of which may lie up to 40
/// ms off that delay (a jitter buffer that stretched, a clock that drifts) and is compared as a waveform at 8 kHz. A piece that is not
/// there but surely lies within 400 ms of it (a machine stood still for a tenth of a second, and all that follows is late) counts as well.
/// Silent pieces do not count.
///
/// A codec leaves the score above 0.8, loss of a tenth of the packets above 0.6; other speech stays below 0.2.
public struct SignalCorrelation: Hashable, Sendable {
    /// The delay of the received signal, in milliseconds; negative when the sent recording starts before the call's audio did.
    public let delayMilliseconds: Double
    /// 0…1: the mean of the pieces' normalised correlation, weighted by the energy of the sent pieces. 0 when one of the two is silent or
    /// missing.
    public let score: Double

    /// A score from which on the two are the same sound.
    public static let threshold = 0.5
    /// Whether the two are the same sound.
    public var matches: Bool { score >= Self.threshold }

    /// - Parameters:
    ///   - sampleRate: of both, in Hz: 8,000, 16,000, 24,000 or 48,000.
    ///   - maximumDelay: how far apart they may be, either way, in milliseconds.
    /// Only the first minute of each is looked at. Takes memory and time in proportion to that.
    /// - Throws: `CodecError.unsupported` for another rate.
    public init(sent: [Int16], received: [Int16], sampleRate: Int, maximumDelay: Int = 3_000) throws(CodecError) {
        let left = try Self.prepared(sent, sampleRate), right = try Self.prepared(received, sampleRate)
        let maximum = max(0, maximumDelay) * Self.rate / 1_000
        let delay = Self.bestDelay(left, right, maximum: maximum)
        delayMilliseconds = Double(delay) * 1_000 / Double(Self.rate)
        score = Self.score(left, right, delay: delay)
    }

    private static let rate = 8_000
    private static let piece = 4_000
    /// The distance from the delay at which a piece may lie, in samples; `wide` where it correlates by `certain`, which other speech never
    /// does.
    private static let slack = 320, wide = 3_200
    private static let certain = 0.6

    private static func prepared(_ samples: [Int16], _ sampleRate: Int) throws(CodecError) -> [Float] {
        guard [8_000, 16_000, 24_000, 48_000].contains(sampleRate) else { throw .unsupported }
        let wav = try WAV(sampleRate: sampleRate, samples: Array(samples.prefix(60 * sampleRate))).resampled(to: rate)
        var last: Float = 0
        return wav.samples.map { sample in   // speech falls by 6 dB an octave: level it, and take a constant out
            defer { last = Float(sample) }
            return Float(sample) - 0.9 * last
        }
    }

    /// The delay with the highest cross-correlation over everything.
    private static func bestDelay(_ left: [Float], _ right: [Float], maximum: Int) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return 0 }
        let products = FourierTransform.crossCorrelation(left, right)
        let delays = -min(maximum, left.count - 1)...min(maximum, right.count - 1)
        return delays.max { products[($0 + products.count) % products.count] < products[($1 + products.count) % products.count] } ?? 0
    }

    private static func score(_ left: [Float], _ right: [Float], delay: Int) -> Double {
        let leftEnergy = runningEnergy(left), rightEnergy = runningEnergy(right)
        var weighted = 0.0, total = 0.0
        for start in stride(from: 0, to: left.count, by: piece) {
            let length = min(piece, left.count - start)
            guard start + delay >= 0, start + length + delay <= right.count, length >= piece / 4 else { continue }
            let energy = leftEnergy[start + length] - leftEnergy[start]
            guard energy > Double(length) * 100 else { continue }   // -70 dBFS
            let best = { (slack: Int) -> Double in
                let place = max(start + delay - slack, 0)..<min(start + length + delay + slack, right.count)
                return bestCorrelation(left[start..<start + length], energy, right[place], rightEnergy[place.lowerBound...])
            }
            weighted += energy * found(near: best(slack), far: { best(wide) })
            total += energy
        }
        return total == 0 ? 0 : weighted / total
    }

    private static func found(near: Double, far: () -> Double) -> Double {
        guard near < certain else { return near }
        let far = far()
        return far < certain ? near : far
    }

    /// The energy before each index.
    private static func runningEnergy(_ samples: [Float]) -> [Double] {
        var sums = [0.0]
        sums.reserveCapacity(samples.count + 1)
        for sample in samples { sums.append(sums[sums.count - 1] + Double(sample) * Double(sample)) }
        return sums
    }

    /// The highest normalised correlation of `piece` with any part of `place`; between two samples by a parabola through three.
    private static func bestCorrelation(
        _ piece: ArraySlice<Float>, _ energy: Double, _ place: ArraySlice<Float>, _ running: ArraySlice<Double>
    ) -> Double {
        let products = FourierTransform.crossCorrelation(Array(piece), Array(place)), first = running.startIndex
        let values = (0...place.count - piece.count).map { shift -> Double in
            let other = running[first + shift + piece.count] - running[first + shift]
            return other < energy * 1e-6 ? 0 : Double(products[shift]) / (energy * other).squareRoot()
        }
        guard let top = values.indices.max(by: { values[$0] < values[$1] }), values[top] > 0 else { return 0 }
        guard top > 0, top + 1 < values.count else { return values[top] }
        let (slope, bend) = (values[top + 1] - values[top - 1], 2 * values[top] - values[top - 1] - values[top + 1])
        return min(1, values[top] + (bend > 0 ? slope * slope / (8 * bend) : 0))
    }
}
