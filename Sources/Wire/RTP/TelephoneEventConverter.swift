/// Carries key presses from a stream of one clock to a stream of another, packet by packet: the press keeps its beginning, its length and
/// its three ends, and gets the timestamps of the other stream (RFC 4733 §2.5.1).
public struct TelephoneEventConverter: Sendable {
    /// A packet that leaves for one that came.
    public struct Packet: Hashable, Sendable {
        /// The first of a press: take a new timestamp (`RTPRewriter.beginEvent`) and set the marker.
        public var begins: Bool
        /// Ticks behind that timestamp: a long press goes on in a new segment, after a packet that says that the last one is full
        /// (§2.5.1.3).
        public var segment: UInt32
        /// The payload, in ticks of the clock that leaves.
        public var event: TelephoneEvent
    }

    private static let longestSegment = UInt64(UInt16.max)

    private struct Press: Sendable {
        var event: UInt8
        var ssrc: UInt32
        var timestamp: UInt32
        /// Ticks of the segments before this one, as they come and as they leave.
        var earlier: UInt64 = 0
        var segment: UInt64 = 0
        var isOver = false
    }

    /// Ticks per second of the events that come, and of those that leave.
    public let incomingRate: UInt32, outgoingRate: UInt32
    private var press: Press?

    /// Whether a key is down; sound should wait meanwhile.
    public var isPressing: Bool { press.map { !$0.isOver } ?? false }

    /// - Parameters: the clock rates of both legs in Hz; 0 counts as 1.
    public init(from incomingRate: UInt32, to outgoingRate: UInt32) {
        (self.incomingRate, self.outgoingRate) = (max(1, incomingRate), max(1, outgoingRate))
    }

    /// Gives none for a payload that is no event or for a late packet of an earlier press, two where a new segment begins, and else one.
    public mutating func convert(_ payload: UnsafeRawBufferPointer, header: RTPHeader, _ output: (Packet) -> Void) {
        guard let event = TelephoneEvent(parsing: payload) else { return }
        var begins = follow(event, header)
        guard var current = press, current.timestamp == header.timestamp, current.ssrc == header.ssrc else { return }
        let ticks = (current.earlier + UInt64(event.duration)) &* UInt64(outgoingRate) / UInt64(incomingRate)
        let segment = ticks == 0 ? 0 : (ticks - 1) / Self.longestSegment * Self.longestSegment
        func make(_ segment: UInt64, isEnd: Bool, _ duration: UInt64) {
            let made = TelephoneEvent(event: event.event, isEnd: isEnd, volume: event.volume, duration: UInt16(duration))
            output(Packet(begins: begins, segment: UInt32(truncatingIfNeeded: segment), event: made))
            begins = false
        }
        if segment > current.segment { make(segment - Self.longestSegment, isEnd: false, Self.longestSegment) }
        make(segment, isEnd: event.isEnd, ticks - segment)
        current.segment = max(current.segment, segment)
        current.isOver = current.isOver || event.isEnd
        press = current
    }

    /// Whether a packet is of the press that was converted last, or comes while its key is down.
    public func knows(_ header: RTPHeader) -> Bool {
        guard let press, press.ssrc == header.ssrc else { return false }
        return !press.isOver || press.timestamp == header.timestamp
    }

    /// No more of the press that is under way will come.
    public mutating func stop() { press?.isOver = true }

    /// True when the packet is the first of a press.
    private mutating func follow(_ event: TelephoneEvent, _ header: RTPHeader) -> Bool {
        guard let current = press, current.ssrc == header.ssrc else { return begin(event, header) }
        let ahead = timestampDistance(from: current.timestamp, to: header.timestamp)
        if ahead == Int64(UInt16.max), current.event == event.event, !current.isOver {   // also where the full packet was lost
            press?.timestamp = header.timestamp
            press?.earlier += Self.longestSegment
            return false
        }
        return ahead > 0 || ahead < -Int64(incomingRate) * 2 ? begin(event, header) : false
    }

    private mutating func begin(_ event: TelephoneEvent, _ header: RTPHeader) -> Bool {
        press = Press(event: event.event, ssrc: header.ssrc, timestamp: header.timestamp)
        return true
    }
}
