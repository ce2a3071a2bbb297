import CZlib
import Testing

@testable import HTTP

@Suite struct ContentCodingTests {
    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("x-gzip", true), ("deflate, gzip", true), ("br", false),
            ("gzip;q=0", false), ("gzip;q=0.000", false), ("gzip;q=0.001", true), ("gzip; Q=0.5", true), ("gzip ;q=1.000", true),
            ("*", true),
            ("*;q=0", false), ("gzip;q=0, *", false), ("br, *;q=0.1", true), ("identity, gzip;q=0.5", false),
            ("identity;q=0.5, gzip;q=0.5", true), ("identity;q=0, gzip;q=0.1", true), ("gzip;q=1.5", false), ("gzip;q=0.0001", false),
            ("gzip;q=", false), ("gzip;q=-1", false), (";,,;q=1,gzip", true), ("gzip;level=9", true), ("gzipped", false),
        ] as [(String?, Bool)])
    func `gzip is taken where it is wanted as much as nothing`(field: String?, isTaken: Bool) {
        #expect(AcceptedCodings.takesGzip(field) == isTaken, "\(field ?? "-")")
    }

    @Test(arguments: [1_024, 100_000, 3_000_000]) func `what is compressed is the same when it is expanded`(length: Int) throws {
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 % 97 ^ $0 / 4_096) }
        let compressed = try #require(Gzip.compressed(content))
        #expect(compressed.count < content.count / 4 && compressed.prefix(2) == [0x1F, 0x8B])
        #expect(Self.expand(compressed, to: length) == content)
    }

    @Test func `what would become longer stays as it is`() {
        var random = SystemRandomNumberGenerator()
        #expect(Gzip.compressed([]) == nil && Gzip.compressed([1, 2, 3]) == nil)
        #expect(Gzip.compressed((0..<5_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }) == nil)
    }

    private static func expand(_ compressed: [UInt8], to length: Int) -> [UInt8] {
        var stream = z_stream(), source = compressed
        guard inflateInit2_(&stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return [] }
        defer { inflateEnd(&stream) }
        return [UInt8](unsafeUninitializedCapacity: length + 1) { room, count in
            source.withUnsafeMutableBufferPointer { source in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (room.baseAddress, UInt32(room.count))
                count = inflate(&stream, Z_FINISH) == Z_STREAM_END ? room.count - Int(stream.avail_out) : 0
            }
        }
    }
}
