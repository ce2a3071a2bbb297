import CallKit
import Foundation
import Primitives
import Runtime

/// What the gateway waits for by itself.
enum GatewayTimer: Hashable {
    case line(Int)
    case leg(UUID, LegTimer)
}

/// What a leg waits for; at most one of each.
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
    /// A scripted callee has rung for its time.
    case script
    /// The sound that a feature code is answered with is over.
    case announcement
    /// No device woke for it in time.
    case wake
    /// Nothing came from the device that is called.
    case silence
}

extension Gateway {
    /// Moves the timer if it is armed already; nil disarms it.
    func arm(_ timer: LegTimer, of leg: Leg, after delay: Duration?) {
        disarm(timer, of: leg)
        guard let delay else { return }
        leg.timers.append((timer, timers.arm(.leg(leg.uuid, timer), at: now + delay)))
    }

    func isArmed(_ timer: LegTimer, of leg: Leg) -> Bool { leg.timers.contains { $0.timer == timer } }

    func disarm(_ timer: LegTimer, of leg: Leg) {
        guard let index = leg.timers.firstIndex(where: { $0.timer == timer }) else { return }
        _ = timers.cancel(leg.timers.remove(at: index).token)
    }

    func disarmAll(of leg: Leg) {
        for (_, token) in leg.timers { _ = timers.cancel(token) }
        leg.timers = []
    }

    func fire(_ timer: GatewayTimer) {
        switch timer {
        case .line(let index):
            lines[index].timer = nil
            lines[index].system.advance(to: now)
            systemTimers.note(lines[index].system)
        case .leg(let call, let kind):
            guard let leg = leg(call) else { return }
            leg.timers.removeAll { $0.timer == kind }
            guard leg.state != .ended else { return }
            fire(kind, of: leg)
        }
    }

    private func fire(_ timer: LegTimer, of leg: Leg) {
        switch timer {
        case .ring: leg.endOutOfBand(leg.state == .early ? .unanswered : .failed, cause: .ringTimeout, tellsPeer: true)
        case .resume: if leg.call.isHeld { leg.line.calls.setHeld(leg.uuid, false) }
        case .duration: end(leg, .maximumDuration)
        case .firstMedia: leg.heardNothing()
        case .hunt: hunt(for: leg.uuid)
        case .script: if case .script(let script) = leg.line.configuration.endpoint { perform(script.act, leg) }
        case .announcement: end(leg, .normalClearing)
        case .wake: stopWaiting(leg.uuid, "timeout")
        case .silence: leg.deviceIsSilent()
        }
    }

    func armLines() {
        guard !systemTimers.moved.isEmpty else { return }
        for system in systemTimers.moved {
            guard let index = systemTimers.lines[system] else { continue }
            let line = lines[index]
            if let token = line.timer { _ = timers.cancel(token) }
            line.timer = line.system.deadline.map { timers.arm(.line(index), at: $0) }
        }
        systemTimers.moved.removeAll(keepingCapacity: true)
    }
}

/// Which CallKit systems wait for another moment than they did; noted while they work, acted on afterwards.
final class SystemTimers {
    /// Of one line mostly, and not twice in a row. One that stands there again later is armed again, to the same moment.
    var moved: [ObjectIdentifier] = []
    var lines: [ObjectIdentifier: Int] = [:]

    func note(_ system: CallSystem) {
        if moved.last != ObjectIdentifier(system) { moved.append(ObjectIdentifier(system)) }
    }
}
