import CallKit
import Foundation
import Primitives

// Recents.
extension LineServices {
    /// The call of an incoming leg is over.
    func noteEnd(of leg: Leg, _ end: CallEnd) {
        guard leg.direction == .incoming, let origin = leg.origin else { return }
        let outcome = RecentCall.Outcome(incoming: end, cause: leg.endCause, wasAnswered: origin.connected != nil)
        add(outcome, .incoming, of: leg, origin.handle, origin.name, to: leg.line, reason: end.name)
        noteOutgoing(leg, cause: leg.endCause, reason: end.name)
    }

    /// For the line that called; also where the other line's system refused the call.
    func noteOutgoing(_ leg: Leg, cause: EndCause?, reason: Text) {
        guard let origin = leg.origin, let line = origin.line else { return }
        line.features.outgoing.remove(leg.uuid)
        let outcome = RecentCall.Outcome(outgoing: cause, wasAnswered: origin.connected != nil)
        add(
            outcome, .outgoing, of: leg, CXHandle(dialled: origin.dialled), leg.line.configuration.name?.description, to: line,
            reason: reason)
    }

    /// A call that never was one of CallKit's: nobody of the line was there.
    func noteMissed(_ call: IncomingCall, _ id: UUID, by line: Line, reason: String) {
        let handle = call.caller.handle, now = context.date
        line.features.noteCaller(handle)
        for (line, direction, handle, outcome) in [
            (Optional(line), RecentCall.Direction.incoming, handle, RecentCall.Outcome.missed),
            (call.callingLine, .outgoing, CXHandle(dialled: call.dialled), .unanswered),
        ] {
            guard let line, line.keepsRecents else { continue }
            let name = direction == .incoming ? call.caller.update.localizedCallerName : nil
            keep(
                RecentCall(
                    id: id, line: line.configuration.number.description, direction: direction, handleType: handle.type,
                    handle: handle.value, name: name, began: now, connected: nil, ended: now, outcome: outcome, reason: reason), of: line)
        }
    }

    private func keep(_ call: RecentCall, of line: Line) {
        line.features.recents.add(call)
        context.store?.keep(.recent(call))
    }

    private func add(
        _ outcome: RecentCall.Outcome, _ direction: RecentCall.Direction, of leg: Leg, _ handle: CXHandle, _ name: String?, to line: Line,
        reason: Text
    ) {
        guard line.keepsRecents, let origin = leg.origin, origin.isInRecents else { return }
        let call = RecentCall(
            id: leg.uuid, line: line.configuration.number.description, direction: direction, handleType: handle.type, handle: handle.value,
            name: name,
            began: origin.began, connected: origin.connected, ended: context.date, outcome: outcome, reason: reason.description)
        keep(call, of: line)
    }
}
