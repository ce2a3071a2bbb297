/// Judges what the server sends to media ports of ours, by its first byte (RFC 7983 §7).
enum MediaJudge {
    /// - Throws: `Broken` for what is neither RTP or RTCP, nor DTLS, nor STUN.
    static func drain(_ socket: DatagramSocket) throws {
        while let datagram = socket.receive() {
            if !isMedia(datagram.bytes) { throw Broken("the server sent what is no media:\n\(InputLog.hexadecimal(datagram.bytes))") }
        }
    }

    private static func isMedia(_ bytes: [UInt8]) -> Bool {
        switch bytes.first ?? 255 {
        case 0...3: bytes.count >= 20 && bytes[4..<8].elementsEqual([0x21, 0x12, 0xA4, 0x42]) && bytes.count - 20 == word(bytes, 2)
        case 20...63: bytes.count >= 13 && bytes.count >= 13 + word(bytes, 11)
        case 128...191: bytes.count >= 8
        default: false
        }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
}
