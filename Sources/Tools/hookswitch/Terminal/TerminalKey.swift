/// A key of a terminal.
enum TerminalKey: Hashable, Sendable {
    case up, down, pageUp, pageDown, home, end, enter, escape, erase
    /// Control and C.
    case interrupt
    case character(Character)
}

/// Makes keys of the bytes that a terminal sends. An escape that is the last byte of what was read is the Escape key.
struct TerminalKeyReader {
    /// The beginning of a sequence or of a character whose end is not here yet.
    private var pending: [UInt8] = []

    mutating func feed(_ bytes: [UInt8]) -> [TerminalKey] {
        pending += bytes
        var keys: [TerminalKey] = []
        while !pending.isEmpty, let (key, length) = Self.first(of: pending) {
            pending.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// The first key and the count of its bytes; a key that is nil means nothing here. nil: more bytes are to come.
    private static func first(of bytes: [UInt8]) -> (key: TerminalKey?, length: Int)? {
        switch bytes[0] {
        case 0x03: return (.interrupt, 1)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x08, 0x7F: return (.erase, 1)
        case 0x1B:
            guard bytes.count > 1, bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return (.escape, 1) }
            guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                return bytes.count > 16 ? (nil, bytes.count) : nil
            }
            return (sequence(bytes[2...end]), end + 1)
        case ..<0x20: return (nil, 1)
        default: return character(bytes)
        }
    }

    /// Reads the key of the bytes that follow `ESC [` or `ESC O`.
    private static func sequence(_ bytes: ArraySlice<UInt8>) -> TerminalKey? {
        switch String(decoding: bytes, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "5~": .pageUp
        case "6~": .pageDown
        case "H", "1~", "7~": .home
        case "F", "4~", "8~": .end
        default: nil
        }
    }

    /// A character of UTF-8.
    private static func character(_ bytes: [UInt8]) -> (key: TerminalKey?, length: Int)? {
        let length =
            switch bytes[0] {
            case 0xC0...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF7: 4
            default: 1
            }
        guard bytes.count >= length else { return nil }
        guard let text = String(validating: bytes.prefix(length), as: UTF8.self), let character = text.first else { return (nil, 1) }
        return (.character(character), length)
    }
}
