/// A piece of protocol text as bytes: a slice that shares its message's buffer, so that taking one apart copies nothing.
///
/// Compares and hashes by bytes. `String` is for people; conversion is explicit (`description`).
public struct Text: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes, in the buffer that they were read into; its indices need not begin at 0.
    public var bytes: ArraySlice<UInt8>

    /// A slice as it is: it keeps the whole buffer in memory. See `detached`.
    @inlinable public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
    /// All of an array.
    @inlinable public init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
    /// The UTF-8 of a string.
    @inlinable public init(_ string: String) { bytes = Array(string.utf8)[...] }
    /// The decimal digits of a number, behind a minus where it is negative.
    @inlinable public init(_ number: some BinaryInteger) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20)
        bytes.append(decimal: number)
        self.init(bytes)
    }
    /// The UTF-8 of a literal.
    public init(stringLiteral value: StaticString) {
        bytes = value.withUTF8Buffer { Array($0) }[...]
    }

    /// No bytes.
    public static let empty = Text([])

    /// Whether there is no byte.
    @inlinable public var isEmpty: Bool { bytes.isEmpty }
    /// Bytes, not characters.
    @inlinable public var count: Int { bytes.count }

    /// A copy that does not keep the message that it was read from in memory.
    public var detached: Text { Text(Array(bytes)) }

    /// Invalid UTF-8 comes out as replacement characters.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    @inlinable public static func == (left: Text, right: Text) -> Bool {
        guard left.count == right.count else { return false }
        return left.bytes.withUnsafeBufferPointer { left in
            right.bytes.withUnsafeBufferPointer { right in
                for index in left.indices where left[index] != right[index] { return false }
                return true
            }
        }
    }

    @inlinable public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// Both in a new buffer.
    public static func + (left: Text, right: Text) -> Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(left.count + right.count)
        bytes.append(contentsOf: left.bytes)
        bytes.append(contentsOf: right.bytes)
        return Text(bytes)
    }

    /// Equal without regard to the case of ASCII letters.
    @inlinable public func equalsIgnoringCase(_ other: Text) -> Bool {
        guard count == other.count else { return false }
        return bytes.withUnsafeBufferPointer { left in
            other.bytes.withUnsafeBufferPointer { right in
                for index in left.indices where asciiLowercased(left[index]) != asciiLowercased(right[index]) { return false }
                return true
            }
        }
    }

    /// ASCII letters in lower case; a copy only where something changes.
    public var lowercased: Text {
        bytes.contains { $0 >= 0x41 && $0 <= 0x5A } ? Text(bytes.map(asciiLowercased)) : self
    }

    /// Whether it begins with these bytes; case counts.
    @inlinable public func hasPrefix(_ prefix: Text) -> Bool { bytes.starts(with: prefix.bytes) }

    /// Without the spaces, tabs, CR and LF at both ends.
    public var trimmed: Text {
        var (start, end) = (bytes.startIndex, bytes.endIndex)
        while start < end, isSpace(bytes[start]) { start += 1 }
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return Text(bytes[start..<end])
    }

    /// The number that the text spells in decimal digits alone; nil for anything else and for what overflows.
    @inlinable public func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        guard !isEmpty else { return nil }
        var value: Number = 0
        for byte in bytes {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Number(byte - 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
}

/// ASCII lower case of one byte; other bytes as they are.
@inlinable public func asciiLowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

extension [UInt8] {
    /// Appends the decimal digits of a number, after a minus where it is negative.
    @inlinable public mutating func append(decimal number: some BinaryInteger) {
        guard let magnitude = UInt64(exactly: number.magnitude) else { return append(contentsOf: String(number).utf8) }
        if number < 0 { append(0x2D) }
        appendDigits(of: magnitude)
    }

    @usableFromInline mutating func appendDigits(of number: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: 0x30)
        var (first, rest) = (19, number)
        while rest > 9 {
            digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            first -= 1
        }
        digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest)
        digits.span.withUnsafeBufferPointer { append(contentsOf: UnsafeBufferPointer(rebasing: $0[first...])) }
    }
}
