import Primitives

/// One SIP message as it came in or left, decrypted where it went over TLS; or a packet of RTP or RTCP.
public struct TracedMessage: Hashable, Sendable {
    /// Seen from here.
    public enum Direction: Hashable, Sendable { case received, sent }

    public var direction: Direction
    /// UDP, TCP or TLS.
    public var transport: Transport
    /// Our end.
    public var local: SocketAddress
    /// The peer's end.
    public var remote: SocketAddress
    /// Nanoseconds since 1970-01-01 UTC.
    public var wall: UInt64
    /// The whole message; of a media packet what is kept of it.
    public var bytes: [UInt8]
    /// The length of a media packet, which is no message; nil for a message.
    public var mediaLength: Int?

    /// - Parameter wall: nanoseconds since 1970-01-01 UTC.
    public init(
        _ direction: Direction, _ transport: Transport, local: SocketAddress, remote: SocketAddress, wall: UInt64, bytes: [UInt8]
    ) {
        (self.direction, self.transport, self.local, self.remote) = (direction, transport, local, remote)
        (self.wall, self.bytes) = (wall, bytes)
    }

    /// The address that it was sent from.
    public var source: SocketAddress { direction == .sent ? local : remote }
    /// The address that it was sent to.
    public var destination: SocketAddress { direction == .sent ? remote : local }

    /// The value of Call-ID, found without reading the message: also of one that is malformed. nil where there is none.
    public var callID: Text? {
        for line in bytes.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let name = Text(line[..<colon]).trimmed
            if name.equalsIgnoringCase("call-id") || name.equalsIgnoringCase("i") { return Text(line[(colon + 1)...]).trimmed }
        }
        return nil
    }

    /// The first line, as it came.
    public var firstLine: Text { Text(bytes.prefix { $0 != 0x0D && $0 != 0x0A }) }
}

/// Sees every message of ``Transports`` as it comes in and leaves. Called on their lane: it must not block.
public protocol MessageTap: AnyObject {
    /// - Parameter flow: what it came or goes over; where it goes over a connection, that of the connection.
    func note(_ direction: TracedMessage.Direction, _ bytes: [UInt8], over flow: Flow)
}
