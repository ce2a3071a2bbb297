import CZlib

/// Content in the coding gzip (RFC 1952, RFC 9110 §8.4.1.3).
public enum Gzip {
    /// Compresses content, with more weight on speed than on length.
    ///
    /// - Returns: nil where it would not become shorter, and for a gigabyte or more.
    public static func compressed(_ content: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // Sixteen more than the size of the window asks for the head and the tail of gzip.
        let status = deflateInit2_(
            &stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        guard content.count < 1 << 30 else { return nil }
        let compressed = [UInt8](unsafeUninitializedCapacity: content.count) { room, count in
            content.withUnsafeBufferPointer { source in
                (stream.next_in, stream.avail_in) = (UnsafeMutablePointer(mutating: source.baseAddress), UInt32(source.count))
                (stream.next_out, stream.avail_out) = (room.baseAddress, UInt32(room.count))
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? room.count - Int(stream.avail_out) : 0
            }
        }
        return compressed.isEmpty ? nil : compressed
    }
}
