import Primitives

/// Messages as packets of a pcapng file, for Wireshark, tshark and sngrep.
///
/// Each message is a UDP datagram of its own over made-up IP headers, also one that went over TCP or TLS: those have a comment, `tcp` or
/// `tls`, and packets of media have the comment `rtp`. The packet's flags say which way it went. Blocks are little-endian, times in
/// nanoseconds. There is one interface: of a file with several sngrep reads nothing.
public enum Pcapng {
    static let section: UInt32 = 0x0A0D_0D0A, byteOrder: UInt32 = 0x1A2B_3C4D
    static let interface: UInt32 = 1, statistics: UInt32 = 5, packet: UInt32 = 6
    /// The comment of what is no message.
    static let media: Text = "rtp"
    /// Packets that begin with an IP header.
    static let linkType: UInt16 = 101

    /// The beginning of a file.
    /// - Parameter program: the program that wrote it, with its version.
    public static func header(program: String) -> [UInt8] {
        var section: [UInt8] = []
        section.append(little: byteOrder)
        section.append(little: 1 as UInt32)   // version 1.0
        section += [UInt8](repeating: 0xFF, count: 8)   // of unknown length
        section.append(option: 4, Array(program.utf8))
        section.append(option: 0, [])
        var description: [UInt8] = []
        description.append(little: UInt32(linkType))
        description.append(little: 0 as UInt32)   // packets of any length
        description.append(option: 2, Array("sip".utf8))
        description.append(option: 9, [9])   // 10⁻⁹ s
        description.append(option: 0, [])
        return block(Self.section, section) + block(interface, description)
    }

    /// A packet. What does not fit into a datagram is cut off, and its length is that of the whole.
    public static func packet(_ message: TracedMessage) -> [UInt8] {
        let payload = message.bytes.prefix(DatagramHeaders.longestPayload)
        let length = message.mediaLength ?? message.bytes.count
        let headers = DatagramHeaders.make(
            from: message.source, to: message.destination, payload: payload, whole: message.mediaLength ?? payload.count)
        let captured = headers.count + payload.count
        var body: [UInt8] = []
        body.reserveCapacity(captured + 48)
        body.append(little: 0 as UInt32)
        body.append(littleTime: message.wall)
        body.append(little: UInt32(captured))
        body.append(little: UInt32(headers.count + length))
        body += headers
        body += payload
        body.pad()
        if message.mediaLength != nil {
            body.append(option: 1, Array(media.bytes))
        } else if message.transport != .udp {
            body.append(option: 1, Array(message.transport.text.bytes))
        }
        body.append(option: 2, [message.direction == .received ? 1 : 2, 0, 0, 0])
        body.append(option: 0, [])
        return block(Self.packet, body)
    }

    /// The end of a file: the number of messages that came, and the number of those that are not in the file.
    /// - Parameter wall: nanoseconds since 1970-01-01 UTC.
    public static func end(received: UInt64, dropped: UInt64, at wall: UInt64) -> [UInt8] {
        var body: [UInt8] = []
        body.append(little: 0 as UInt32)
        body.append(littleTime: wall)
        body.append(option: 4, received.littleEndianBytes)
        body.append(option: 5, dropped.littleEndianBytes)
        body.append(option: 0, [])
        return block(statistics, body)
    }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(body.count + 12)
        block.append(little: type)
        block.append(little: UInt32(body.count + 12))
        block += body
        block.append(little: UInt32(body.count + 12))
        return block
    }
}

extension UInt64 {
    fileprivate var littleEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * UInt64($0))) } }
}

extension [UInt8] {
    fileprivate mutating func append(little value: UInt32) {
        for shift in 0..<4 { append(UInt8(truncatingIfNeeded: value >> (8 * UInt32(shift)))) }
    }

    /// The high half goes first.
    fileprivate mutating func append(littleTime time: UInt64) {
        append(little: UInt32(time >> 32))
        append(little: UInt32(truncatingIfNeeded: time))
    }

    fileprivate mutating func append(option code: UInt8, _ value: [UInt8]) {
        self += [code, 0, UInt8(truncatingIfNeeded: value.count), UInt8(truncatingIfNeeded: value.count >> 8)]
        self += value
        pad()
    }

    /// To a multiple of four: blocks and options both.
    fileprivate mutating func pad() { while count % 4 != 0 { append(0) } }
}
