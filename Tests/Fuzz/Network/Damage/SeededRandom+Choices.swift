import Primitives

extension SeededRandom {
    /// The source of one input: the same for its seed, surface and number, whatever came before it.
    init(seed: UInt64, _ surface: Surface, input number: Int) {
        let name = surface.rawValue.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // Its states are a gap apart: neighbours would give the same numbers one after the other.
        var mixer = SeededRandom(seed: seed ^ name &+ 0xD1B5_4A32_D192_ED03 &* UInt64(number))
        self.init(seed: mixer.next())
    }

    /// A number from 0 on; 0 where nothing is below the limit.
    mutating func number(below limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }

    mutating func happens(percent: Int) -> Bool { number(below: 100) < percent }

    /// - Precondition: there is something to choose from.
    mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: number(below: choices.count))]
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    /// Letters and digits.
    mutating func word(_ count: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in pick(letters) })
    }

    /// A piece of `count` things, at most `longest` long and never empty unless there are none.
    mutating func piece(of count: Int, longest: Int) -> Range<Int> {
        let start = number(below: count)
        return start..<min(count, start + 1 + number(below: longest))
    }

    /// An address of this machine in 127.0.0.0/8, neither the first one nor the last.
    mutating func loopback() -> IPAddress { IPAddress(v4: 0x7F00_0002 + UInt32(number(below: 0xFF_FFF0))) }
}
