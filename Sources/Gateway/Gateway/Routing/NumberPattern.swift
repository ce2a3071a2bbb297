import Primitives

/// A pattern over dialled numbers: literal characters, `.` for any one, a trailing `*` for any rest, and `^` and `$` as ends.
///
/// A pattern without `^` matches from the first character all the same: a number is matched whole, or by prefix when it ends
/// in `*` or starts with `^` and has no `$`. A backslash takes the next character literally.
public struct NumberPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Element: Hashable, Sendable { case literal(UInt8), any }

    private var elements: [Element] = []
    private var isPrefix = false
    public let description: String

    /// nil when the pattern is empty, ends in a lone backslash, or has what means something only in a regular expression: `[0-9]`, `(1|2)`,
    /// `\d`.
    public init?(_ text: Text) {
        description = text.description
        var bytes = text.bytes
        if bytes.first == UInt8(ascii: "^") {
            bytes.removeFirst()
            isPrefix = true
        }
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let next = bytes.popFirst(), !next.isLetterOrDigit else { return nil }
                elements.append(.literal(next))
            case UInt8(ascii: "."): elements.append(.any)
            case UInt8(ascii: "*") where bytes.isEmpty: isPrefix = true
            case UInt8(ascii: "$") where bytes.isEmpty: isPrefix = false
            case _ where "[](){}|?".utf8.contains(byte): return nil
            default: elements.append(.literal(byte))
            }
        }
        guard !elements.isEmpty else { return nil }
    }

    /// Whether the whole number is of this form.
    public func matches(_ number: Text) -> Bool {
        guard isPrefix ? number.count >= elements.count : number.count == elements.count else { return false }
        return zip(elements, number.bytes).allSatisfy { element, byte in
            switch element {
            case .any: true
            case .literal(let expected): expected == byte
            }
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool { self >= 0x30 && self <= 0x39 || asciiLowercased(self) >= 0x61 && asciiLowercased(self) <= 0x7A }
}
