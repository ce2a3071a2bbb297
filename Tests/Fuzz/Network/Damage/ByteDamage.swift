import Primitives

/// A way to damage bytes of any format.
enum ByteDamage: CaseIterable {
    case flippedBit, changedByte, cutEnd, cutBeginning, removed, repeated, swapped, inserted, number, word, run, noise

    /// Some damage, or now and then none.
    static func apply(to bytes: inout [UInt8], using random: inout SeededRandom) {
        for _ in 0..<random.pick([0, 1, 1, 1, 2, 3, 5, 9]) where !bytes.isEmpty { random.pick(allCases).apply(to: &bytes, using: &random) }
    }

    func apply(to bytes: inout [UInt8], using random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = random.number(below: bytes.count)
        switch self {
        case .flippedBit: bytes[place] ^= 1 << UInt8(random.number(below: 8))
        case .changedByte: bytes[place] = random.pick(Self.bytes) ?? UInt8(truncatingIfNeeded: random.next())
        case .cutEnd: bytes.removeLast(random.number(below: min(bytes.count, 60)))
        case .cutBeginning: bytes.removeFirst(random.number(below: min(bytes.count, 12)))
        case .removed: bytes.removeSubrange(random.piece(of: bytes.count, longest: 24))
        case .repeated: repeatPiece(of: &bytes, using: &random)
        case .swapped: swapPieces(of: &bytes, using: &random)
        case .inserted: bytes.insert(contentsOf: random.pick(Dictionary.words), at: place)
        case .number: replaceNumber(in: &bytes, from: place, using: &random)
        case .word: replaceWord(in: &bytes, at: place, using: &random)
        case .run:
            let count = 1 + random.number(below: random.pick([8, 80, 800, 9_000]))
            bytes.insert(contentsOf: [UInt8](repeating: bytes[place], count: count), at: place)
        case .noise: bytes.insert(contentsOf: random.bytes(1 + random.number(below: 40)), at: place)
        }
    }

    /// Nil: any.
    private static let bytes: [UInt8?] = [
        nil, nil, 0, 0xFF, 0x0D, 0x0A, 0x20, 0x09, 0x22, 0x25, 0x2C, 0x3A, 0x3B, 0x3C, 0x3E, 0x40, 0x5C, 0x7F, 0x80, 0xC0,
    ]

    private func repeatPiece(of bytes: inout [UInt8], using random: inout SeededRandom) {
        let piece = Array(bytes[random.piece(of: bytes.count, longest: 40)]), times = random.pick([1, 1, 2, 10, 100])
        bytes.insert(contentsOf: (0..<times).flatMap { _ in piece }, at: random.number(below: bytes.count))
    }

    private func swapPieces(of bytes: inout [UInt8], using random: inout SeededRandom) {
        let piece = random.piece(of: bytes.count, longest: 30), taken = Array(bytes[piece])
        bytes.removeSubrange(piece)
        bytes.insert(contentsOf: taken, at: random.number(below: bytes.count + 1))
    }

    /// The next run of digits.
    private func replaceNumber(in bytes: inout [UInt8], from place: Int, using random: inout SeededRandom) {
        guard let start = bytes[place...].firstIndex(where: Self.isDigit) else { return }
        let end = bytes[start...].firstIndex { !Self.isDigit($0) } ?? bytes.endIndex
        bytes.replaceSubrange(start..<end, with: random.pick(Boundaries.texts))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    /// An integer of one to eight bytes, the highest first.
    private func replaceWord(in bytes: inout [UInt8], at place: Int, using random: inout SeededRandom) {
        let value = random.pick(Boundaries.words), width = random.pick([1, 2, 4, 8])
        for index in 0..<width where place + index < bytes.count {
            bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (width - 1 - index)))
        }
    }
}
