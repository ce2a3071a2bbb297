import Media
import Primitives
import RTP

/// The sound that a caller of the load is to hear.
public enum ExpectedSound: String, Hashable, Sendable, CaseIterable {
    /// Any, to the end of the call.
    case sound
    /// Any, which may end before the call does: an announcement.
    case prompt
    /// The caller's own, to the end of the call.
    case echo
    /// None, and none is played.
    case nothing
}

/// The media that one end of a call sent and received in a stretch of time. A value.
struct EndMedia {
    var now: MediaStatistics
    /// When the stretch began.
    var before = MediaStatistics()
    var answered: Instant
    /// The stretch, as far as this end could receive.
    var from: Instant, until: Instant
    /// Since when sound has been due without a break; nil: it was not due at the end, as in a hold.
    var dueSince: Instant?

    var sent: UInt64 { now.sending.packets &- before.sending.packets }
    var received: UInt64 { now.receiving.packets &- before.receiving.packets }
    /// Packets that reached the socket: also those that came before this end was ready, and those that it had no codec for.
    var reached: UInt64 {
        let (late, early) = (now.refused, before.refused)
        return distinct + (late.notStarted &- early.notStarted) + foreign
    }
    /// Packets with a number of their own: one that repeats the number of another brings no sound.
    var distinct: UInt64 { now.receiving.expected == nil ? received : min(received, expected) }
    /// Packets with a payload type that was not agreed.
    var foreign: UInt64 { now.refused.payloadType &- before.refused.payloadType }
    /// By the numbers of the packets (RFC 3550 A.3); nil where none told any.
    var lost: UInt64? { now.receiving.lost.map { $0 - min($0, before.receiving.lost ?? 0) } }
    var expected: UInt64 { (now.receiving.expected ?? 0) - min(now.receiving.expected ?? 0, before.receiving.expected ?? 0) }
}

/// The part of the due sound that came to one end. One rule serves a call that is over and the window of a step. A value.
struct SoundArrival {
    /// The origin of the sound that is due. A target may be silent for a while; a prompt may end.
    enum Origin { case otherEnd, echo, target, prompt }

    /// Media that ran shorter than this proves nothing.
    static let shortest = Duration.milliseconds(400)
    /// Packets that may be on their way, or wait at the other end, when a call ends, or where a key or a hold interrupts it.
    static let inFlight: UInt64 = 10
    /// A silence of this length at the end is a stop: of sound that is made without a break, and of that of a target.
    private static let stop = Duration.milliseconds(500), pause = Duration.seconds(1)
    private static let packetTime = Duration.milliseconds(20)
    /// Less is lost on good networks, too.
    private static let tolerated: UInt64 = 5, toleratedPercent = 3.0

    private let origin: Origin
    /// While this end could receive: by the other end, and with an echo by itself.
    let sent: UInt64
    let received: UInt64
    private let reached: UInt64
    /// Packets with a payload type that was not agreed, and packets that repeat the number of another.
    private let foreign: UInt64, repeated: UInt64
    /// By the numbers of the packets.
    private let lost: UInt64?
    private let expected: UInt64
    /// Packets that may be missing for nobody's fault.
    private let allowance: UInt64
    private let isSteady: Bool
    /// From the last packet to the end of what was due.
    let silence: Duration
    /// The time of the last packet, after the answer.
    private let last: Duration?

