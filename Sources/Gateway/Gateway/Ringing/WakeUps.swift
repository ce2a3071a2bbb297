import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// A call that waits for devices that sleep: pushes are on their way to them. While none of its line is awake it is no call yet as far as
/// CallKit knows.
struct WakingCall {
    /// The wait for the devices of one line: the called one, or a member of a ring group.
    struct Wait {
        let line: Line
        /// Devices that were called for it, by their names: one that rings and registers anew, from another port perhaps, is not called
        /// twice.
        var called: [Text]
        /// Those that were pushed to and have not registered since; without those whose push nobody took.
        var sleepers: [PushBinding]
    }

    let leg: Leg
    var waits: [Wait] = []
    /// It was reported: devices that wake now join those that ring.
    var isReported: Bool

    /// Nobody will wake any more.
    var isOver: Bool { waits.allSatisfy(\.sleepers.isEmpty) }

    func place(of line: Line) -> Int? { waits.firstIndex { $0.line === line } }
}

/// Told by `WakeUps` what becomes of calls that wait.
protocol WakeUpListener: AnyObject {
    /// Devices that woke are to be called, for a call that rings or for one that was not reported yet.
    func devicesWoke(for leg: Leg, _ callees: [Destination], isReported: Bool)
    /// Nobody wakes any more, for a call that rings.
    func nobodyWakes(for leg: Leg)
}

/// Wake-up push (RFC 8599): a call waits until a device has registered, within a limit of its own; only then it is reported and rings.
/// If others of the line are awake, or of the ring group that was called, it rings those meanwhile. Lives on the signalling lane.
final class WakeUps {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let services: LineServices
    private let admission: Admission
    /// Sends a push, without waiting; nil: nobody is woken.
    private let push: ((PushMessage) -> Void)?
    private(set) var waking = IdentityTable<WakingCall>()
    /// Set once, before the first call.
    unowned var listener: (any WakeUpListener)!

    init(
        _ context: GatewayContext, _ table: CallTable, _ router: Router, _ services: LineServices, _ admission: Admission,
        push: ((PushMessage) -> Void)?
    ) {
        (self.context, self.table, self.router) = (context, table, router)
        (self.services, self.admission, self.push) = (services, admission, push)
    }

    private var now: Instant { context.now }

    func isWaiting(_ call: UUID) -> Bool { waking[call] != nil }

    /// The call waits, and CallKit knows nothing of it yet.
    func isUnreported(_ call: UUID) -> Bool { waking[call]?.isReported == false }

    /// Whether a call may wait for the devices of this line; counted where there is no room.
    func mayPark(on line: Line) -> Bool {
        guard mayWake(line) else { return false }
        return waking.count < context.configuration.push.calls || admission.refuse(.wakes)
    }

    /// Sends a push to each sleeping device of the line, and lets the call wait unreported.
    func park(_ leg: Leg) { wake([leg.line], for: leg, than: [], isReported: false) }

    /// Whether it may wait for devices of these lines: a caller who is up already does not.
    func mayWake(_ lines: [Line], for leg: Leg) -> Bool {
        guard leg.state == .ringing, lines.contains(where: mayWake) else { return false }
        return waking[leg.uuid] != nil || waking.count < context.configuration.push.calls || admission.refuse(.wakes)
    }

    /// A call rings at the devices that are awake: it wakes the others of these lines, where there are some and the call does not wait for
    /// them already.
    func wakeOthers(of lines: [Line], for leg: Leg, than called: [Destination]) {
        let lines = lines.filter { waking[leg.uuid]?.place(of: $0) == nil }
        if mayWake(lines, for: leg) { wake(lines, for: leg, than: called, isReported: true) }
    }

    private func wake(_ lines: [Line], for leg: Leg, than called: [Destination], isReported: Bool) {
        var waits: [WakingCall.Wait] = []
        // A group may name a member twice.
        for line in lines where mayWake(line) && !waits.contains(where: { $0.line === line }) {
            let names = called.filter { $0.device == line.configuration.number }.map(\.deviceName)
            waits.append(WakingCall.Wait(line: line, called: names, sleepers: sleepers(of: line)))
        }
        waking[leg.uuid, default: WakingCall(leg: leg, isReported: isReported)].waits += waits
        context.timers.arm(.wake, of: leg, after: context.configuration.push.limit)
        leg.scribe.write(.pushSent, at: now, [.count: .init(waits.reduce(0) { $0 + $1.sleepers.count })])
        for wait in waits { for sleeper in wait.sleepers { push?(message(to: sleeper, of: wait.line, for: leg)) } }
    }

    /// Whether it has devices that a push may wake.
    func mayWake(_ line: Line) -> Bool { !sleepers(of: line).isEmpty }

    /// Devices that can be pushed to, and are not registered.
    private func sleepers(of line: Line) -> [PushBinding] {
        guard push != nil else { return [] }
        var asleep = line.features.pushBindings.current(at: context.date)
        guard !asleep.isEmpty else { return [] }
        for contact in router.registrar.contacts(of: line.configuration.number, at: now) where router.isAwake(contact) {
            asleep.remove(of: contact.uri, instance: contact.instance)
        }
        return asleep
    }

