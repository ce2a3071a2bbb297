/// Base64 (RFC 4648 §4), with padding as written or without.
public enum Base64 {
    /// With padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (word, bits) = (UInt32(0), 0)
        for byte in bytes {
            (word, bits) = (word << 8 | UInt32(byte), bits + 8)
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(word >> UInt32(bits)) & 0x3F])
            }
        }
        if bits > 0 { text.append(alphabet[Int(word << UInt32(6 - bits)) & 0x3F]) }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// Nil for anything that is not base64 of whole bytes.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        let padding = text.count - digits.count
        guard digits.count % 4 != 1, padding == 0 || (padding <= 2 && text.count % 4 == 0) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (word, bits) = (UInt32(0), 0)
        for digit in digits {
            guard let value = value(digit) else { return nil }
            (word, bits) = (word << 6 | value, bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return bytes
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - 71)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit + 4)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
