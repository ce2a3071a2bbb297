/// G.711 µ-law and A-law: 8 kHz, one byte per sample.
///
/// Computed instead of looked up: both laws are a few shifts. Negative values are cut as the ITU's own software cuts them (G.191):
/// ones' complement first, then the magnitude to 13 (µ) or 11 (A) bits and a sign.
public enum G711 {
    /// µ-law, of the upper 14 bits of a sample.
    @inlinable public static func encodeMu(_ sample: Int16) -> UInt8 {
        let magnitude = UInt16(bitPattern: sample < 0 ? ~sample : sample) >> 2
        let biased = min(magnitude + 33, 0x1FFF)
        let segment = 11 - UInt16(biased.leadingZeroBitCount)   // 1…8
        let code = UInt8(truncatingIfNeeded: (8 - segment) << 4 | (0xF - (biased >> segment & 0xF)))
        return sample < 0 ? code : code | 0x80
    }

    /// µ-law, as 14 bits in the upper part of a sample.
    @inlinable public static func decodeMu(_ byte: UInt8) -> Int16 {
        let code = Int16(~byte)
        let magnitude = ((code & 0xF) << 3 + 0x84) << (code >> 4 & 7) - 0x84
        return byte & 0x80 == 0 ? -magnitude : magnitude
    }

    /// A-law, of the upper 13 bits of a sample.
    @inlinable public static func encodeA(_ sample: Int16) -> UInt8 {
        let magnitude = UInt16(bitPattern: sample < 0 ? ~sample : sample) >> 4
        let length = 16 - magnitude.leadingZeroBitCount
        let exponent = UInt16(max(0, length - 4))
        let code = exponent == 0 ? magnitude : exponent << 4 | (magnitude >> (exponent - 1) & 0xF)
        return UInt8(truncatingIfNeeded: sample < 0 ? code : code | 0x80) ^ 0x55
    }

    /// A-law, as 13 bits in the upper part of a sample.
    @inlinable public static func decodeA(_ byte: UInt8) -> Int16 {
        let code = Int16(byte ^ 0x55)
        let segment = code >> 4 & 7
        let step = (code & 0xF) << 4 + 8
        let magnitude = segment == 0 ? step : (step + 0x100) << (segment - 1)
        return code & 0x80 == 0 ? -magnitude : magnitude
    }
}
