/// The members of a JSON object (RFC 8259), as slices of its text: a message of sound is read without a copy of it.
///
/// A member's name matches as it is written, without escapes. What stands deeper is read when it is asked for.
struct JSONObject {
    typealias Slice = ArraySlice<UInt8>

    /// Members of an object that are looked at.
    static let mostMembers = 64
    /// Objects and lists within each other.
    static let deepest = 16

    private var members: [(name: Slice, value: Slice)] = []

    /// Nil for what is no object, has too many members, or is too deep.
    init?(_ text: Slice) {
        var cursor = Cursor(text)
        guard cursor.take(UInt8(ascii: "{")) else { return nil }
        if !cursor.take(UInt8(ascii: "}")) {
            repeat {
                guard members.count < Self.mostMembers, let name = cursor.string(), cursor.take(UInt8(ascii: ":")),
                    let value = cursor.value()
                else { return nil }
                members.append((name, value))
            } while cursor.take(UInt8(ascii: ","))
            guard cursor.take(UInt8(ascii: "}")) else { return nil }
        }
        guard cursor.isAtEnd else { return nil }
    }

    /// The text of a member; of several with one name the last.
    private func value(_ name: StaticString) -> Slice? {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return members.last { $0.name.elementsEqual(wanted) }?.value
    }

    func object(_ name: StaticString) -> JSONObject? { value(name).flatMap(JSONObject.init) }

    /// The content of a string as it is written, without its quotes.
    func rawString(_ name: StaticString) -> Slice? {
        guard let value = value(name), value.count >= 2, value.first == UInt8(ascii: "\"") else { return nil }
        return value.dropFirst().dropLast()
    }

    /// Nil also for a string with an escape that JSON does not have.
    func string(_ name: StaticString) -> String? { rawString(name).flatMap(Self.unescaped) }

    private static func unescaped(_ raw: Slice) -> String? {
        guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
        var units: [UInt16] = [], pending: [UInt8] = [], rest = raw
        func flush() {
            units.append(contentsOf: String(decoding: pending, as: UTF8.self).utf16)
            pending = []
        }
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                pending.append(byte)
                continue
            }
            flush()
            guard let unit = escape(&rest) else { return nil }
            units.append(unit)
        }
        flush()
        return String(decoding: units, as: UTF16.self)
    }

    /// The UTF-16 unit behind a backslash.
    private static func escape(_ rest: inout Slice) -> UInt16? {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "u"):
            defer { rest = rest.dropFirst(4) }
            let digits = rest.prefix(4)
            return digits.count == 4 && !digits.contains(UInt8(ascii: "+")) && !digits.contains(UInt8(ascii: "-"))
                ? UInt16(String(decoding: digits, as: UTF8.self), radix: 16) : nil
        case let sign? where [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(sign): return UInt16(sign)
        default: return nil
        }
    }
}

extension JSONObject {
    /// A place in a text.
    private struct Cursor {
        private let text: Slice
        private var index: Int

        init(_ text: Slice) { (self.text, index) = (text, text.startIndex) }

        var isAtEnd: Bool {
            mutating get {
                skipBlanks()
                return index == text.endIndex
            }
        }

        private mutating func skipBlanks() {
            while index < text.endIndex, text[index] == 0x20 || (0x09...0x0A).contains(text[index]) || text[index] == 0x0D { index += 1 }
        }

        mutating func take(_ sign: UInt8) -> Bool {
            skipBlanks()
            guard index < text.endIndex, text[index] == sign else { return false }
            index += 1
            return true
        }

        /// The content of a string, as it is written.
        mutating func string() -> Slice? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = index
            while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
                guard text[index] >= 0x20 else { return nil }
                index += text[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard index < text.endIndex else { return nil }
            index += 1
            return text[start..<index - 1]
        }

        /// The text of any value: a string with its quotes.
        mutating func value() -> Slice? {
            skipBlanks()
            let start = index
            guard start < text.endIndex else { return nil }
            switch text[start] {
            case UInt8(ascii: "\""): guard string() != nil else { return nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["): guard skipNested() else { return nil }
            default:
                while index < text.endIndex, Self.isScalar(text[index]) { index += 1 }
                guard index > start else { return nil }
            }
            return text[start..<index]
        }

        /// To behind the bracket that closes the one that is next.
        private mutating func skipNested() -> Bool {
            var open: [UInt8] = []
            while index < text.endIndex {
                let sign = text[index]
                switch sign {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return false }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    guard open.count < JSONObject.deepest else { return false }
                    open.append(sign + 2)
                case UInt8(ascii: "}"), UInt8(ascii: "]"): guard open.popLast() == sign else { return false }
                default: break
                }
                index += 1
                if open.isEmpty { return true }
            }
            return false
        }

        private static func isScalar(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}
