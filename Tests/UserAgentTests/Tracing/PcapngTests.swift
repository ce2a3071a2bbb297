import Primitives
import Testing

@testable import UserAgent

/// Messages as packets of a file, and back.
@Suite struct PcapngTests {
    static let v4 = (local: SocketAddress("192.0.2.1:5060")!, remote: SocketAddress("198.51.100.7:40000")!)
    static let v6 = (local: SocketAddress("[2001:db8::1]:5061")!, remote: SocketAddress("[2001:db8::2]:5062")!)

    static let messages = [
        TracedMessage(.received, .udp, local: v4.local, remote: v4.remote, wall: 1_700_000_000_123_456_789, bytes: Array("INVITE 1".utf8)),
        TracedMessage(.sent, .tcp, local: v4.local, remote: v4.remote, wall: 1_700_000_000_123_456_790, bytes: Array("SIP/2.0 100 T".utf8)),
        TracedMessage(.sent, .tls, local: v6.local, remote: v6.remote, wall: 1_700_000_001_000_000_000, bytes: Array("BYE".utf8)),
        TracedMessage(.received, .tls, local: v6.local, remote: v6.remote, wall: 1_700_000_001_000_000_001, bytes: []),
    ]

    static let file = Pcapng.header(program: "test 1") + messages.flatMap(Pcapng.packet) + Pcapng.end(received: 6, dropped: 2, at: 5)

    private static func read(_ bytes: [UInt8], piece: Int? = nil) throws -> (messages: [TracedMessage], dropped: UInt64, rest: Int) {
        var reader = PcapngReader(), messages: [TracedMessage] = []
        for start in stride(from: 0, to: bytes.count, by: piece ?? bytes.count) {
            try reader.feed(Array(bytes[start..<min(bytes.count, start + (piece ?? bytes.count))])) { messages.append($0) }
        }
        return (messages, reader.dropped, reader.pendingBytes)
    }

    @Test(arguments: [nil, 1, 7, 100]) func `messages come back as they were, in pieces of any size`(piece: Int?) throws {
        let (messages, dropped, rest) = try Self.read(Self.file, piece: piece)
        #expect(messages == Self.messages && dropped == 2 && rest == 0)
    }

    @Test func `files that follow each other are read as one, and an unfinished block waits`() throws {
        let (messages, dropped, rest) = try Self.read(Self.file + Self.file + Pcapng.packet(Self.messages[0]).dropLast(3))
        #expect(messages == Self.messages + Self.messages && dropped == 4 && rest > 0)
    }

    @Test(arguments: ["", "INVITE sip:a SIP/2.0", "{\"kind\":\"gateway.started\"}"])
    func `what is no pcapng file is said to be none`(text: String) throws {
        guard !text.isEmpty else { #expect(try Self.read([0, 1]).messages.isEmpty); return }
        #expect(throws: PcapngReader.ReadError.noPcapng) { try Self.read(Array(text.utf8)) }
    }

    @Test func `a block whose lengths are not the same is damaged`() throws {
        var bytes = Self.file
        bytes[bytes.count - 4] ^= 1
        #expect(throws: PcapngReader.ReadError.self) { try Self.read(bytes) }
    }

    @Test func `the checksums of the headers are right`() {
        for message in Self.messages.prefix(3) {
            let payload = message.bytes[...]
            let headers = DatagramHeaders.make(from: message.source, to: message.destination, payload: payload, whole: payload.count)
            let isV4 = message.local.address.family == .v4, length = isV4 ? 20 : 40
            // A right checksum makes the sum all ones (RFC 1071), of the IP header and of the pseudo header with the datagram.
            if isV4 { #expect(Self.folded(headers[..<20]) == 0xFFFF) }
            let ends = isV4 ? headers[12..<20] : headers[8..<40]
            let datagram = headers[length...] + payload
            let pseudo = Array(ends) + [0, 17] + [UInt8(datagram.count >> 8), UInt8(datagram.count & 255)]
            #expect(Self.folded(pseudo + datagram) == 0xFFFF)
        }
    }

    private static func folded(_ bytes: some Collection<UInt8>) -> Int {
        var sum = 0
        for (index, byte) in bytes.enumerated() { sum += index % 2 == 0 ? Int(byte) << 8 : Int(byte) }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return sum
    }

    @Test func `a message that is longer than a datagram is cut`() throws {
        var long = Self.messages[1]
        long.bytes = [UInt8](repeating: 0x41, count: 70_000)
        let (messages, _, _) = try Self.read(Pcapng.header(program: "t") + Pcapng.packet(long))
        #expect(messages.map(\.bytes.count) == [65_507])
    }

    @Test func `media stands in a file with its whole length, and is no message`() throws {
        var packet = Self.messages[0]
        packet.mediaLength = 172
        let block = Pcapng.packet(packet), captured = 28 + packet.bytes.count
        #expect(block[20] == UInt8(captured) && block[24] == 28 + 172 && block[28 + 3] == 28 + 172, "captured, whole, and IP's length")
        #expect(block[28 + 25] == 8 + 172 && block[(28 + 26)..<(28 + 28)].elementsEqual([0, 0]), "UDP's length, and no checksum")
        #expect(try Self.read(Pcapng.header(program: "t") + block).messages.isEmpty)
        var reader = PcapngReader(readsMedia: true), found: [TracedMessage] = []
        try reader.feed(Pcapng.header(program: "t") + block + Pcapng.packet(Self.messages[1])) { found.append($0) }
        #expect(found == [packet, Self.messages[1]], "unless it is wanted")
    }

    @Test func `a HEP packet has the ends, the time, the Call-ID and the message`() throws {
        var message = Self.messages[0]
        message.bytes = Array("BYE sip:a SIP/2.0\r\ni: abc\r\n\r\n".utf8)
        let packet = try #require(HEPPacket.make(message, capture: 7))
        #expect(packet.starts(with: Array("HEP3".utf8)) && Int(packet.big16(at: 4)) == packet.count)
        var chunks: [UInt16: [UInt8]] = [:], place = 6
        while place < packet.count {
            let length = Int(packet.big16(at: place + 4))
            chunks[packet.big16(at: place + 2)] = Array(packet[(place + 6)..<(place + length)])
            place += length
        }
        #expect(chunks[1] == [2] && chunks[2] == [17] && chunks[11] == [1] && chunks[12] == [0, 0, 0, 7])
        #expect(chunks[3] == [198, 51, 100, 7] && chunks[4] == [192, 0, 2, 1] && chunks[7] == [0x9C, 0x40] && chunks[8] == [0x13, 0xC4])
        #expect(chunks[9] == [0x65, 0x53, 0xF1, 0x00] && chunks[10] == [0, 1, 0xE2, 0x40])
        #expect(chunks[17] == Array("abc".utf8) && chunks[15] == message.bytes)
        message.bytes = [UInt8](repeating: 0x41, count: 65_500)
        #expect(HEPPacket.make(message, capture: 7) == nil)
    }
}
