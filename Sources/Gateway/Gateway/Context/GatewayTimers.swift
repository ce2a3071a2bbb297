import CallKit
import Foundation
import Primitives
import Runtime

/// A timer of the gateway.
enum GatewayTimer: Hashable {
    case line(Int)
    case leg(UUID, LegTimer)
}

/// The timers of a leg; at most one of each kind.
enum LegTimer: Hashable {
    /// An outgoing call rings too long.
    case ring
    /// A resume that was refused is tried again.
    case resume
    /// The longest that a call may last.
    case duration
    /// Nothing was ever heard from the far end.
    case firstMedia
    /// The next members of a ring group are to ring.
    case hunt
    /// Its application waits for it.
    case application
    /// No device woke for it in time.
    case wake
    /// Nothing came from the device that is called.
    case silence
}

/// The timers of legs and of the lines' CallKit systems, on one wheel. Lives on the signalling lane.
final class GatewayTimers {
    private var wheel: TimerWheel<GatewayTimer>
    private let turn: EventTime
    /// CallKit systems that wait for another moment than they did; noted while they work, acted on afterwards. They are mostly of one line,
    /// and not twice in a row. A system that stands there again later is armed again, to the same moment.
    private var moved: [ObjectIdentifier] = []

    init(_ turn: EventTime, at now: Instant) { (self.turn, wheel) = (turn, TimerWheel(at: now)) }

    var count: Int { wheel.count }

    var nextDeadline: Instant? { wheel.nextDeadline }

    /// The timers that are due by then, in the order of their deadlines.
    func advance(to now: Instant) -> [GatewayTimer] { wheel.advance(to: now) }

    // MARK: Legs

    /// Moves the timer if it is armed already; nil disarms it.
    func arm(_ timer: LegTimer, of leg: Leg, after delay: Duration?) {
        disarm(timer, of: leg)
        guard let delay else { return }
        leg.timers.append((timer, wheel.arm(.leg(leg.uuid, timer), at: turn.now + delay)))
    }

    func isArmed(_ timer: LegTimer, of leg: Leg) -> Bool { leg.timers.contains { $0.timer == timer } }

    func disarm(_ timer: LegTimer, of leg: Leg) {
        guard let index = leg.timers.firstIndex(where: { $0.timer == timer }) else { return }
        _ = wheel.cancel(leg.timers.remove(at: index).token)
    }

    func disarmAll(of leg: Leg) {
        for (_, token) in leg.timers { _ = wheel.cancel(token) }
        leg.timers = []
    }

    // MARK: CallKit systems

    func note(_ system: CallSystem) {
        if moved.last != ObjectIdentifier(system) { moved.append(ObjectIdentifier(system)) }
    }

    /// The timer of the line's system was due.
    func fire(_ line: Line) {
        line.timer = nil
        line.system.advance(to: turn.now)
        note(line.system)
    }

    /// Arms the systems that wait for another moment now.
    func armSystems(of lines: LineTable) {
        guard !moved.isEmpty else { return }
        for system in moved {
            guard let line = lines.line(of: system) else { continue }
            if let token = line.timer { _ = wheel.cancel(token) }
            line.timer = line.system.deadline.map { wheel.arm(.line(line.index), at: $0) }
        }
        moved.removeAll(keepingCapacity: true)
    }
}
