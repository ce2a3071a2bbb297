/// Carries key presses from a stream of one clock to a stream of another, packet by packet: the press keeps its beginning, its length and its
/// three ends, and gets the timestamps of the other stream (RFC 4733 §2.5.1).
public struct TelephoneEventConverter: Sendable {
    /// What leaves for one packet that came.
    public struct Packet: Hashable, Sendable {
        /// The first of a press: take a new timestamp (`RTPRewriter.beginEvent`) and set the marker.
        public var begins: Bool
        /// Ticks behind that timestamp: a long press goes on in a new segment (§2.5.1.3).
        public var segment: UInt32
        public var event: TelephoneEvent
    }

    private static let longestSegment = UInt64(UInt16.max)

    private struct Press: Sendable {
        var ssrc: UInt32
        var timestamp: UInt32
        var duration: UInt16
        /// Ticks of the segments before this one.
        var earlier: UInt64 = 0
        var isOver = false
    }

    public let incomingRate: UInt32, outgoingRate: UInt32
    private var press: Press?

    /// Whether a key is down; sound should wait meanwhile.
    public var isPressing: Bool { press.map { !$0.isOver } ?? false }

    public init(from incomingRate: UInt32, to outgoingRate: UInt32) {
        (self.incomingRate, self.outgoingRate) = (max(1, incomingRate), max(1, outgoingRate))
    }

    /// Nil for a payload that is no event, and for a late packet of an earlier press.
    public mutating func convert(_ payload: UnsafeRawBufferPointer, header: RTPHeader) -> Packet? {
        guard let event = TelephoneEvent(parsing: payload) else { return nil }
        let begins = follow(event, header)
        guard let current = press, current.timestamp == header.timestamp, current.ssrc == header.ssrc else { return nil }
        press?.duration = max(current.duration, event.duration)
        if event.isEnd { press?.isOver = true }
        let ticks = (current.earlier + UInt64(event.duration)) * UInt64(outgoingRate) / UInt64(incomingRate)
        let segment = ticks == 0 ? 0 : (ticks - 1) / Self.longestSegment * Self.longestSegment
        let converted = TelephoneEvent(event: event.event, isEnd: event.isEnd, volume: event.volume, duration: UInt16(ticks - segment))
        return Packet(begins: begins, segment: UInt32(truncatingIfNeeded: segment), event: converted)
    }

    /// No more of the press that is under way will come.
    public mutating func stop() { press?.isOver = true }

    /// True when the packet is the first of a press.
    private mutating func follow(_ event: TelephoneEvent, _ header: RTPHeader) -> Bool {
        guard let current = press, current.ssrc == header.ssrc else { return begin(event, header) }
        let ahead = timestampDistance(from: current.timestamp, to: header.timestamp)
        if ahead == Int64(UInt16.max), current.duration == .max, !current.isOver {
            press = Press(ssrc: header.ssrc, timestamp: header.timestamp, duration: 0, earlier: current.earlier + UInt64(UInt16.max))
            return false
        }
        return ahead > 0 || ahead < -Int64(incomingRate) * 2 ? begin(event, header) : false
    }

    private mutating func begin(_ event: TelephoneEvent, _ header: RTPHeader) -> Bool {
        press = Press(ssrc: header.ssrc, timestamp: header.timestamp, duration: event.duration)
        return true
    }
}
