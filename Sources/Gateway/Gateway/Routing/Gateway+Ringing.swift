import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

/// What rings when an incoming call was accepted: the line's devices or trunk, the members of a ring group in their order, a script.
extension Gateway {
    /// The application or the script of the line answers, or its devices, its trunk or its group are called. An application has nobody who
    /// could ring: its
    /// caller gets 180 at once. Any other caller gets 180 when the first callee rings.
    func ring(_ leg: Leg, _ callees: [Destination]) {
        guard leg.state == .new else { return }
        leg.call.enter(.ringing)
        if leg.replaced != nil { return leg.line.calls.answer(leg.uuid) }
        switch leg.line.configuration.endpoint {
        case .application:
            alert(leg)
            leg.line.calls.answer(leg.uuid)
        case .script(let script):
            alert(leg)
            follow(script, leg)
        case .devices, .trunk:
            open(leg, isGroup: false)
            join(callees, to: leg)
            wakeOthers(of: [leg.line], for: leg, than: callees)
            // While others may still wake, running out of those that ring does not end it.
            if waking[leg.uuid] == nil { tell(leg.bridge, .dialled) }
        case .group(let group):
            open(leg, isGroup: true)
            hunts[leg.uuid] = Hunt(group)
            hunt(for: leg.uuid)
        }
    }

    private func open(_ leg: Leg, isGroup: Bool) {
        leg.bridge = leg.uuid
        open(Bridge(caller: leg.uuid, isGroup: isGroup))
        let snapshot = leg.line.system.call(leg.uuid)
        leg.origin?.name = snapshot?.identification?.name ?? snapshot?.localizedCallerName
    }

    /// Calls them for a call that rings.
    func join(_ callees: [Destination], to leg: Leg) {
        guard isCalling(leg.uuid) else { return }
        call(callees.map { named($0, leg) }, for: leg)
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
        guard let bridge = leg.bridge, isCalling(bridge), let caller = self.leg(bridge), caller.state == .ringing else { return }
        if response.status != 181, !caller.isAlerted || !caller.passedHeaders.isEmpty { alert(caller) }
        if callees(of: bridge).count > 1 || hunts[bridge] != nil { ringFork(leg, caller) }
    }

    /// 180.
    private func alert(_ caller: Leg) {
        guard caller.mayRing else { return }
        caller.isAlerted = true
        caller.session?.respond(status: 180, headers: caller.passedHeaders, at: now)
    }

    /// It is not the only one: the caller has an early dialog with each, where it hears of their ends.
    private func ringFork(_ leg: Leg, _ caller: Leg) {
        if leg.forkTag == nil { leg.forkTag = caller.session?.ringFork(at: now) }
    }

    func forkEnded(_ leg: Leg, _ cause: EndCause) {
        guard let tag = leg.forkTag, let caller = leg.bridge.flatMap({ self.leg($0) }), caller.state == .ringing else { return }
        caller.session?.endFork(tag, reasons: cause.responseReasons, at: now)
    }

    // MARK: Ring groups

    /// The next stage that anybody can be reached in, or woken. After the last one running out of callees ends the call, once nobody may
    /// wake any more.
    ///
    /// In turn the one whose turn it is has its time, for waking too; where all ring, nobody who is awake waits for those that sleep.
    func hunt(for caller: UUID) {
        guard let leg = leg(caller), leg.state == .ringing else { return hunts[caller] = nil }
        disarm(.hunt, of: leg)
        while let stage = hunts[caller]?.next() {
            let before = callees(of: caller), members = stage.members.compactMap { line(numbered: $0) }.filter { isMember($0, for: leg) }
            let found = members.flatMap { destinations(ofMember: $0, for: leg) }
            guard !found.isEmpty || mayWake(members, for: leg) else { continue }
            if stage.endsOthers { stopWaking(for: leg) }
            call(found.map { named($0, leg) }, for: leg, ending: stage.endsOthers ? before.count : 0)
            wakeOthers(of: members, for: leg, than: found)
            if stage.endsOthers { for callee in before { self.leg(callee).map { end($0, .ringTimeout) } } }
            guard !found.isEmpty || stage.endsOthers else { continue }
            if let time = stage.next { return arm(.hunt, of: leg, after: time) }
            break
        }
        hunts[caller] = nil
        if waking[caller] == nil { tell(caller, .dialled) }
    }

    /// Nobody of those who were called is left: the next ring, unless it is the turn of one that may still wake.
    func huntOn(for caller: UUID) {
        guard let hunt = hunts[caller], !hunt.isInTurn || waking[caller] == nil else { return }
        self.hunt(for: caller)
    }

    /// A member that has calls enough, or does not want this one, is passed over; the others ring.
    func isMember(_ line: Line, for leg: Leg) -> Bool { !isFull(line) && !line.features.wouldRefuse(Self.update(for: leg.party)) }

    private func destinations(ofMember line: Line, for leg: Leg) -> [Destination] {
        guard let session = leg.session else { return [] }
        return destinations(of: line, dialled: line.configuration.number, caller: leg.party, after: session.request)
    }

    // MARK: Scripts

    private func follow(_ script: LineScript, _ leg: Leg) {
        let (act, after) = script.act(onCall: countCall(of: leg.line))
        guard act != .ring else { return }
        guard after > .zero else { return perform(act, leg) }
        arm(.script, of: leg, after: after)
    }

    func perform(_ act: LineScript.Act, _ leg: Leg) {
        guard leg.state == .ringing else { return }
        switch act {
        case .answer: leg.line.calls.answer(leg.uuid)
        case .ring: break
        case .reject(let status):
            end(leg, EndCause(status: status, reasons: StatusTable.q850(forStatus: status).map { [.q850($0)] } ?? []))
        }
    }
}