    private func message(to sleeper: PushBinding, of line: Line, for leg: Leg) -> PushMessage {
        PushMessage(
            provider: sleeper.provider.description, identifier: sleeper.identifier.description, parameter: sleeper.parameter?.description,
            line: line.configuration.number.description, call: leg.uuid, caller: leg.origin?.handle.value ?? "",
            name: leg.origin.flatMap { $0.caller.update.localizedCallerName })
    }

    /// A push was not taken. When none was of those whose devices still sleep, nobody will wake.
    func pushFailed(_ cause: String, for push: PushMessage) {
        // Also where the call waits no more: it is up, or others ring, or its caller has gone.
        let details: JournalEvent.Details = [.cause: .init(cause), .text: .init(push.line)]
        if let leg = table.leg(push.call) {
            leg.scribe.write(.pushFailed, at: now, details)
        } else {
            context.journal.record(.pushFailed, line: Text(push.line), at: now, details)
        }
        if let place = table.lines.line(numbered: Text(push.line)).flatMap({ waking[push.call]?.place(of: $0) }) {
            waking[push.call]?.waits[place].sleepers.removeAll {
                $0.provider == Text(push.provider) && $0.identifier == Text(push.identifier)
            }
        }
        if waking[push.call]?.isOver == true { stopWaiting(push.call, "push-failed") }
    }

    /// A REGISTER was accepted: what it says of pushes is kept, and calls that wait for the line ring.
    func registered(_ request: Message) {
        guard context.configuration.push.isOn, let user = request.to.uri.decodedUser, let line = table.lines.line(numbered: user) else {
            return
        }
        let keep = TimeInterval(context.configuration.push.keep.components.seconds)
        if line.features.pushBindings.apply(request, at: context.date, keep: keep) { services.pushBindingsChanged(of: line) }
        let calls = waking.values.filter { $0.place(of: line) != nil }
        guard !calls.isEmpty else { return }
        let asleep = sleepers(of: line)
        for call in calls.sorted(by: { $0.leg.media.id.rawValue < $1.leg.media.id.rawValue }) {
            guard let place = call.place(of: line) else { continue }
            let before = call.waits[place].sleepers, left = before.filter { sleeper in asleep.contains { $0.isSame(as: sleeper) } }
            waking[call.leg.uuid]?.waits[place].sleepers = left
            ring(call, at: line, place)
            if left.count < before.count, waking[call.leg.uuid]?.isOver == true { stopWaiting(call.leg.uuid, "unreachable") }
        }
    }

    /// At the devices of the line that are awake now and did not ring before.
    private func ring(_ call: WakingCall, at line: Line, _ place: Int) {
        let leg = call.leg
        guard let origin = leg.origin, let invite = leg.session?.request, leg.line === line || table.mayRing(line, for: leg) else { return }
        let awake = router.destinations(of: line, dialled: origin.dialled, caller: origin.caller, after: invite)
        let callees = awake.filter { !call.waits[place].called.contains($0.deviceName) }
        guard !callees.isEmpty else { return }
        waking[leg.uuid]?.waits[place].called += callees.map(\.deviceName)
        waking[leg.uuid]?.isReported = true
        listener.devicesWoke(for: leg, callees, isReported: call.isReported)
    }

    /// `Feature-Caps` of the 200 to a REGISTER that asks for pushes (RFC 8599 §4.1.2).
    func capability(for request: Message) -> Text? {
        guard context.configuration.push.isOn,
            let provider = request.contacts.lazy.compactMap({ $0.uri.parameters.value(of: "pn-provider") }).first
        else { return nil }
        return "*;+sip.pns=\"" + provider + "\""
    }

    /// No further device wakes, or none did in time. A call that rings goes on ringing with those that are awake, and ends when none of
    /// them is left and none comes after them.
    func stopWaiting(_ call: UUID, _ cause: Text) {
        guard let leg = waking[call]?.leg else { return }
        guard waking[call]?.isReported == true else { return giveUp(call, cause) }
        stopWaking(for: leg)
        listener.nobodyWakes(for: leg)
    }

    /// The devices that were pushed to for a call that rings come too late from here on.
    func stopWaking(for leg: Leg) {
        waking[leg.uuid] = nil
        context.timers.disarm(.wake, of: leg)
    }

    /// Ends a call that was never reported.
    func giveUp(_ call: UUID, _ cause: Text, as end: EndCause = EndCause(status: 480, reasons: [.q850(20)])) {
        guard let leg = waking.removeValue(forKey: call)?.leg else { return }
        context.timers.disarm(.wake, of: leg)
        leg.scribe.write(.pushUnreported, at: now, [.cause: .init(cause)])
        if let session = leg.session {
            session.refuse(end, adding: end.status == 480 ? router.warnings(whereNobodyIsThereFor: session.request) : [], at: now)
        }
        services.noteOutgoing(leg, cause: end, reason: cause)
        table.discard(leg)
    }

    /// Calls that were cancelled while they waited, and calls that ring no more.
    func dropGone() {
        guard !waking.isEmpty else { return }
        for call in waking.values where call.leg.state != .ringing {
            if !call.isReported {
                guard call.leg.state == .ended else { continue }
                giveUp(call.leg.uuid, "cancelled", as: call.leg.endCause ?? .subscriberAbsent)
            } else {
                stopWaking(for: call.leg)
            }
        }
    }
}
