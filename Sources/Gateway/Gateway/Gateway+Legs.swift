import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

// Consequences of events of legs, bridges, CallKit systems and timers: each is one switch that hands on to the part that decides.

extension Gateway: LegContext {
    var shared: GatewayContext { context }

    func invite(from leg: Leg, to destination: Destination, offer: [UInt8]) -> InviteSession {
        dialling.invite(from: leg, to: destination, offer: offer)
    }

    func group(_ leg: Leg, with other: Leg) -> Bool { grouping.group(leg, with: other) }

    func part(_ leg: Leg) -> Bool { grouping.part(leg) }

    func leg(_ leg: Leg, did event: LegEvent) {
        switch event {
        case .hasNoPort(let cause): admission.refused(cause, leg.flow.remote.address)
        case .provisional(let response):
            dialling.passHeaders(of: response, from: leg)
            ringing.rings(leg, response)
        case .startedRinging(let status): transfers.tellTransferor(ofTarget: leg, status)
        case .dialogMoved: services.dialogs.note(leg)
        case .passedHeaders(let message): dialling.passHeaders(of: message, from: leg)
        case .connected: if services.dialogs.takeovers?.connected(leg) != true { ringing.originations.connected(leg) }
        case .startsMedia: recorder.begin(leg)
        case .silent: reachability.calleeIsSilent(leg)
        case .heard: reachability.calleeIsBack(leg)
        case .unreachable: reachability.contactIsDead(leg)
        case .flowFailed: ringing.callOverNextFlow(insteadOf: leg)
        case .transferRequested(let request): transfers.transfer(request, by: leg)
        case .digit(let digit): applications.heard(digit, by: leg)
        case .sourceFinished: applications.sourceFinished(leg)
        case .wantsEnd(let cause): end(leg, cause)
        }
    }

    /// As a user of ours would.
    func end(_ leg: Leg, _ cause: EndCause) {
        // One that waits for a device to wake is none of CallKit's yet.
        if ringing.wakeUps.isUnreported(leg.uuid) { return ringing.wakeUps.giveUp(leg.uuid, "draining", as: cause) }
        transfers.transferFailed(leg, cause)
        leg.requestEnd(cause)
    }

    // MARK: Bridges

    func apply(_ outputs: [Bridge.Output], of bridge: UUID) {
        for output in outputs { apply(output, of: bridge) }
    }

    private func apply(_ output: Bridge.Output, of bridge: UUID) {
        switch output {
        case .answer(let call):
            guard let leg = table.leg(call) else { return }
            // A caller whose line answered before a device did waits for it already.
            let isUp = leg.direction == .outgoing || leg.state == .connected
            guard isUp else { return leg.line.calls.answer(call) }
            if !applications.calls.connect(leg) { ringing.originations.join(leg) }
        case .end(let call, let cause):
            guard let leg = table.leg(call), !applications.callFailed(leg, cause, in: bridge) else { return }
            end(leg, cause)
        case .answeredElsewhere(let call): table.leg(call)?.end(.reported(.answeredElsewhere, .answeredElsewhere))
        case .transferred(let staying, let leaving, let other):
            guard let staying = table.leg(staying), let other = table.leg(other) else { return }
            transfers.transferred(staying, from: leaving.flatMap(table.leg), to: other)
        case .transferFailed(let call, let cause): table.leg(call).map { transfers.transferFailed($0, cause) }
        case .forkEnded(let call, let cause): table.leg(call).map { ringing.forkEnded($0, cause) }
        case .hold(let call, let isHeld): table.leg(call).map { transfers.holding.hold($0, isHeld) }
        case .callNext: ringing.huntOn(for: bridge)
        case .conversation(let members):
            grouping.arrange(members, of: bridge)
            for leg in members.compactMap(table.leg) { services.dialogs.note(leg) }
        }
    }

    /// didDeactivate has come for these by now: close and release.
    func takeDownEnded() {
        let ended = table.takeEnded()
        for leg in ended {
            leg.end(.system)
            context.timers.disarmAll(of: leg)
            ringing.endHunt(of: leg.uuid)
            table.discard(leg)
            if let bridge = leg.bridge { table.forgetIfEnded(bridge) }
        }
        if !ended.isEmpty { applications.queues.offerAll() }
    }

    // MARK: Timers

    func fire(_ timer: GatewayTimer) {
        switch timer {
        case .line(let index): context.timers.fire(lineTable[index])
        case .leg(let call, let kind):
            guard let leg = table.leg(call) else { return }
            leg.timers.removeAll { $0.timer == kind }
            guard leg.state != .ended else { return }
            fire(kind, of: leg)
        }
    }

    private func fire(_ timer: LegTimer, of leg: Leg) {
        switch timer {
        case .ring: leg.end(.reported(leg.state == .early ? .unanswered : .failed, .ringTimeout))
        case .resume: if leg.call.isHeld { leg.line.calls.setHeld(leg.uuid, false) }
        case .duration:
            leg.ending.ender = .gateway
            end(leg, .maximumDuration)
        case .firstMedia: leg.heardNothing()
        case .hunt: ringing.hunt(for: leg.uuid)
        case .application: applications.advance(leg)
        case .wake: ringing.wakeUps.stopWaiting(leg.uuid, "timeout")
        case .silence: leg.deviceIsSilent()
        }
    }
}

extension Gateway: LineListener {
    func systemActs(on call: UUID, _ cause: SystemCause, of line: Line) {
        guard let leg = line.legs[call], leg.endCause == nil else { return }
        switch cause {
        case .ringTimeout: (leg.endCause, leg.ending.ender) = (.ringTimeout, .gateway)
        case .answerTimeout: (leg.endCause, leg.ending.ender) = (.answerTimeout, .gateway)
        case .automaticHold, .automaticResume: break
        }
    }

    func ended(_ call: UUID, _ end: CallEnd, on line: Line) {
        table.count(end)
        guard let leg = line.legs[call] else { return }
        table.noteEnd(of: leg)
        applications.queues.callEnded(leg)
        services.noteEnd(of: leg, end)
        ringing.originations.forget(leg, of: leg.origination)
        table.tell(leg.bridge, .ended(call, leg.endCause ?? .failed))
    }

    func answered(_ call: UUID, on line: Line) {
        guard let leg = line.legs[call] else { return }
        leg.origin?.connected = context.date
        services.noteUp(leg)
        applications.answered(leg)
        guard let bridge = leg.bridge else { return }
        defer { leg.tellFirstHold() }
        guard let old = leg.succession.replaces else { return table.tell(bridge, .callerConnected) }
        leg.succession.replaces = nil
        table.tellOrEnd(bridge, .replaced(old, by: call))
    }
}
