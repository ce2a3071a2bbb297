import Runtime

/// The place of a leg in its engine. The generation tells a leg from the one that had its place before.
struct MediaSlot: Hashable, Sendable {
    var index: Int
    var generation: UInt32

    enum Channel: Sendable { case rtp, rtcp }

    /// The place and the socket as one number for an epoll set; the highest bit stays clear.
    func token(_ channel: Channel) -> UInt64 { UInt64(index) << 33 & ~(1 << 63) | UInt64(generation) << 1 | (channel == .rtcp ? 1 : 0) }

    static func read(_ token: UInt64) -> (slot: MediaSlot, channel: Channel) {
        (MediaSlot(index: Int(token >> 33), generation: UInt32(truncatingIfNeeded: token >> 1)), token & 1 == 1 ? .rtcp : .rtp)
    }
}

/// An event that a leg waits for.
enum LegAlarm: Sendable, CaseIterable {
    /// The next 20 ms of sound made here.
    case frame
    /// The next packet of a digit.
    case digit
    /// The next RTCP report.
    case report
    /// Nothing came for too long.
    case silence
    /// A handshake was not answered.
    case handshake
}

/// A leg's timers in the wheel of its lane, at most one for each alarm.
struct LegTimers {
    var frame: TimerToken?, digit: TimerToken?, report: TimerToken?, silence: TimerToken?, handshake: TimerToken?

    subscript(alarm: LegAlarm) -> TimerToken? {
        get {
            switch alarm {
            case .frame: frame
            case .digit: digit
            case .report: report
            case .silence: silence
            case .handshake: handshake
            }
        }
        set {
            switch alarm {
            case .frame: frame = newValue
            case .digit: digit = newValue
            case .report: report = newValue
            case .silence: silence = newValue
            case .handshake: handshake = newValue
            }
        }
    }
}
