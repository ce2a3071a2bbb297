import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// A call that waits for devices that sleep: pushes are on their way to them. While none of its line is awake it is no call yet as far as CallKit knows.
struct WakingCall {
    let leg: Leg
    /// Devices that were called for it, by their names: one that rings and registers anew, from another port perhaps, is not called twice.
    var called: [Text]
    /// Those that were pushed to and have not registered since.
    var sleepers: [PushBinding]
    /// Pushes that nobody took.
    var failures = 0
    /// It was reported: devices that wake now join those that ring.
    var isReported: Bool

    /// Nobody will wake any more.
    var isOver: Bool { failures >= sleepers.count }
}

/// Wake-up push (RFC 8599): a call waits until a device has registered, within a limit of its own; only then it is reported and rings. Where others of
/// the line are awake, it rings those meanwhile.
extension Gateway {
    /// Sends a push to each sleeping device of the line and lets the call wait; false where nobody can be woken.
    func park(_ session: InviteSession, on line: Line, from caller: CallerIdentity, _ callingLine: Line?, dialled: Text) -> Bool {
        guard mayWake(line) else { return false }
        guard waking.count < configuration.push.calls else { return doorkeeper.refuse(.wakes) }
        guard let leg = arrive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled) else { return true }
        add(leg)
        wake(sleepers(of: line), for: leg, called: [], isReported: false)
        return true
    }

    /// A call rings at the devices that are awake: it wakes the others, where there are some and the call does not wait for them already.
    func wakeOthers(for leg: Leg, than called: [Destination]) {
        guard waking[leg.uuid] == nil, mayWake(leg.line) else { return }
        guard waking.count < configuration.push.calls else { return _ = doorkeeper.refuse(.wakes) }
        wake(sleepers(of: leg.line), for: leg, called: called.map(\.deviceName), isReported: true)
    }

    private func wake(_ sleepers: [PushBinding], for leg: Leg, called: [Text], isReported: Bool) {
        waking[leg.uuid] = WakingCall(leg: leg, called: called, sleepers: sleepers, isReported: isReported)
        arm(.wake, of: leg, after: configuration.push.limit)
        leg.scribe.write(.pushSent, at: now, [.count: .init(sleepers.count)])
        for sleeper in sleepers { push?(message(to: sleeper, for: leg)) }
    }

    /// Whether it has devices that a push may wake.
    func mayWake(_ line: Line) -> Bool { !sleepers(of: line).isEmpty }

    /// Devices that can be pushed to, and are not registered.
    private func sleepers(of line: Line) -> [PushBinding] {
        guard push != nil else { return [] }
        var asleep = line.features.pushBindings.current(at: date)
        guard !asleep.isEmpty else { return [] }
        for contact in registrar.contacts(of: line.configuration.number, at: now) where isAwake(contact) {
            asleep.remove(of: contact.uri, instance: contact.instance)
        }
        return asleep
    }

    private func message(to sleeper: PushBinding, for leg: Leg) -> PushMessage {
        PushMessage(
            provider: sleeper.provider.description, identifier: sleeper.identifier.description, parameter: sleeper.parameter?.description,
            line: leg.line.configuration.number.description, call: leg.uuid, caller: leg.origin?.handle.value ?? "",
            name: leg.origin.flatMap { Self.update(for: $0.caller).localizedCallerName })
    }

    /// A push was not taken. When none was of those whose devices still sleep, nobody will wake.
    public func pushFailed(_ cause: String, for call: UUID, at now: Instant) {
        enter(now)
        guard let leg = waking[call]?.leg else { return }
        leg.scribe.write(.pushFailed, at: self.now, [.cause: .init(cause)])
        waking[call]?.failures += 1
        if waking[call]?.isOver == true { stopWaiting(call, "push-failed") }
        settle()
    }

    /// A REGISTER was accepted: what it says of pushes is kept, and calls that wait for the line ring.
    func registered(_ request: Message) {
        guard configuration.push.isOn, let user = request.to.uri.decodedUser, let line = line(numbered: user) else { return }
        let keep = TimeInterval(configuration.push.keep.components.seconds)
        if line.features.pushBindings.apply(request, at: date, keep: keep) { pushBindingsChanged(of: line) }
        let calls = waking.values.filter { $0.leg.line === line }
        guard !calls.isEmpty else { return }
        let asleep = sleepers(of: line)
        for call in calls.sorted(by: { $0.leg.media.id.rawValue < $1.leg.media.id.rawValue }) {
            let left = call.sleepers.filter { sleeper in asleep.contains { $0.isSame(as: sleeper) } }
            waking[call.leg.uuid]?.sleepers = left
            ring(call)
            if left.count < call.sleepers.count, waking[call.leg.uuid]?.isOver == true { stopWaiting(call.leg.uuid, "unreachable") }
        }
    }

    /// At the devices that are awake now and did not ring before.
    private func ring(_ call: WakingCall) {
        let leg = call.leg
        guard let origin = leg.origin, let invite = leg.session?.request else { return }
        let awake = destinations(of: leg.line, dialled: origin.dialled, caller: origin.caller, after: invite)
        let callees = awake.filter { !call.called.contains($0.deviceName) }
        guard !callees.isEmpty else { return }
        waking[leg.uuid]?.called += callees.map(\.deviceName)
        waking[leg.uuid]?.isReported = true
        if call.isReported { join(callees, to: leg) } else { admit(leg, callees) }
    }

    /// `Feature-Caps` of the 200 to a REGISTER that asks for pushes (RFC 8599 §4.1.2).
    func pushCapability(for request: Message) -> Text? {
        guard configuration.push.isOn, let provider = request.contacts.lazy.compactMap({ $0.uri.parameters.value(of: "pn-provider") }).first else { return nil }
        return "*;+sip.pns=\"" + provider + "\""
    }

    /// No further device wakes, or none did in time. A call that rings goes on ringing with those that are awake, and ends when none of them is left.
    func stopWaiting(_ call: UUID, _ cause: Text) {
        guard let leg = waking[call]?.leg else { return }
        guard waking[call]?.isReported == true else { return giveUp(call, cause) }
        waking[call] = nil
        disarm(.wake, of: leg)
        tell(leg.bridge, .dialled)
    }

    /// Ends a call that was never reported.
    func giveUp(_ call: UUID, _ cause: Text, as end: EndCause = EndCause(status: 480, reasons: [.q850(20)])) {
        guard let leg = waking.removeValue(forKey: call)?.leg else { return }
        disarm(.wake, of: leg)
        leg.scribe.write(.pushUnreported, at: now, [.cause: .init(cause)])
        if let session = leg.session {
            session.refuse(end, adding: end.status == 480 ? warnings(whereNobodyIsThereFor: session.request) : [], at: now)
        }
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
