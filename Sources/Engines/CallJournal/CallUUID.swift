import Primitives

/// The UUID of a CallKit call as two integers: what journal events carry. Its text is upper case, as Foundation's `UUID` prints it.
public struct CallUUID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, network order.
    public let high: UInt64
    /// The last eight bytes, network order.
    public let low: UInt64

    /// The sixteen bytes as two numbers.
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
        Text(
            [UInt8](unsafeUninitializedCapacity: Self.textLength) { buffer, count in
                write(to: UnsafeMutableRawBufferPointer(buffer))
                count = Self.textLength
            })
    }

    /// Appends the characters of `text`.
    func append(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: Self.textLength, alignment: 8) { buffer in
            write(to: buffer)
            bytes.append(contentsOf: buffer)
        }
    }

    static var textLength: Int { 36 }

    /// Writes the characters of `text`.
    func write(to buffer: UnsafeMutableRawBufferPointer) {
        let middle = (Self.digits(of: high), Self.digits(of: low >> 32))
        buffer.storeBytes(of: Self.digits(of: high >> 32), toByteOffset: 0, as: UInt64.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: middle.0), toByteOffset: 9, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: middle.0 >> 32), toByteOffset: 14, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: middle.1), toByteOffset: 19, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: middle.1 >> 32), toByteOffset: 24, as: UInt32.self)
        buffer.storeBytes(of: Self.digits(of: low), toByteOffset: 28, as: UInt64.self)
        (buffer[8], buffer[13], buffer[18], buffer[23]) = (0x2D, 0x2D, 0x2D, 0x2D)
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

// The journal's tables by calls, and by the numbers of ports.
extension IdentityTable {
    @inline(__always) subscript(port: Int64) -> Value? {
        get { self[UInt128(UInt64(bitPattern: port))] }
        _modify { yield &self[UInt128(UInt64(bitPattern: port))] }
    }

    @inline(__always) subscript(call: CallUUID) -> Value? {
        get { self[call.bits] }
        _modify { yield &self[call.bits] }
    }

    @discardableResult
    @inline(__always) mutating func removeValue(forKey call: CallUUID) -> Value? { removeValue(forKey: call.bits) }
}

extension CallUUID {
    /// As a number.
    public var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    init(bits: UInt128) { self.init(high: UInt64(truncatingIfNeeded: bits >> 64), low: UInt64(truncatingIfNeeded: bits)) }
}
