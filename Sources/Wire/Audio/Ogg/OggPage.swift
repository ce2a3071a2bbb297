/// One page of an Ogg stream (RFC 3533 §6).
struct OggPage {
    /// The first packet on it began on an earlier page.
    var isContinued = false
    /// The first and the last page of its logical stream.
    var begins = false, ends = false
    /// The position of the stream after the last packet that ends on the page, in its own units; -1 where none does.
    var granule: Int64 = -1
    var serial: UInt32
    var sequence: UInt32
    /// Bytes of each segment; one of less than 255 ends a packet.
    var lacing: ArraySlice<UInt8> = []
    var body: ArraySlice<UInt8> = []

    static let headerSize = 27
    private static let pattern = Array("OggS".utf8)

    init(serial: UInt32, sequence: UInt32) { (self.serial, self.sequence) = (serial, sequence) }

    /// Reads the page that begins where `bytes` do; nil where there is none that is whole and has its checksum.
    init?(parsing bytes: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        guard bytes.count >= Self.headerSize, bytes.starts(with: Self.pattern), bytes[start + 4] == 0 else { return nil }
        let segments = start + Self.headerSize, contents = segments + Int(bytes[start + 26])
        guard contents <= bytes.endIndex else { return nil }
        lacing = bytes[segments..<contents]
        let length = lacing.reduce(0) { $0 + Int($1) }
        guard contents + length <= bytes.endIndex else { return nil }
        body = bytes[contents..<contents + length]
        guard Self.checksum(of: bytes[start..<body.endIndex]) == Self.word(bytes, start + 22) else { return nil }
        let flags = bytes[start + 5]
        (isContinued, begins, ends) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        granule = Int64(bitPattern: UInt64(Self.word(bytes, start + 6)) | UInt64(Self.word(bytes, start + 10)) << 32)
        (serial, sequence) = (Self.word(bytes, start + 14), Self.word(bytes, start + 18))
    }

    /// From the start of the page to behind its body.
    var size: Int { Self.headerSize + lacing.count + body.count }

    func serialized() -> [UInt8] {
        var page = Self.pattern + [0, (isContinued ? 1 : 0) | (begins ? 2 : 0) | (ends ? 4 : 0)]
        page.reserveCapacity(size)
        for shift in stride(from: 0, to: 64, by: 8) { page.append(UInt8(truncatingIfNeeded: granule >> Int64(shift))) }
        page += bytes(serial) + bytes(sequence) + [0, 0, 0, 0, UInt8(lacing.count)] + lacing + body
        page.replaceSubrange(22..<26, with: bytes(Self.checksum(of: page[...])))
        return page
    }

    /// The beginning of the next page in `bytes`, at `start` or behind it.
    static func search(_ bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + headerSize <= bytes.count {
            if bytes[index] == pattern[0], bytes[index..<index + 4].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }

    /// The page's CRC, with its own field taken as zero (polynomial 0x04C11DB7, not reflected).
    private static func checksum(of page: ArraySlice<UInt8>) -> UInt32 {
        let field = page.startIndex + 22, table = table
        var sum: UInt32 = 0
        for index in page.indices {
            let byte = index >= field && index < field + 4 ? 0 : page[index]
            sum = sum << 8 ^ table[Int(UInt8(sum >> 24) ^ byte)]
        }
        return sum
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { sum, _ in sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7 }
    }

    private static func word(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << (8 * UInt32($1)) }
    }
}

private func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
