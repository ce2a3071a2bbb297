import Primitives

/// Plays key presses as telephone-event packets (RFC 4733 §2.5.1): one every 20 ms, the marker on the first, the
/// duration growing, the end sent three times.
///
/// The caller writes each packet under the header that `RTPRewriter` gives, all of one press with one timestamp.
public struct TelephoneEventSender: Sendable {
    public struct Packet: Hashable, Sendable {
        /// The first of a press: take a new timestamp (`RTPRewriter.beginEvent`) and set the marker.
        public var begins: Bool
        public var event: TelephoneEvent
    }

    /// Digits that may wait.
    public static let capacity = 64
    private static let interval = Duration.milliseconds(20)
    private static let endPackets = 3

    private enum State: Sendable {
        case idle
        /// Between presses; the next may begin at that time.
        case pausing(until: Instant)
        case pressing(Press)
    }

    private struct Press: Sendable {
        var digit: DTMFDigit
        var sent = 0
        var ends = 0
        var due: Instant
    }

    public let clockRate: UInt32
    private let packetsPerPress: Int
    private let pause: Duration
    private var waiting: [DTMFDigit] = []
    private var state = State.idle

    /// - Parameters:
    ///   - press: how long each key is held: 40 ms to 1 s, in steps of 20 ms.
    ///   - pause: the silence after it; at least 40 ms (RFC 4733 §2.5.1.4 leaves it to the sender, Q.24 asks for 40).
    public init(clockRate: UInt32, press: Duration = .milliseconds(160), pause: Duration = .milliseconds(80)) {
        self.clockRate = clockRate
        packetsPerPress = Int(min(max(press, .milliseconds(40)), .seconds(1)).wholeMilliseconds / 20)
        self.pause = max(pause, .milliseconds(40))
    }

    /// Whether a key is down; sound should wait meanwhile.
    public var isPressing: Bool { if case .pressing = state { true } else { false } }
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
    public mutating func enqueue(_ digit: DTMFDigit, at now: Instant) -> Bool {
        guard waiting.count < Self.capacity else { return false }
        waiting.append(digit)
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
            return step(Press(digit: waiting.removeFirst(), due: now), at: now)
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
        press.sent = min(press.sent + 1, packetsPerPress)
        if press.sent == packetsPerPress { press.ends += 1 }
        let ticks = UInt64(press.sent) * UInt64(clockRate) / 50
        let event = TelephoneEvent(event: press.digit.event, isEnd: press.ends > 0, duration: UInt16(clamping: ticks))
        let next = press.due + Self.interval
        press.due = next > now ? next : now + Self.interval   // late: no burst
        state = press.ends == Self.endPackets ? .pausing(until: now + pause) : .pressing(press)
        return Packet(begins: press.sent == 1, event: event)
    }
}
