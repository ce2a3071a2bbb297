/// L16: 16-bit samples in network byte order (RFC 3551 §4.5.11).
enum L16 {
    /// `payload` must hold two bytes for each sample.
    static func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) {
        for index in 0..<samples.count {
            let value = UInt16(bitPattern: samples[index])
            payload[2 * index] = UInt8(value >> 8)
            payload[2 * index + 1] = UInt8(truncatingIfNeeded: value)
        }
    }

    /// `payload` must hold two bytes for each of the `count` samples.
    static func decode(_ payload: Span<UInt8>, count: Int, into samples: inout MutableSpan<Int16>) {
        for index in 0..<count { samples[index] = Int16(bitPattern: UInt16(payload[2 * index]) << 8 | UInt16(payload[2 * index + 1])) }
    }
}
