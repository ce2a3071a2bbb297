import Glibc

/// Listens for one frequency: is it there, how loud, with what gaps (Goertzel's filter over blocks of 20 ms).
///
/// A block counts as tone when the frequency lies above `threshold` and holds at least half of the block's power.
public struct ToneDetector: Sendable {
    /// Blocks of 20 ms that were heard to the end.
    public private(set) var blocks = 0
    /// Those that held the tone.
    public private(set) var toneBlocks = 0
    /// Times that the tone stopped and came back.
    public private(set) var gaps = 0
    /// The longest of these, in milliseconds (whole blocks).
    public var longestGapMilliseconds: Int { longestGap * frameMilliseconds }
    /// The level of the tone in the blocks that held it: dB below a full-scale sine; minus infinity when there was none.
    public var level: Double { toneBlocks == 0 ? -.infinity : decibels(tonePower / Double(toneBlocks)) }
    /// Whether the last whole block held the tone.
    public private(set) var isPresent = false
    /// 0…1: the part of all blocks that held the tone.
    public var presence: Double { blocks == 0 ? 0 : Double(toneBlocks) / Double(blocks) }

    private let coefficient: Double
    private let blockLength: Int
    private let threshold: Double
    private var states = (0.0, 0.0)
    private var energy = 0.0, filled = 0
    private var tonePower = 0.0
    private var silentBlocks = 0, longestGap = 0

    /// - Parameter threshold: dB below a full-scale sine.
    public init(frequency: Double, sampleRate: Int, threshold: Double = -45) {
        precondition(sampleRate >= 1_000, "a sample rate of 1 kHz or more")
        coefficient = 2 * cos(2 * .pi * frequency / Double(sampleRate))
        blockLength = sampleRate / 1_000 * frameMilliseconds
        self.threshold = threshold
    }

    /// Adds samples of its rate. Allocates nothing.
    public mutating func listen(to samples: Span<Int16>) {
        for index in 0..<samples.count {
            let sample = Double(samples[index]) / 32_768
            states = (sample + coefficient * states.0 - states.1, states.0)
            energy += sample * sample
            filled += 1
            if filled == blockLength { finishBlock() }
        }
    }

    private mutating func finishBlock() {
        let length = Double(blockLength)
        let magnitude = states.0 * states.0 + states.1 * states.1 - coefficient * states.0 * states.1
        let power = 4 * max(0, magnitude) / (length * length)   // of a full-scale sine: 1
        isPresent = decibels(power) >= threshold && power >= energy / length   // the sine's mean square is half its power here
        blocks += 1
        count(power)
        (states, energy, filled) = ((0, 0), 0, 0)
    }

    private mutating func count(_ power: Double) {
        guard isPresent else {
            silentBlocks += 1
            return
        }
        if toneBlocks > 0, silentBlocks > 0 {
            gaps += 1
            longestGap = max(longestGap, silentBlocks)
        }
        toneBlocks += 1
        tonePower += power
        silentBlocks = 0
    }
}

func decibels(_ power: Double) -> Double { power > 0 ? 10 * log10(power) : -.infinity }
