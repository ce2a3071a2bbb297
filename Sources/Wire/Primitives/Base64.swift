/// Base64 (RFC 4648 §4), with padding as written or without.
public enum Base64 {
    /// With padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        if bytes.withContiguousStorageIfAvailable({ encode($0.span, to: &text) }) == nil { encode(Array(bytes).span, to: &text) }
        return text
    }

    /// Appends the text of these bytes, with padding.
    public static func encode(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        var start = 0
        while start + 3 <= bytes.count {
            append(4, of: UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]), to: &text)
            start += 3
        }
        switch bytes.count - start {
        case 1: append(2, of: UInt32(bytes[start]) << 16, to: &text)
        case 2: append(3, of: UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8, to: &text)
        default: break
        }
    }

    /// Appends so many of the four digits of 24 bits, and padding for the others.
    private static func append(_ count: Int, of word: UInt32, to text: inout [UInt8]) {
        for digit in 0..<4 {
            text.append(digit < count ? alphabet[Int(word >> UInt32(18 - 6 * digit)) & 0x3F] : padding)
        }
    }

    /// Nil for anything that is not base64 of whole bytes.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable { decode($0.span) } ?? decode(Array(text).span)
    }

    private static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var count = text.count
        while count > 0, text[count - 1] == padding { count -= 1 }
        let padded = text.count - count
        guard count % 4 != 1, padded == 0 || (padded <= 2 && text.count % 4 == 0) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 3 / 4)
        var (word, bits) = (UInt32(0), 0)
        for index in 0..<count {
            let value = values[Int(text[index])]
            guard value < 64 else { return nil }
            (word, bits) = (word << 6 | UInt32(value), bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each byte as a digit; 255 for none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
}
