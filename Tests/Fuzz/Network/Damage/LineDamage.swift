import Primitives

/// A way to damage the header fields of a message, or the lines of a description.
enum LineDamage: CaseIterable {
    case doubled, many, removed, folded, moved, valuesSwapped, renamed, longWord, listed, bareLineFeed, endInside, blankBeforeColon,
        emptied, inserted, caseChanged, bytes

    /// - Parameter first: lines before it stay as they are.
    func apply(to lines: inout [[UInt8]], from first: Int, using random: inout SeededRandom) {
        guard first < lines.count else { return }
        let place = first + random.number(below: lines.count - first)
        switch self {
        case .doubled: lines.insert(lines[place], at: first + random.number(below: lines.count - first + 1))
        case .many: lines.insert(contentsOf: [[UInt8]](repeating: lines[place], count: random.pick([3, 30, 80, 300])), at: place)
        case .removed: lines.remove(at: place)
        case .moved: lines.insert(lines.remove(at: place), at: first + random.number(below: lines.count - first))
        case .valuesSwapped: swapValues(of: &lines, place, first + random.number(below: lines.count - first))
        case .renamed: rename(&lines[place], using: &random)
        case .inserted: lines.insert(Array(random.pick(Dictionary.names).utf8) + [0x3A, 0x20] + random.pick(Dictionary.words), at: place)
        default: applyWithin(&lines[place], using: &random)
        }
    }

    private func applyWithin(_ line: inout [UInt8], using random: inout SeededRandom) {
        let colon = line.firstIndex(of: 0x3A) ?? line.count, place = random.number(below: line.count + 1)
        switch self {
        case .folded: line.insert(contentsOf: random.pick(["\r\n ", "\r\n\t ", "\r\n \r\n "]).utf8, at: place)
        case .longWord:
            let letter = random.pick(Array("aA0%\"(;,".utf8)), count = random.pick([70, 300, 2_100, 8_200, 40_000])
            line.insert(contentsOf: [UInt8](repeating: letter, count: count), at: place)
        case .listed: repeatValue(of: &line, behind: colon, using: &random)
        case .bareLineFeed: line.append(contentsOf: [0x0A] + Array(random.pick(Dictionary.names).utf8) + Array(": x".utf8))
        case .endInside: line.insert(contentsOf: random.pick(["\r", "\n", "\r\n", "\0", "\r\r\n"]).utf8, at: place)
        case .blankBeforeColon: line.insert(contentsOf: random.pick([" ", "\t", "  "]).utf8, at: min(colon, line.count))
        case .emptied: line.removeSubrange(min(colon + 1, line.count)...)
        case .caseChanged: line = line.map { 0x61...0x7A ~= $0 || 0x41...0x5A ~= $0 ? $0 ^ 0x20 : $0 }
        default: random.pick(ByteDamage.allCases).apply(to: &line, using: &random)
        }
    }

    private func swapValues(of lines: inout [[UInt8]], _ one: Int, _ other: Int) {
        let parts = [one, other].map { index in lines[index].firstIndex(of: 0x3A).map { (lines[index][...$0], lines[index][($0 + 1)...]) } }
        guard let first = parts[0], let second = parts[1], one != other else { return }
        (lines[one], lines[other]) = (Array(first.0 + second.1), Array(second.0 + first.1))
    }

    private func rename(_ line: inout [UInt8], using random: inout SeededRandom) {
        guard let colon = line.firstIndex(of: 0x3A) else { return }
        line.replaceSubrange(..<colon, with: Array(random.pick(Dictionary.names).utf8))
    }

    private func repeatValue(of line: inout [UInt8], behind colon: Int, using random: inout SeededRandom) {
        guard colon < line.count else { return }
        let value = line[(colon + 1)...]
        for _ in 0..<random.pick([1, 2, 20, 90]) { line += [0x2C] + value }
    }
}
