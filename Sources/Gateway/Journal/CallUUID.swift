import Primitives

/// The UUID of a CallKit call as two integers: what journal events carry. Its text is upper case, as Foundation's `UUID` prints it.
public struct CallUUID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, network order.
    public let high: UInt64
    /// The last eight bytes, network order.
    public let low: UInt64

    @inlinable public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// The form 8-4-4-4-12 in either case; nil for anything else.
    public init?(_ text: Text) {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (offset, byte) in text.bytes.enumerated() {
            if Self.dashes.contains(offset) {
                guard byte == 0x2D else { return nil }
                continue
            }
            guard let digit = hexadecimalDigit(byte) else { return nil }
            halves = (halves.0 << 4 | halves.1 >> 60, halves.1 << 4 | UInt64(digit))
        }
        self.init(high: halves.0, low: halves.1)
    }

    public var description: String { text.description }

    /// 36 characters.
    public var text: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        append(to: &bytes)
        return Text(bytes)
    }

    /// Appends the 36 characters of `text`.
    func append(to bytes: inout [UInt8]) {
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 { bytes.append(0x2D) }
            let half = digit < 16 ? high : low
            let value = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (digit & 15))) & 15
            bytes.append(value < 10 ? 0x30 + value : 0x37 + value)
        }
    }

    private static let dashes: Set<Int> = [8, 13, 18, 23]
}
