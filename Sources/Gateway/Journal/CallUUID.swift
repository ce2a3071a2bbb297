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
            switch offset {
            case 8, 13, 18, 23:
                guard byte == 0x2D else { return nil }
                continue
            default: break
            }
            guard let digit = hexadecimalDigit(byte) else { return nil }
            halves = (halves.0 << 4 | halves.1 >> 60, halves.1 << 4 | UInt64(digit))
        }
        self.init(high: halves.0, low: halves.1)
    }

    public var description: String { text.description }

    /// 36 characters.
    public var text: Text {
        let digits = digits
        return Text(digits.indices.map { digits[$0] })
    }

    /// The characters of `text`.
    var digits: InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: 0x2D)
        let quarters: InlineArray<4, UInt64> = [
            Self.digits(of: high >> 32), Self.digits(of: high), Self.digits(of: low >> 32), Self.digits(of: low),
        ]
        var place = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 { place += 1 }
            text[place] = UInt8(truncatingIfNeeded: quarters[digit >> 3] >> UInt64(8 * (digit & 7)))
            place += 1
        }
        return text
    }

    /// The eight digits of the low half of a number, the first in the lowest byte: worked out side by side in one word.
    private static func digits(of number: UInt64) -> UInt64 {
        var nibbles = number & 0xFFFF_FFFF
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 7).byteSwapped
    }
}
