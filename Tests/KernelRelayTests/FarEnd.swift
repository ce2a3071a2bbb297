import Primitives

/// Makes the packets of a source that is mostly well behaved, on a network that is mostly good.
struct FarEnd {
    var random: SeededRandom
    var sequence: UInt16
    var timestamp: UInt32
    var ssrc: UInt32 = 0x1111_2222

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        // Numbers wrap early.
        (sequence, timestamp) = (65_500, UInt32(truncatingIfNeeded: random.next()))
    }

    mutating func chance(_ one: Int, of all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }
    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// The next packet of its kind that is in order: `step` further on.
    mutating func next(_ step: Int = 1) -> [UInt8] {
        sequence &+= UInt16(truncatingIfNeeded: step)
        timestamp &+= 160 &* UInt32(truncatingIfNeeded: step)
        return packet(sequence, timestamp)
    }

    /// Whatever comes.
    mutating func any() -> [UInt8] {
        switch number(0...99) {
        case 0..<50: return next()
        case 50..<57: return next(number(1...6))
        case 57: return next(number(30...100))
        case 58: return next(number(2_990...3_010))
        case 59..<69: return late(number(1...12))
        case 69..<71: return late(number(30...110))
        case 71..<75: return late(0)
        case 75: return next(number(-32_768...32_767))
        case 76: return next(65_500 - Int(sequence))
        case 77..<79: return packet(sequence &+ 1, timestamp, ssrc: UInt32(number(0...1)) + 5)
        case 79..<82: return clockChange()
        case 82..<94: return otherType()
        default: return none()
        }
    }

    private mutating func late(_ steps: Int) -> [UInt8] { packet(sequence &- UInt16(steps), timestamp &- 160 &* UInt32(steps)) }

    /// Timestamps that stand still, go back, or go away: not near the greatest difference that is allowed, for the clock goes on meanwhile.
    private mutating func clockChange() -> [UInt8] {
        sequence &+= 1
        let choice = number(0...6)
        timestamp &+= UInt32(
            truncatingIfNeeded: [0, -160, -40_000, 40_000, -96_000, 96_001, number(-2_000_000_000...2_000_000_000)][choice])
        return packet(sequence, timestamp)
    }

    private mutating func otherType() -> [UInt8] {
        if chance(2, of: 3) { sequence &+= 1 }
        let type: UInt8 = [101, 8, 13, 99, 127][number(0...4)], stranger = chance(1, of: 12)
        return packet(sequence, timestamp, type: type, ssrc: stranger ? 9 : nil)
    }

    private mutating func packet(_ sequence: UInt16, _ timestamp: UInt32, type: UInt8 = 0, ssrc: UInt32? = nil) -> [UInt8] {
        rtp(
            type: type, sequence: sequence, timestamp: timestamp, ssrc: ssrc ?? self.ssrc, marker: chance(1, of: 8),
            contributors: chance(1, of: 5) ? number(0...15) : 0, extensionWords: chance(1, of: 5) ? number(0...9) : nil,
            payload: number(0...180), padding: chance(1, of: 8) ? number(0...70) : nil)
    }

    /// No RTP, or damaged.
    private mutating func none() -> [UInt8] {
        switch number(0...4) {
        case 0: return [0x80 | UInt8(number(0...31)), UInt8(number(200...207)), 0, 7] + [UInt8](repeating: 3, count: 28)
        case 1: return [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 9, count: 12)
        case 2: return (0..<number(0...40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 3: return Array(packet(sequence &+ 1, timestamp).prefix(number(0...20)))
        default:
            var damaged = packet(sequence &+ 1, timestamp)
            for _ in 0..<number(1...3) { damaged[number(0...min(11, damaged.count - 1))] ^= 1 << UInt8(number(0...7)) }
            return damaged
        }
    }
}
