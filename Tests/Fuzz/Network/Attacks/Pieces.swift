import Primitives

/// A stream cut where nobody expects it.
enum Pieces {
    static func of(_ bytes: [UInt8], using random: inout SeededRandom) -> [[UInt8]] {
        let places = (0..<random.pick([0, 0, 1, 2, 6, 30])).map { _ in random.number(below: bytes.count + 1) }
        let ends = (places + [0, bytes.count]).sorted()
        return zip(ends, ends.dropFirst()).map { Array(bytes[$0..<$1]) }.filter { !$0.isEmpty }
    }
}
