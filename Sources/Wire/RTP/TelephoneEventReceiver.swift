import Primitives

/// Makes key presses of telephone-event packets (RFC 4733 §2.5.2), however many of them are lost or repeated.
///
/// A press is known by its RTP timestamp, not by marker or end: every timestamp is one press, which ends with an end
/// packet, with the next press, or when nothing of it came for `timeout`.
public struct TelephoneEventReceiver: Sendable {
    /// Events of a key at the far end.
    public enum Output: Hashable, Sendable {
        /// The key is down.
        case began(DTMFDigit)
        /// With how long it was held, as far as its packets told.
        case ended(DTMFDigit, Duration)
    }

    /// The time that a key is taken as held without news of it.
    public static let timeout = Duration.milliseconds(500)
    /// An older timestamp than the last is a late packet unless this much time lies between: then the sender began anew.
    private static let lateness = Duration.seconds(2)
    /// Packets of an event come 50 ms apart at most (RFC 4733 §2.5.1.2), and some senders send sound beside them: it runs ahead of them by
    /// that much.
    private static let soundAhead = Duration.milliseconds(60)

    private struct Press: Sendable {
        var digit: DTMFDigit
        var ssrc: UInt32
        var timestamp: UInt32
        var duration: UInt16
        /// Ticks of the segments before this one (RFC 4733 §2.5.1.3).
        var earlier: UInt64 = 0
        var isOver = false
        var heardAt: Instant
    }

    /// Ticks per second of the events.
    public let clockRate: UInt32
    private var press: Press?

    /// - Parameter clockRate: of the negotiated telephone-event, in Hz.
    public init(clockRate: UInt32) { self.clockRate = clockRate }

    /// When `advance` has something to do; nil while no key is down.
    public var deadline: Instant? { press.flatMap { $0.isOver ? nil : $0.heardAt + Self.timeout } }

    /// Takes the payload of one packet. Events that are no digits, and payloads too short, are ignored.
    public mutating func receive(_ payload: UnsafeRawBufferPointer, header: RTPHeader, at now: Instant) -> [Output] {
        guard let event = TelephoneEvent(parsing: payload), let digit = DTMFDigit(event: event.event) else { return [] }
        guard var current = press, current.ssrc == header.ssrc else { return begin(digit, event, header, at: now) }
        let ahead = timestampDistance(from: current.timestamp, to: header.timestamp)
        if ahead == 0 {
            current.duration = max(current.duration, event.duration)
        } else if ahead == Int64(UInt16.max), current.digit == digit, !current.isOver {   // also where the full packet was lost
            current.earlier += UInt64(UInt16.max)
            (current.timestamp, current.duration) = (header.timestamp, event.duration)
        } else if ahead < 0, now - current.heardAt < Self.lateness {
            return []
        } else {
            return begin(digit, event, header, at: now)
        }
        current.heardAt = now
        press = current
        return event.isEnd ? end() : []
    }

    /// Ends a press whose end packets were all lost.
    public mutating func advance(to now: Instant) -> [Output] {
        guard let deadline, now >= deadline else { return [] }
        return end()
    }

    /// Whether sound under this header says that the key that is down is up again, though no end of it came: it lies behind all that was
    /// told of it.
    /// Only of sound with the events' own clock.
    public func isOver(at header: RTPHeader) -> Bool {
        guard let press, !press.isOver, press.ssrc == header.ssrc else { return false }
        let told = Int64(press.duration) + Int64(clockRate) * Self.soundAhead.wholeMilliseconds / 1_000
        return timestampDistance(from: press.timestamp, to: header.timestamp) >= told
    }

    /// The stream stops (hold, end of the call): ends a press that is under way.
    public mutating func stop() -> [Output] { end() }

    private mutating func begin(_ digit: DTMFDigit, _ event: TelephoneEvent, _ header: RTPHeader, at now: Instant) -> [Output] {
        var outputs = end()
        press = Press(digit: digit, ssrc: header.ssrc, timestamp: header.timestamp, duration: event.duration, heardAt: now)
        outputs.append(.began(digit))
        return event.isEnd ? outputs + end() : outputs
    }

    private mutating func end() -> [Output] {
        guard let current = press, !current.isOver else { return [] }
        press?.isOver = true
        let rate = UInt64(max(1, clockRate)), ticks = current.earlier + UInt64(current.duration)
        let (seconds, rest) = min(ticks, 3_600 * rate).quotientAndRemainder(dividingBy: rate)   // segments may claim any length
        return [.ended(current.digit, .seconds(Int64(seconds)) + .nanoseconds(Int64(rest * 1_000_000_000 / rate)))]
    }
}
