import CallKit
import Foundation
import Primitives

/// Where an incoming leg came from, for the recents of both lines.
final class CallOrigin {
    /// The line of ours that calls, as it proved; nil for anybody else.
    let line: Line?
    /// Of its INVITE.
    let attempt: Text
    let caller: CallerIdentity
    let handle: CXHandle
    let dialled: Text
    let began: Date
    var name: String?
    var connected: Date?
    /// Not where it takes the place of another: the recents have the call as that one.
    var isInRecents = true

    init(line: Line?, attempt: Text, caller: CallerIdentity, handle: CXHandle, dialled: Text, began: Date) {
        (self.line, self.attempt, self.caller, self.handle, self.dialled, self.began) = (line, attempt, caller, handle, dialled, began)
    }
}

/// The recents: what a line's calls came to.
extension Gateway {
    /// The line's calls, the newest first; nil when there is no such line.
    public func recents(ofLine number: Text) -> [RecentCall]? { line(numbered: number)?.features.recents.calls }

    /// Starts a call to the other party of a recent one, as a tap on it does.
    @discardableResult
    public func callBack(_ recent: UUID, ofLine number: Text, at now: Instant) throws(CallRequestError) -> UUID {
        guard let line = line(numbered: number) else { throw .noLine }
        guard let call = line.features.recents[recent] else { throw .noRecentCall }
        return try start(CallRequest(handle: call.remote), ofLine: number, at: now)
    }

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
            outcome, .outgoing, of: leg, Self.handle(dialled: origin.dialled), leg.line.configuration.name?.description, to: line,
            reason: reason)
    }

    private func add(
        _ outcome: RecentCall.Outcome, _ direction: RecentCall.Direction, of leg: Leg, _ handle: CXHandle, _ name: String?, to line: Line,
        reason: Text
    ) {
        guard line.keepsRecents, let origin = leg.origin, origin.isInRecents else { return }
        let call = RecentCall(
            id: leg.uuid, line: line.configuration.number.description, direction: direction, handleType: handle.type, handle: handle.value,
            name: name,
            began: origin.began, connected: origin.connected, ended: date, outcome: outcome, reason: reason.description)
        line.features.recents.add(call)
        store?.keep(.recent(call))
    }

    static func handle(dialled: Text) -> CXHandle {
        let isNumber = dialled.bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") }
        return CXHandle(type: isNumber ? .phoneNumber : .generic, value: dialled.description)
    }
}