    /// - Parameters:
    ///   - there: the other end, where it is one of ours.
    ///   - interruptions: keys and holds, each of which may cost what is on its way.
    ///   - delay: how long packets were on their way, where that was measured.
    init(at here: EndMedia, from there: EndMedia?, expecting sound: ExpectedSound, interruptions: Int, delay: Duration? = nil) {
        origin =
            switch sound {
            case _ where there != nil: .otherEnd
            case .echo: .echo
            case .prompt, .nothing: .prompt
            case .sound: .target
            }
        let sender = there ?? here, isUnpaused = here.now.incoming?.sound != .paused
        let afterEnd = max(.zero, (sender.now.lastSent ?? here.until) - here.until)
        sent = sender.sent - min(sender.sent, Self.packets(in: afterEnd))
        (received, reached, lost, expected) = (here.received, here.reached, here.lost, here.expected)
        (foreign, repeated) = (here.foreign, here.received - here.distinct)
        let trip = Self.packets(in: delay ?? (origin == .echo ? here.now.roundTrip : nil) ?? .zero)
        (allowance, isSteady) = (Self.inFlight * UInt64(1 + interruptions) + trip, interruptions == 0)
        let end = origin == .otherEnd || origin == .echo ? min(here.until, sender.now.lastSent ?? here.until) : here.until
        let due = here.dueSince.flatMap { own in sender.dueSince.map { max(own, $0, here.from) } }
        silence = due.map { isUnpaused ? max(.zero, end - max($0, here.now.lastReceived ?? $0)) : .zero } ?? .zero
        last = here.now.lastReceived.map { $0 - here.answered }
    }

    /// Nothing came of what should have.
    var isMissing: Bool { received == 0 && sent > Self.inFlight }

    /// When the sound stopped before what was due had ended, after the answer; nil where it did not, or none came at all.
    var stopped: Duration? {
        guard received > 0, silence >= (origin == .otherEnd || origin == .echo ? Self.stop : Self.pause) else { return nil }
        return last
    }

    /// Packets that did not come, wherever in the call.
    var missing: UInt64 {
        let numbered = lost ?? 0, atEnd = stopped == nil || origin == .prompt ? 0 : Self.packets(in: silence)
        guard origin == .otherEnd || origin == .echo else { return numbered + atEnd }
        let absent = sent - min(sent, reached)
        return max(numbered + atEnd, absent > allowance ? absent : 0)
    }

    /// All that is missing is told by the numbers of the packets.
    var isNumbered: Bool { missing == lost ?? 0 }

    /// Nil where nothing was due, or nothing is known.
    var lossPercent: Double? {
        if isMissing { return 100 }
        let missing = missing, due = due
        return (lost != nil || missing > 0) && due > 0 ? 100 * Double(missing) / Double(due) : nil
    }

    /// Finds the fault of the sound; nil: none was found.
    ///
    /// - Parameter place: appended to the words: ` in the step`.
    func fault(in place: String = "", _ direction: Finding.Direction? = nil) -> Finding? {
        var finding = found(in: place)
        finding?.direction = direction
        return finding
    }

    private func found(in place: String) -> Finding? {
        if isMissing { return Finding(.oneWay, nothingCame + place) }
        let second = origin == .prompt ? nil : stopped.map { ($0.inSeconds * 10).rounded() / 10 }
        guard second != nil || isLossy else { return nil }
        return Finding(.missing, words(stoppedAt: second) + place, second: second)
    }

    private var isLossy: Bool {
        missing > (isNumbered && isSteady ? Self.tolerated : allowance) && lossPercent.map { $0 > Self.toleratedPercent } == true
    }

    private var nothingCame: String {
        if foreign > 0 { return "\(foreign.counted("packet", "packets")) came with a payload type that was not agreed, and no others" }
        return origin == .otherEnd ? "none of \(sent) packets came" : "no packet came"
    }

    private func words(stoppedAt second: Double?) -> String {
        let stop = second.map { "stopped \($0) s after the answer, and " } ?? ""
        if origin == .target, second != nil {
            return stop + "nothing came for \((silence.inSeconds * 10).rounded() / 10) s (--expect prompt allows that)"
        }
        return stop + "\(missing) of \(due) packets did not come\(origin == .echo ? " back" : "")"
            + (repeated > Self.tolerated ? ", and \(repeated) that came repeat a number" : "")
    }

    /// Packets that were due, those that did not come among them.
    private var due: UInt64 { max(expected, received - repeated) + missing - (lost ?? 0) }

    private static func packets(in time: Duration) -> UInt64 { UInt64(max(0, time.wholeNanoseconds / packetTime.wholeNanoseconds)) }
}
