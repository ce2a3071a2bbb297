import Primitives

/// A message as a packet of HEP version 3, for Homer and sngrep.
public enum HEPPacket {
    /// The longest packet: its length has 16 bits.
    public static let longest = 65_535

    /// - Parameter capture: the number of this capturing agent.
    /// - Returns: nil for a message that does not fit.
    public static func make(_ message: TracedMessage, capture: UInt32) -> [UInt8]? {
        let family = message.destination.address.family
        var packet: [UInt8] = Array("HEP3".utf8) + [0, 0]
        packet.append(chunk: 1, [family == .v4 ? 2 : 10])
        packet.append(chunk: 2, [message.transport == .udp ? 17 : 6])
        for (kind, end) in zip(family == .v4 ? [3, 4] as [UInt16] : [5, 6], [message.source, message.destination]) {
            packet.append(chunk: kind, DatagramHeaders.octets(of: end.address, family))
        }
        for (kind, end) in zip([7, 8] as [UInt16], [message.source, message.destination]) {
            packet.append(chunk: kind, [UInt8(end.port >> 8), UInt8(truncatingIfNeeded: end.port)])
        }
        packet.append(chunk: 9, number: UInt32(truncatingIfNeeded: message.wall / 1_000_000_000))
        packet.append(chunk: 10, number: UInt32(message.wall / 1_000 % 1_000_000))
        packet.append(chunk: 11, [1])   // SIP
        packet.append(chunk: 12, number: capture)
        if let callID = message.callID, callID.count < 1_024 { packet.append(chunk: 17, Array(callID.bytes)) }
        guard packet.count + 6 + message.bytes.count <= longest else { return nil }
        packet.append(chunk: 15, message.bytes)
        packet.replaceSubrange(4..<6, with: [UInt8(packet.count >> 8), UInt8(truncatingIfNeeded: packet.count)])
        return packet
    }
}

extension [UInt8] {
    /// Appends a chunk of the vendor 0, which all know; the length counts its own six bytes.
    fileprivate mutating func append(chunk kind: UInt16, _ value: [UInt8]) {
        append(big: 0 as UInt16)
        append(big: kind)
        append(big: UInt16(value.count + 6))
        self += value
    }

    fileprivate mutating func append(chunk kind: UInt16, number: UInt32) {
        var bytes: [UInt8] = []
        bytes.append(big: number)
        append(chunk: kind, bytes)
    }
}
