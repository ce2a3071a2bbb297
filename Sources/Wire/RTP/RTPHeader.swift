import Primitives

/// A 16-bit RTP sequence number (RFC 3550 §5.1), which wraps.
public struct SequenceNumber: Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt16

    /// The number on the wire.
    @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The distance to `other`, positive when it is ahead, −32768 to 32767, the short way round.
    @inlinable public func distance(to other: Self) -> Int { Int(Int16(bitPattern: other.rawValue &- rawValue)) }

    /// So many packets later; wraps.
    @inlinable public static func &+ (number: Self, amount: UInt16) -> Self { Self(number.rawValue &+ amount) }
}

/// The fixed header of an RTP packet (RFC 3550 §5.1) and where its payload is.
public struct RTPHeader: Hashable, Sendable {
    /// Why bytes are no RTP packet.
    public enum ParseError: Error, Hashable, Sendable {
        /// It ends within the header.
        case truncated
        /// Not version 2, the only one.
        case version
        /// The padding is longer than the payload, or empty.
        case padding
    }

    /// The size of a header without CSRCs and extension, which is what we make.
    public static let fixedSize = 12

    /// The first packet after silence, or of an event (RFC 3551 §4.1, RFC 4733 §2.5.1).
    public var marker: Bool
    /// 0 to 127; by the session description.
    public var payloadType: UInt8
    /// One more with each packet.
    public var sequence: SequenceNumber
    /// In the codec's clock; wraps.
    public var timestamp: UInt32
    /// Names the source within the session.
    public var ssrc: UInt32
    /// From the start of the packet: behind CSRCs and extension.
    public let payloadOffset: Int
    /// Bytes, padding excluded.
    public let payloadCount: Int

    /// A header to write before `payloadCount` bytes. The payload type must be below 128.
    @inlinable public init(
        payloadType: UInt8, sequence: SequenceNumber, timestamp: UInt32, ssrc: UInt32, marker: Bool = false, payloadCount: Int = 0
    ) {
        precondition(payloadType < 128, "a payload type has seven bits")
        (self.payloadType, self.sequence, self.timestamp, self.ssrc, self.marker) = (payloadType, sequence, timestamp, ssrc, marker)
        (payloadOffset, self.payloadCount) = (Self.fixedSize, payloadCount)
    }

    /// Reads the header of a whole datagram and checks that CSRCs, extension and padding fit in it.
    @inlinable public init(parsing packet: UnsafeRawBufferPointer) throws(ParseError) {
        guard packet.count >= Self.fixedSize else { throw .truncated }
        let first = packet[0]
        guard first >> 6 == 2 else { throw .version }
        var offset = Self.fixedSize + 4 * Int(first & 0x0F)
        if first & 0x10 != 0 {
            guard packet.count >= offset + 4 else { throw .truncated }
            offset += 4 + 4 * Int(packet.bigEndian16(at: offset + 2))
        }
        guard packet.count >= offset else { throw .truncated }
        var end = packet.count
        if first & 0x20 != 0 {
            let padding = Int(packet[end - 1])
            guard padding > 0, padding <= end - offset else { throw .padding }
            end -= padding
        }
        marker = packet[1] & 0x80 != 0
        payloadType = packet[1] & 0x7F
        sequence = SequenceNumber(packet.bigEndian16(at: 2))
        timestamp = packet.bigEndian32(at: 4)
        ssrc = packet.bigEndian32(at: 8)
        (payloadOffset, payloadCount) = (offset, end - offset)
    }

    /// Writes a header without CSRCs, extension and padding into the first twelve bytes, which must be there.
    @inlinable public func write(to packet: UnsafeMutableRawBufferPointer) {
        precondition(packet.count >= Self.fixedSize, "no room for an RTP header")
        packet[0] = 0x80
        overwriteFields(of: packet)
    }

    /// Writes all but the first byte: CSRCs, extension and padding of a relayed packet stay as they are.
    @inlinable func overwriteFields(of packet: UnsafeMutableRawBufferPointer) {
        packet[1] = (marker ? 0x80 : 0) | payloadType
        packet.storeBigEndian(sequence.rawValue, at: 2)
        packet.storeBigEndian(timestamp, at: 4)
        packet.storeBigEndian(ssrc, at: 8)
    }
}

/// The kind of a datagram on a media socket, by its first two bytes.
public enum MediaPacketKind: Hashable, Sendable {
    /// Version 2, told apart by the payload type.
    case rtp, rtcp
    /// STUN, DTLS or noise (RFC 7983 §7).
    case other

    /// RTCP where the seven-bit payload type is 64 to 95 (RFC 5761 §4). Looks no further than that.
    @inlinable public init(_ packet: UnsafeRawBufferPointer) {
        guard packet.count >= 8, packet[0] >> 6 == 2 else {
            self = .other
            return
        }
        let type = packet[1] & 0x7F
        self = type >= 64 && type <= 95 ? .rtcp : packet.count >= RTPHeader.fixedSize ? .rtp : .other
    }
}

extension UnsafeRawBufferPointer {
    /// The caller has checked that the bytes are there; debug builds check again.
    @inlinable func bigEndian16(at offset: Int) -> UInt16 { UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
    @inlinable func bigEndian32(at offset: Int) -> UInt32 { UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
}

extension UnsafeMutableRawBufferPointer {
    @inlinable func storeBigEndian(_ value: UInt16, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }
    @inlinable func storeBigEndian(_ value: UInt32, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    }
}

extension Instant {
    /// The instant on an RTP clock of that rate; wraps.
    @inlinable func ticks(_ clockRate: UInt32) -> UInt32 {
        let seconds = (nanoseconds / 1_000_000_000) &* UInt64(clockRate)
        let rest = (nanoseconds % 1_000_000_000) * UInt64(clockRate) / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds &+ rest)
    }

    /// Ticks of an RTP clock since an earlier instant; wraps, and 0 when that is not earlier.
    @inlinable func ticks(_ clockRate: UInt32, since earlier: Instant) -> UInt32 {
        self > earlier ? Instant(nanoseconds: nanoseconds - earlier.nanoseconds).ticks(clockRate) : 0
    }
}

/// The distance from a wrapping RTP timestamp to a later one, the short way round.
@inlinable func timestampDistance(from earlier: UInt32, to later: UInt32) -> Int64 { Int64(Int32(bitPattern: later &- earlier)) }
