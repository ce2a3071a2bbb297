import Primitives

/// Plays key presses as telephone-event packets (RFC 4733 §2.5.1): one every 20 ms, the marker on the first, the
/// duration growing, the end sent three times.
///
/// The caller writes each packet under the header that `RTPRewriter` gives, all of one press with one timestamp.
public struct TelephoneEventSender: Sendable {
    /// A packet that is due.
    public struct Packet: Hashable, Sendable {
        /// The first of a press: take a new timestamp (`RTPRewriter.beginEvent`) and set the marker.
        public var begins: Bool
        /// Ticks behind that timestamp: a long press goes on in a new segment, after a packet that says that the last one is full (RFC 4733
        /// §2.5.1.3).
        public var segment: UInt32 = 0
        /// Its payload.
        public var event: TelephoneEvent
    }

    /// Digits that may wait.
    public static let capacity = 64
    private static let interval = Duration.milliseconds(20)
    private static let endPackets = 3
    private static let longestSegment = UInt64(UInt16.max)
    /// 5 s: a key that nobody releases is over by then.
    private static let mostPackets = 250

    /// The time that a key is held where nobody says it, and the silence after it.
    public static let usualPress = Duration.milliseconds(160), usualPause = Duration.milliseconds(80)

    private enum State: Sendable {
        case idle
        /// Between presses; the next may begin at that time.
        case pausing(until: Instant)
        case pressing(Press)
    }

    private struct Press: Sendable {
        var digit: DTMFDigit
        /// Packets of it; nil while it is held.
        var length: Int?
        var sent = 0
        var ends = 0
        /// Ticks of the segments before this one.
        var segment: UInt64 = 0
        var due: Instant
    }

    /// Ticks per second of the events.
    public let clockRate: UInt32
    private let packetsPerPress: Int
    private let pause: Duration
    /// With their lengths in packets; nil for one that is held until its release.
    private var waiting: [(digit: DTMFDigit, length: Int?)] = []
    private var state = State.idle

    /// - Parameters:
    ///   - press: how long each key is held: 40 ms to 1 s, in steps of 20 ms.
    ///   - pause: the silence after it; at least 40 ms (RFC 4733 §2.5.1.4 leaves it to the sender, Q.24 asks for 40).
    public init(clockRate: UInt32, press: Duration = usualPress, pause: Duration = usualPause) {
        self.clockRate = clockRate
        packetsPerPress = Int(min(max(press, .milliseconds(40)), .seconds(1)).wholeMilliseconds / 20)
        self.pause = max(pause, .milliseconds(40))
    }

    /// Whether a key is down; sound should wait meanwhile.
    public var isPressing: Bool { if case .pressing = state { true } else { false } }
    /// Whether no key is down, and none waits.
    public var isIdle: Bool { waiting.isEmpty && { if case .idle = state { true } else { false } }() }

    /// When `advance` has something to do; nil while there is nothing to play.
    public var deadline: Instant? {
        switch state {
        case .idle: nil
        case .pausing(let until): until
        case .pressing(let press): press.due
        }
    }

    /// Plays the digit now or behind those that wait; false when the queue is full.
    /// - Parameter length: how long the key is held, 40 ms to 5 s in steps of 20 ms; nil: as long as usual.
    public mutating func enqueue(_ digit: DTMFDigit, lasting length: Duration? = nil, at now: Instant) -> Bool {
        enqueue(
            digit, packets: length.map { Int(min(max($0, .milliseconds(40)), .seconds(5)).wholeMilliseconds / 20) } ?? packetsPerPress,
            at: now)
    }

    /// The same with a key that is held until `release`, for 5 s at most.
    public mutating func press(_ digit: DTMFDigit, at now: Instant) -> Bool { enqueue(digit, packets: nil, at: now) }

    /// The key that is held is down no more: its end is due next. One that still waits is as long as others are.
    public mutating func release() {
        if case .pressing(var press) = state, press.length == nil {
            press.length = max(press.sent, 2)
            state = .pressing(press)
        } else if let index = waiting.firstIndex(where: { $0.length == nil }) {
            waiting[index].length = packetsPerPress
        }
    }

    private mutating func enqueue(_ digit: DTMFDigit, packets: Int?, at now: Instant) -> Bool {
        guard waiting.count < Self.capacity else { return false }
        waiting.append((digit, packets))
        if case .idle = state { state = .pausing(until: now) }
        return true
    }

    /// The packet that is due; nil when none is. Call until it is nil.
    public mutating func advance(to now: Instant) -> Packet? {
        switch state {
        case .idle: return nil
        case .pausing(let until):
            guard now >= until else { return nil }
            guard !waiting.isEmpty else {
                state = .idle
                return nil
            }
            let (digit, length) = waiting.removeFirst()
            return step(Press(digit: digit, length: length, due: now), at: now)
        case .pressing(let press): return now >= press.due ? step(press, at: now) : nil
        }
    }

    /// Drops what waits and the press under way, without its end: the stream stops.
    public mutating func stop() {
        waiting = []
        state = .idle
    }

    private mutating func step(_ press: Press, at now: Instant) -> Packet {
        var press = press
        let length = press.length ?? Self.mostPackets, sent = min(press.sent + 1, length)
        let ticks = UInt64(sent) * UInt64(clockRate) / 50
        let segment = ticks == 0 ? 0 : (ticks - 1) / Self.longestSegment * Self.longestSegment
        if segment > press.segment { return fill(press, before: segment) }
        press.sent = sent
        if press.sent == length { press.ends += 1 }
        let event = TelephoneEvent(event: press.digit.event, isEnd: press.ends > 0, duration: UInt16(clamping: ticks - segment))
        let next = press.due + Self.interval
        press.due = next > now ? next : now + Self.interval   // late: no burst
        state = press.ends == Self.endPackets ? .pausing(until: now + pause) : .pressing(press)
        return Packet(begins: press.sent == 1, segment: UInt32(truncatingIfNeeded: segment), event: event)
    }

    /// The last packet of a segment says that it is full; the first of the next one is due at the same time.
    private mutating func fill(_ press: Press, before segment: UInt64) -> Packet {
        var press = press
        press.segment = segment
        state = .pressing(press)
        let event = TelephoneEvent(event: press.digit.event, isEnd: false, duration: .max)
        return Packet(begins: false, segment: UInt32(truncatingIfNeeded: segment - Self.longestSegment), event: event)
    }
}
