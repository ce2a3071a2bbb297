import CallKit
import Foundation
import Primitives

// Recents.
extension LineServices {
    /// The `id` of a call in recents that gateways share: that of its attempt. So a call that a proxy sends on when its gateway has died is one
    /// entry. Nil: that of the call, also where the client uses the Call-ID of a call that is over again.
    func recentID(of attempt: Text, on line: Line) -> UUID? {
        guard context.sharesCalls else { return nil }
        let id = RecentCall.id(ofAttempt: attempt)
        let unfinished = [RecentCall.gatewayKilled, CXCallEndedReason.failed.name.description]
        return line.features.recents[id].map { unfinished.contains($0.reason) } ?? true ? id : nil
    }

    /// The call of an incoming leg was reported, or has been answered: so it stands in the recents when the gateway is killed before its
    /// end.
    func noteUp(_ leg: Leg) {
        guard let store = context.store, leg.direction == .incoming else { return }
        for call in ongoing(leg) { store.keep(.recent(call)) }
    }

    /// The call of an incoming leg goes on as another, and is not in the recents.
    func leaveOut(_ leg: Leg) {
        for call in ongoing(leg) { context.store?.keep(.noRecent(line: call.line, id: call.id, call.direction)) }
        leg.origin?.isInRecents = false
    }

    /// Makes the recents of a call that is going on, for both lines; its end is not known yet.
    private func ongoing(_ leg: Leg) -> [RecentCall] {
        guard let origin = leg.origin else { return [] }
        let called = recent(origin.connected == nil ? .missed : .answered, .incoming, of: leg, origin.handle, origin.name, to: leg.line)
        let calling = origin.line.flatMap { line in
            recent(
                origin.connected == nil ? .unanswered : .answered, .outgoing, of: leg, CXHandle(dialled: origin.dialled),
                leg.line.configuration.name?.description, to: line)
        }
        return [called, calling].compactMap(\.self)
    }

    /// The call of an incoming leg is over, or that of one that has gone on here.
    func noteEnd(of leg: Leg, _ end: CallEnd) {
        if let calls = dialogs.takeovers?.ended(leg) { return finish(calls, end.name) }
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
        let handle = call.caller.handle, now = context.date, id = recentID(of: call.session.attempt, on: line) ?? id
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

    /// Calls of a gateway that has died end as those of a provider that was reset: failed.
    func end(_ orphans: OrphanedCalls) {
        finish(orphans.recents, CXCallEndedReason.failed.name)
        for dialog in orphans.dialogs { dialogs.end(dialog) }
    }

    /// Calls that another gateway has begun to write down end now.
    private func finish(_ calls: [RecentCall], _ reason: Text) {
        for var call in calls {
            (call.ended, call.reason) = (context.date, reason.description)
            if let line = lines.line(numbered: Text(call.line)) { keep(call, of: line) } else { context.store?.keep(.recent(call)) }
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
        guard let call = recent(outcome, direction, of: leg, handle, name, to: line, reason: reason.description) else { return }
        keep(call, of: line)
    }

    /// Nil where it is not to be in the line's recents.
    private func recent(
        _ outcome: RecentCall.Outcome, _ direction: RecentCall.Direction, of leg: Leg, _ handle: CXHandle, _ name: String?, to line: Line,
        reason: String = RecentCall.gatewayKilled
    ) -> RecentCall? {
        guard line.keepsRecents, let origin = leg.origin, origin.isInRecents else { return nil }
        return RecentCall(
            id: origin.recentID ?? leg.uuid, line: line.configuration.number.description, direction: direction, handleType: handle.type,
            handle: handle.value, name: name, began: origin.began, connected: origin.connected, ended: context.date, outcome: outcome,
            reason: reason)
    }
}
