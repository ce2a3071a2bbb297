import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// A call whose line's devices sleep: pushes are on their way, and it is no call yet as far as CallKit knows.
struct WakingCall {
    let leg: Leg
    let dialled: Text
    let maxForwards: Int
    /// Devices that ring for it already.
    var called: [URI] = []
    /// Pushes that nobody has refused.
    var pushes: Int
    /// It was reported: devices that wake now join those that ring.
    var isReported = false
}

/// Wake-up push (RFC 8599): a call waits until a device has registered, within a limit of its own; only then it is reported and rings.
extension Gateway {
    /// Sends a push to each sleeping device of the line and lets the call wait; false where nobody can be woken.
    func park(_ session: InviteSession, on line: Line, from caller: CallerIdentity, _ callingLine: Line?, dialled: Text, maxForwards: Int) -> Bool {
        let sleepers = line.features.pushBindings.current(at: date)
        guard let push, !sleepers.isEmpty else { return false }
        guard waking.count < configuration.push.calls else { return doorkeeper.refuse(.wakes) }
        guard let leg = arrive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled) else { return true }
        add(leg)
        waking[leg.uuid] = WakingCall(leg: leg, dialled: dialled, maxForwards: maxForwards, pushes: sleepers.count)
        arm(.wake, of: leg, after: configuration.push.limit)
        leg.scribe.write(.pushSent, at: now, [.count: .init(sleepers.count)])
        for sleeper in sleepers { push(message(to: sleeper, for: leg)) }
        return true
    }

    /// Whether it has devices that a push may wake.
    func mayWake(_ line: Line) -> Bool { push != nil && !line.features.pushBindings.current(at: date).isEmpty }

    private func message(to sleeper: PushBinding, for leg: Leg) -> PushMessage {
        PushMessage(
            provider: sleeper.provider.description, identifier: sleeper.identifier.description, parameter: sleeper.parameter?.description,
            line: leg.line.configuration.number.description, call: leg.uuid, caller: leg.origin?.handle.value ?? "",
            name: leg.origin.flatMap { Self.update(for: $0.caller).localizedCallerName })
    }

    /// A push was not taken. When none was, nobody will wake.
    public func pushFailed(_ cause: String, for call: UUID, at now: Instant) {
        enter(now)
        guard let leg = waking[call]?.leg else { return }
        leg.scribe.write(.pushFailed, at: self.now, [.cause: .init(cause)])
        waking[call]?.pushes -= 1
        if waking[call]?.pushes == 0, waking[call]?.isReported == false { giveUp(call, "push-failed") }
        settle()
    }

    /// A REGISTER was accepted: what it says of pushes is kept, and calls that wait for the line ring.
    func registered(_ request: Message) {
        guard configuration.push.isOn, let user = request.to.uri.decodedUser, let line = line(numbered: user) else { return }
        let keep = TimeInterval(configuration.push.keep.components.seconds)
        if line.features.pushBindings.apply(request, at: date, keep: keep) { pushBindingsChanged(of: line) }
        for call in waking.values.filter({ $0.leg.line === line }).sorted(by: { $0.leg.media.id.rawValue < $1.leg.media.id.rawValue }) { ring(call) }
    }

    private func ring(_ call: WakingCall) {
        let leg = call.leg
        guard let caller = leg.origin?.caller else { return }
        let awake = destinations(of: leg.line, dialled: call.dialled, caller: caller, maxForwards: call.maxForwards)
        let callees = awake.filter { !call.called.contains($0.target) }
        guard !callees.isEmpty else { return }
        waking[leg.uuid]?.called += callees.map(\.target)
        waking[leg.uuid]?.isReported = true
        if call.isReported { join(callees, to: leg) } else { admit(leg, callees) }
    }

    /// `Feature-Caps` of the 200 to a REGISTER that asks for pushes (RFC 8599 §4.1.2).
    func pushCapability(for request: Message) -> Text? {
        guard configuration.push.isOn, let provider = request.contacts.lazy.compactMap({ $0.uri.parameters.value(of: "pn-provider") }).first else { return nil }
        return "*;+sip.pns=\"" + provider + "\""
    }

    /// No device registered in time. A call that rings goes on ringing with those that did.
    func wakeLimit(_ call: UUID) {
        guard let waking = waking[call] else { return }
        if waking.isReported { self.waking[call] = nil } else { giveUp(call, "timeout") }
    }

    /// Ends a call that was never reported.
    func giveUp(_ call: UUID, _ cause: Text, as end: EndCause = EndCause(status: 480, reasons: [.q850(20)])) {
        guard let leg = waking.removeValue(forKey: call)?.leg else { return }
        disarm(.wake, of: leg)
        leg.scribe.write(.pushUnreported, at: now, [.cause: .init(cause)])
        leg.session?.refuse(end, at: now)
        noteOutgoing(leg, cause: end, reason: cause)
        discard(leg)
    }

    /// Calls that were cancelled while they waited, and calls that ring no more.
    func dropWoken() {
        for (call, waking) in waking where waking.leg.state != .ringing {
            if !waking.isReported {
                guard waking.leg.state == .ended else { continue }
                giveUp(call, "cancelled", as: waking.leg.endCause ?? .subscriberAbsent)
            } else {
                self.waking[call] = nil
                disarm(.wake, of: waking.leg)
            }
        }
    }
}
