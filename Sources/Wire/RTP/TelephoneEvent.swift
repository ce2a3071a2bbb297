/// A key of a telephone: 0–9, *, #, A–D, as events 0 to 15 (RFC 4733 §3.2).
public struct DTMFDigit: Hashable, Sendable, CustomStringConvertible {
    /// 0 to 15.
    public let event: UInt8

    /// nil above 15: other events are no digits.
    @inlinable public init?(event: UInt8) {
        guard event < 16 else { return nil }
        self.event = event
    }

    /// Letters in either case.
    public init?(_ character: Character) {
        guard let upper = character.uppercased().first, let place = Self.characters.firstIndex(of: upper) else { return nil }
        event = UInt8(place)
    }

    /// `0` to `9`, `*`, `#`, `A` to `D`.
    public var character: Character { Self.characters[Int(event)] }
    public var description: String { String(character) }

    private static let characters: [Character] = Array("0123456789*#ABCD")
}

/// The payload of a telephone-event packet (RFC 4733 §2.3). Only the first event of a packet is read.
public struct TelephoneEvent: Hashable, Sendable {
    /// Bytes of the payload.
    public static let size = 4

    /// 0 to 15 for keys; others are tones and states of a line (RFC 4733 §3).
    public var event: UInt8
    /// The last packet of the event, which is sent three times (RFC 4733 §2.5.1.4).
    public var isEnd: Bool
    /// Below 0 dBm0: 0 to 63.
    public var volume: UInt8
    /// Ticks since the event's timestamp.
    public var duration: UInt16

    /// - Parameter volume: more than 63 counts as 63.
    @inlinable public init(event: UInt8, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        (self.event, self.isEnd, self.volume, self.duration) = (event, isEnd, min(volume, 63), duration)
    }

    /// nil when shorter than four bytes.
    @inlinable public init?(parsing payload: UnsafeRawBufferPointer) {
        guard payload.count >= Self.size else { return nil }
        self.init(event: payload[0], isEnd: payload[1] & 0x80 != 0, volume: payload[1] & 0x3F, duration: payload.bigEndian16(at: 2))
    }

    /// Writes four bytes, which must be there.
    @inlinable public func write(to payload: UnsafeMutableRawBufferPointer) {
        precondition(payload.count >= Self.size, "no room for an event")
        payload[0] = event
        payload[1] = (isEnd ? 0x80 : 0) | volume
        payload.storeBigEndian(duration, at: 2)
    }
}
