import Glibc

/// Hears the tones of telephone keys in sound (ITU-T Q.23, Q.24): eight Goertzel filters over blocks of 12.75 ms at 8 kHz.
///
/// A key is there when one low and one high tone stand out from all else, neither 8 dB stronger than the other, for three blocks in a row
/// (38 ms; Q.24 asks for 40 and refuses 20), and is over when it was away for two. Speech hardly ever makes such a pair.
public struct DTMFDetector: Sendable {
    /// A key went down, or up again: `0` to `9`, `*`, `#`, `A` to `D`.
    public enum Output: Hashable, Sendable { case began(Character), ended(Character) }

    /// Hz of the sound that it listens to.
    public static let sampleRate = 8_000
    private static let block = 102
    private static let frequencies: [Double] = [697, 770, 852, 941, 1_209, 1_336, 1_477, 1_633]
    private static let keys: [[Character]] = [["1", "2", "3", "A"], ["4", "5", "6", "B"], ["7", "8", "9", "C"], ["*", "0", "#", "D"]]

    private var coefficients = InlineArray<8, Float>(repeating: 0)
    private var first = InlineArray<8, Float>(repeating: 0), second = InlineArray<8, Float>(repeating: 0)
    private var energy: Float = 0, filled = 0
    private var candidate: Int?, blocks = 0
    private var present: Int?, absent = 0

    /// Nothing was heard yet.
    public init() {
        for index in 0..<8 { coefficients[index] = Float(2 * cos(2 * .pi * Self.frequencies[index] / Double(Self.sampleRate))) }
    }

    /// The key that is down; nil for none.
    public var key: Character? { present.map(Self.key) }

    /// A key is down, or the last block sounded as if one was.
    public var isSuspected: Bool { present != nil || candidate != nil }

    /// Hears samples at 8 kHz, any number of them.
    public mutating func listen(to samples: Span<Int16>, _ output: (Output) -> Void) {
        for index in 0..<samples.count {
            let sample = Float(samples[index]) / 32_768
            for filter in 0..<8 {
                let next = sample + coefficients[filter] * first[filter] - second[filter]
                (second[filter], first[filter]) = (first[filter], next)
            }
            energy += sample * sample
            filled += 1
            if filled == Self.block { finishBlock(output) }
        }
    }

    private mutating func finishBlock(_ output: (Output) -> Void) {
        let found = judge()
        blocks = found != nil && found == candidate ? blocks + 1 : 1
        candidate = found
        if let down = present, found != down {
            absent += 1
            if absent == 2 {
                present = nil
                output(.ended(Self.key(down)))
            }
        } else {
            absent = 0
        }
        if present == nil, let found, blocks >= 3 {
            (present, absent) = (found, 0)
            output(.began(Self.key(found)))
        }
        for filter in 0..<8 { (first[filter], second[filter]) = (0, 0) }
        (energy, filled) = (0, 0)
    }

    /// The pair of tones that this block is, as 4 · low + high; nil for none.
    private func judge() -> Int? {
        let low = strongest(0..<4), high = strongest(4..<8)
        let floor: Float = 5e-6   // -50 dB below a full-scale sine
        guard low.power > floor, high.power > floor else { return nil }
        guard low.power < 6.3 * high.power, high.power < 6.3 * low.power else { return nil }   // twist of 8 dB
        guard low.power > 6 * low.next, high.power > 6 * high.next else { return nil }
        // A sine of power 1 has a mean square of a half; the pair must be most of all there is.
        guard (low.power + high.power) / 2 > 0.7 * energy / Float(Self.block) else { return nil }
        return 4 * low.index + high.index - 4
    }

    private func strongest(_ filters: Range<Int>) -> (index: Int, power: Float, next: Float) {
        var best = (index: filters.lowerBound, power: Float(-1), next: Float(-1))
        for filter in filters {
            let power = power(filter)
            if power > best.power { best = (filter, power, best.power) } else { best.next = max(best.next, power) }
        }
        return best
    }

    /// The power at a filter's frequency; that of a full-scale sine is 1.
    private func power(_ filter: Int) -> Float {
        let magnitude =
            first[filter] * first[filter] + second[filter] * second[filter] - coefficients[filter] * first[filter] * second[filter]
        return 4 * max(0, magnitude) / Float(Self.block * Self.block)
    }

    private static func key(_ number: Int) -> Character { keys[number / 4][number % 4] }
}
