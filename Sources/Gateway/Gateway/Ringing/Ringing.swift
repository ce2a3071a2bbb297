import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

/// Rings for an accepted incoming call: the line's devices or trunk, the members of a ring group in their order, or a script.
///
/// Lives on the signalling lane.
final class Ringing {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let dialling: Dialling
    let wakeUps: WakeUps
    let originations: Originations
    private let applications: Applications
    /// Stages of ring groups that are still to come, by the caller's call.
    private(set) var hunts = IdentityTable<Hunt>()

    init(
        _ context: GatewayContext, _ table: CallTable, _ router: Router, _ dialling: Dialling, _ wakeUps: WakeUps,
        _ originations: Originations, _ applications: Applications
    ) {
        (self.context, self.table, self.router) = (context, table, router)
        (self.dialling, self.wakeUps, self.originations, self.applications) = (dialling, wakeUps, originations, applications)
    }

    /// The application of the line answers, or its devices, its trunk or its group are called. An application has nobody who could ring:
    /// its caller gets 180 at once. Any other caller gets 180 when the first callee rings.
    func ring(_ leg: Leg, _ callees: [Destination]) {
        guard leg.state == .new else { return }
        leg.call.enter(.ringing)
        if leg.succession.replaces != nil { return leg.line.calls.answer(leg.uuid) }
        switch leg.endpoint {
        case .application, .script:
            alert(leg)
            applications.start(leg)
        case .devices, .trunk:
            open(leg, isGroup: false)
            join(callees, to: leg)
            wakeUps.wakeOthers(of: [leg.line], for: leg, than: callees)
            // While others may still wake, running out of those that ring does not end it.
            if !wakeUps.isWaiting(leg.uuid) { table.tell(leg.bridge, .dialled) }
        case .group(let group):
            open(leg, isGroup: true)
            hunts[leg.uuid] = Hunt(group)
            hunt(for: leg.uuid)
        }
    }

    private func open(_ leg: Leg, isGroup: Bool) {
        leg.bridge = leg.uuid
        table.open(Bridge(caller: leg.uuid, isGroup: isGroup))
        let snapshot = leg.line.system.call(leg.uuid)
        leg.origin?.name = snapshot?.identification?.name ?? snapshot?.localizedCallerName
    }

    /// Calls them for a call that rings.
    func join(_ callees: [Destination], to leg: Leg) {
        guard table.isCalling(leg.uuid) else { return }
        dialling.call(callees.map { named($0, leg) }, for: leg)
    }

    /// With the name that the line knows its caller by.
    private func named(_ callee: Destination, _ leg: Leg) -> Destination {
        guard let name = leg.line.system.call(leg.uuid)?.identification?.name else { return callee }
        var callee = callee
        callee.caller.displayName = Text(name)
        return callee
    }

    // MARK: Forks

    /// A callee rings (18x): the caller is told, once, and again where the response passes headers.
    func rings(_ leg: Leg, _ response: Message) {
        guard let bridge = leg.bridge, table.isCalling(bridge), let caller = table.leg(bridge), caller.state == .ringing else { return }
        if response.status != 181, !caller.alerting.isAlerted || !caller.passedHeaders.isEmpty { alert(caller) }
        if table.callees(of: bridge).count > 1 || hunts[bridge] != nil { ringFork(leg, caller) }
    }

    /// 180.
    private func alert(_ caller: Leg) {
        guard caller.mayRing else { return }
        caller.alerting.isAlerted = true
        caller.session?.respond(status: 180, headers: caller.passedHeaders, at: context.now)
    }

    /// It is not the only one: the caller has an early dialog with each, where it hears of their ends.
    private func ringFork(_ leg: Leg, _ caller: Leg) {
        if leg.alerting.forkTag == nil { leg.alerting.forkTag = caller.session?.ringFork(at: context.now) }
    }

    func forkEnded(_ leg: Leg, _ cause: EndCause) {
        guard let tag = leg.alerting.forkTag, let caller = table.opener(ofBridgeOf: leg), caller.state == .ringing else { return }
        caller.session?.endFork(tag, reasons: cause.responseReasons, at: context.now)
    }

    // MARK: Ring groups

    /// The members ring for a caller who is up already.
    func hunt(_ group: RingGroup, for leg: Leg) {
        hunts[leg.uuid] = Hunt(group)
        hunt(for: leg.uuid)
    }

    /// The next stage that anybody can be reached in, or woken. After the last one running out of callees ends the call, once nobody may
    /// wake any more.
    ///
    /// In turn the one whose turn it is has its time, for waking too; where all ring, nobody who is awake waits for those that sleep.
    func hunt(for caller: UUID) {
        guard let leg = table.leg(caller), leg.state == .ringing || leg.application != nil else { return hunts[caller] = nil }
        context.timers.disarm(.hunt, of: leg)
        while let stage = hunts[caller]?.next() {
            let before = table.callees(of: caller)
            let members = stage.members.compactMap(table.lines.line(numbered:)).filter { table.mayRing($0, for: leg) }
            let found = members.flatMap { destinations(ofMember: $0, for: leg) }
            guard !found.isEmpty || wakeUps.mayWake(members, for: leg) else { continue }
            if stage.endsOthers { wakeUps.stopWaking(for: leg) }
            dialling.call(found.map { named($0, leg) }, for: leg, ending: stage.endsOthers ? before.count : 0)
            wakeUps.wakeOthers(of: members, for: leg, than: found)
            if stage.endsOthers { for callee in before { table.leg(callee)?.requestEnd(.ringTimeout) } }
            guard !found.isEmpty || stage.endsOthers else { continue }
            if let time = stage.next { return context.timers.arm(.hunt, of: leg, after: time) }
            break
        }
        hunts[caller] = nil
        if !wakeUps.isWaiting(caller) { table.tell(caller, .dialled) }
    }

    /// Nobody of those who were called is left: the next ring, unless it is the turn of one that may still wake.
    func huntOn(for caller: UUID) {
        guard let hunt = hunts[caller], !hunt.isInTurn || !wakeUps.isWaiting(caller) else { return }
        self.hunt(for: caller)
    }

    private func destinations(ofMember line: Line, for leg: Leg) -> [Destination] {
        guard let session = leg.session else { return [] }
        return router.destinations(of: line, dialled: line.configuration.number, caller: leg.party, after: session.request)
    }

    /// No device wakes any more for a call that rings: it goes on with those that are awake, and ends when none of them is left and none
    /// comes after them.
    func nobodyWakes(for leg: Leg) {
        if hunts[leg.uuid] == nil { return table.tell(leg.bridge, .dialled) }
        if table.callees(of: leg.uuid).isEmpty { hunt(for: leg.uuid) }
    }

    func endHunt(of call: UUID) { hunts[call] = nil }

    /// The device that a leg calls is called over the next of its flows, where it has one: for whom the leg was made, who still waits.
    func callOverNextFlow(insteadOf leg: Leg) {
        guard let next = leg.destination?.value.overNextFlow else { return }
        if let id = leg.origination { return _ = originations.ring(next, for: id, of: leg.line, with: leg.uuid) }
        guard let bridge = leg.bridge else { return }
        switch table.bridges[bridge]?.state {
        case .calling: table.leg(bridge).map { dialling.call(next, for: $0) }
        case .transferring(let transfer) where transfer.targets.contains(leg.uuid):
            table.leg(transfer.staying).map { dialling.call(next, for: $0) }
        case .answering, .joined, .transferring, .grouped, .ended, nil: break
        }
    }
}
