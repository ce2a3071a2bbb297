import Primitives

extension RTCPPacket {
    /// Why bytes are no RTCP compound.
    public enum ParseError: Error, Hashable, Sendable {
        /// It ends within a packet.
        case truncated
        /// A packet is of another version than 2.
        case version
        /// A packet's counts do not fit its length.
        case malformed
        /// More than `greatestCount` packets.
        case tooMany
    }

    /// The most packets that one datagram may hold.
    public static let greatestCount = 32

    /// Whether the first packet has version 2, an RTCP type (192–223) and a length that fits: enough to tell media from noise.
    @inlinable public static func isPlausible(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard datagram.count >= 8, datagram[0] >> 6 == 2, datagram[1] >= 192, datagram[1] <= 223 else { return false }
        return 4 + 4 * Int(datagram.bigEndian16(at: 2)) <= datagram.count
    }

    /// Reads a datagram: a compound, or a single packet (RFC 5506). All of it must be good (RFC 3550 A.2).
    public static func parse(_ datagram: UnsafeRawBufferPointer) throws(ParseError) -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        var rest = Reader(bytes: datagram)
        repeat {
            guard packets.count < greatestCount else { throw .tooMany }
            packets.append(try parseOne(&rest))
        } while !rest.isEmpty
        return packets
    }

    private static func parseOne(_ reader: inout Reader) throws(ParseError) -> RTCPPacket {
        let first = try reader.byte()
        let type = try reader.byte()
        guard first >> 6 == 2 else { throw .version }
        var body = try reader.take(4 * Int(try reader.half()))
        if first & 0x20 != 0 { try body.dropPadding() }
        let count = Int(first & 0x1F)
        switch type {
        case 200:
            let ssrc = try body.word()
            let info = try senderInfo(&body)
            return .senderReport(ssrc: ssrc, info, try blocks(count, &body))
        case 201: return .receiverReport(ssrc: try body.word(), try blocks(count, &body))
        case 202: return .sourceDescription(try names(count, &body))
        case 203: return try goodbye(count, &body)
        case 207: return try extendedReport(&body) ?? .other(type: type)
        default: return .other(type: type)
        }
    }

    /// The first VoIP metrics among the blocks; nil when there are none.
    private static func extendedReport(_ body: inout Reader) throws(ParseError) -> RTCPPacket? {
        let ssrc = try body.word()
        var found: VoIPMetrics?
        while !body.isEmpty {
            let head = try body.word()
            var block = try body.take(4 * Int(head & 0xFFFF))
            guard head >> 24 == 7, UInt16(truncatingIfNeeded: head) == VoIPMetrics.words, found == nil else { continue }
            found = VoIPMetrics(try block.word(), reading: block.bytes)
        }
        return found.map { .extendedReport(ssrc: ssrc, $0) }
    }

    private static func senderInfo(_ body: inout Reader) throws(ParseError) -> SenderInfo {
        let (high, low) = (try body.word(), try body.word())
        return SenderInfo(
            ntp: UInt64(high) << 32 | UInt64(low), rtpTimestamp: try body.word(), packets: try body.word(), octets: try body.word())
    }

    private static func blocks(_ count: Int, _ body: inout Reader) throws(ParseError) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        for _ in 0..<count {
            let ssrc = try body.word()
            let loss = try body.word()
            blocks.append(
                ReportBlock(
                    ssrc: ssrc, fractionLost: UInt8(loss >> 24), cumulativeLost: Int32(bitPattern: loss << 8) >> 8,
                    highestSequence: try body.word(), jitter: try body.word(), lastSenderReport: try body.word(),
                    delaySinceSenderReport: try body.word()))
        }
        return blocks
    }

    private static func names(_ count: Int, _ body: inout Reader) throws(ParseError) -> [SourceName] {
        var names: [SourceName] = []
        for _ in 0..<count {
            let ssrc = try body.word()
            while let item = try body.item() {
                if item.type == 1 { names.append(SourceName(ssrc: ssrc, cname: Text(item.value))) }
            }
        }
        return names
    }

    private static func goodbye(_ count: Int, _ body: inout Reader) throws(ParseError) -> RTCPPacket {
        var sources: [UInt32] = []
        for _ in 0..<count { sources.append(try body.word()) }
        guard !body.isEmpty else { return .goodbye(sources, reason: nil) }
        let length = Int(try body.byte())
        return .goodbye(sources, reason: Text(Array(try body.take(length).bytes)))
    }

    /// Takes bytes off the front, all checks in one place.
    private struct Reader {
        var bytes: UnsafeRawBufferPointer
        /// For the alignment of SDES chunks.
        var consumed = 0

        init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        var isEmpty: Bool { bytes.isEmpty }

        mutating func take(_ count: Int) throws(ParseError) -> Reader {
            guard count <= bytes.count else { throw .truncated }
            defer { drop(count) }
            return Reader(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }

        mutating func byte() throws(ParseError) -> UInt8 {
            guard let first = bytes.first else { throw .truncated }
            drop(1)
            return first
        }

        mutating func half() throws(ParseError) -> UInt16 {
            guard bytes.count >= 2 else { throw .truncated }
            defer { drop(2) }
            return bytes.bigEndian16(at: 0)
        }

        mutating func word() throws(ParseError) -> UInt32 {
            guard bytes.count >= 4 else { throw .malformed }
            defer { drop(4) }
            return bytes.bigEndian32(at: 0)
        }

        /// One SDES item; nil at the end of the chunk, whose padding to a word is then taken (RFC 3550 §6.5).
        mutating func item() throws(ParseError) -> (type: UInt8, value: [UInt8])? {
            let type = try byte()
            if type == 0 {
                while consumed % 4 != 0, !isEmpty { drop(1) }
                return nil
            }
            let length = Int(try byte())
            return (type, Array(try take(length).bytes))
        }

        mutating func dropPadding() throws(ParseError) {
            guard let padding = bytes.last, padding > 0, Int(padding) <= bytes.count else { throw .malformed }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast(Int(padding)))
        }

        private mutating func drop(_ count: Int) {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count))
            consumed += count
        }
    }
}
