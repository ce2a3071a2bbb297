import CallJournal
import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// Transfers within a bridge: who stays keeps its call and its UUID, and is told with whom it talks now.
///
/// Lives on the signalling lane.
final class Transfers {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let userAgent: UserAgent
    private let dialling: Dialling
    private let ringing: Ringing
    private let recorder: Recorder
    /// Of the two that talk with each other.
    let holding: Holding
    private let services: LineServices

    init(
        _ context: GatewayContext, _ table: CallTable, _ router: Router, _ userAgent: UserAgent, _ dialling: Dialling, _ ringing: Ringing,
        _ recorder: Recorder, _ holding: Holding, _ services: LineServices
    ) {
        (self.context, self.table, self.router, self.userAgent) = (context, table, router, userAgent)
        (self.dialling, self.ringing, self.recorder, self.holding) = (dialling, ringing, recorder, holding)
        self.services = services
    }

    private var now: Instant { context.now }

    /// A REFER of a leg (mapping §6). Accepted from a leg of a bridge whose party may dial here; the new call is made as the one who stays.
    func transfer(_ request: TransferRequest, by leg: Leg) {
        guard let session = leg.session else { return }
        guard leg.state == .connected, let bridge = leg.bridge, let staying = table.peer(of: leg), leg.transfer == nil else {
            return session.refuse(request, status: 603, at: now)
        }
        guard case .joined = table.bridges[bridge]?.state else { return session.refuse(request, status: 491, at: now) }
        guard leg.mayTransfer else { return session.refuse(request, status: 403, at: now) }
        leg.transfer = request
        leg.scribe.write(.transferRequested, at: now, [.remote: .init(request.target.text)])
        session.accept(request, at: now)
        guard let dialog = request.replaces else { return call(request, for: staying, in: bridge, by: leg) }
        guard let second = self.leg(in: dialog), second !== leg, second.party.user == leg.party.user else { return fail(leg, 481) }
        guard !second.isWithApplication else { return call(request, for: staying, in: bridge, by: leg, insteadOf: second) }
        join(staying, withPartnerOf: second, for: leg)
    }

    /// To an application that whoever asks has called before: it has no other end that could be joined, and takes a call of its own.
    private func call(_ request: TransferRequest, for staying: Leg, in bridge: UUID, by leg: Leg, insteadOf second: Leg) {
        call(request, for: staying, in: bridge, by: leg)
        if leg.transfer != nil { second.end(.reported(.remoteEnded, .transferred)) }
    }

    /// Blind: the number is called as if the one who stays had dialled it.
    private func call(_ request: TransferRequest, for staying: Leg, in bridge: UUID, by leg: Leg) {
        let dialledNumber = router.lines.routing.dialledNumber(request.target)
        guard let dialled = dialledNumber, let target = router.lines.line(for: dialled, host: request.target.host) else {
            return fail(leg, 404)
        }
        guard table.hasRoom else { return fail(leg, 503) }
        guard !isToOurselves(staying) || target.rings else { return fail(leg, 480) }
        if let refusal = refusal(by: target, ofTransferOf: staying, in: bridge) { return transferFailed(leg, refusal.cause) }
        var callees = destinations(ofTransferTo: dialled, target, for: staying, isSecure: request.target.scheme == .sips)
        guard !callees.isEmpty else { return fail(leg, 480) }
        for place in callees.indices {
            callees[place].line = target
            callees[place].headers.append((.referredBy, request.referredBy ?? nameOfTransferor(leg)))
            callees[place].referral = Referral(request.message, from: leg.trunk, isPrivate: leg.party.isPrivate)
        }
        _ = table.bridges[bridge]?.receive(.transfer(by: leg.uuid))
        dialling.call(callees, for: staying)
        table.tell(bridge, .dialled)
    }

    /// A caller who wants to stay anonymous is not named here either.
    private func nameOfTransferor(_ leg: Leg) -> Text {
        guard !leg.party.isPrivate, let user = leg.party.user else { return "<sip:anonymous@anonymous.invalid>" }
        return "<sip:" + user + "@" + context.configuration.domain + ">"
    }

    /// The refusal that a caller of the line would get; nil where it takes the call, or decides when ours arrives there.
    func refusal(by target: Line, ofTransferOf staying: Leg, in bridge: UUID) -> CallRefusal? {
        switch target.configuration.endpoint {
        case .application, .script, .group: return nil
        case .devices, .trunk:
            guard !table.isFull(target, beside: bridge) else { return CallRefusal(.maximumCalls, target.features.statuses) }
            return target.features.refusal(of: staying.party.update)
        }
    }

    /// Devices and trunks are called as they are; an application, a script, a group and a line whose devices all sleep take calls of ours
    /// as anybody's.
    /// A party that such a call rings need not be reached over TLS, so where TLS is wanted the call is not made.
    func destinations(ofTransferTo dialled: Text, _ target: Line, for staying: Leg, isSecure: Bool) -> [Destination] {
        let found = router.destinations(of: target, dialled: dialled, caller: staying.party, maxForwards: 70, isSecure: isSecure)
        switch target.configuration.endpoint {
        case .trunk: return found
        // Our call would be one more of the line's, which the one that is transferred is not.
        case .devices where !found.isEmpty || isSecure || !ringing.wakeUps.mayWake(target): return found
        case .group where isSecure: return []
        case .devices, .group, .application, .script: break
        }
        return [router.toOurselves(dialled, at: target.configuration.domain ?? context.configuration.domain, from: staying.party)]
            .compactMap(\.self)
    }

    /// Attended: both calls of whoever asks are with us, and their other ends are joined.
    private func join(_ staying: Leg, withPartnerOf second: Leg, for leg: Leg) {
        guard let bridge = leg.bridge, let old = second.bridge, old != bridge else { return fail(leg, 481) }
        if second.state == .ringing, table.isCalling(old) { return takeOver(table.callees(of: old), of: second, into: bridge, for: leg) }
        guard second.state == .connected, let other = table.peer(of: second), other !== staying else { return fail(leg, 481) }
        if case .transferring = table.bridges[old]?.state { return fail(leg, 491) }
        guard !(isToOurselves(staying) && isToOurselves(other)) else { return fail(leg, 480) }
        let holders = [(staying, bridge), (other, old)].filter { leg, bridge in table.bridges[bridge]?.isHolding(leg.uuid) == true }
        table.close(old)
        table.open(Bridge(id: bridge, joining: staying.uuid, with: other.uuid))
        (other.bridge, second.bridge, leg.bridge) = (bridge, nil, nil)
        connect(staying, with: other)
        noteParts(staying, other)
        recorder.beginAnew(staying, other)
        for held in [staying, other] where held.call.isHeld || held.hold.isEntertained { holding.hold(held, false) }
        for (holder, _) in holders { table.tell(bridge, .remoteHold(holder.uuid, true)) }
        conclude(leg)
        second.end(.reported(.remoteEnded, .transferred))
    }

    /// The call that whoever asks makes to consult still rings: those that it rings for are called for the one who stays from here on.
    private func takeOver(_ callees: [UUID], of second: Leg, into bridge: UUID, for leg: Leg) {
        guard !callees.isEmpty, let old = second.bridge else { return fail(leg, 480) }
        table.close(old)
        ringing.endHunt(of: old)
        // Neither missed nor unanswered: whom it rings for is called for another from here on.
        services.leaveOut(second)
        second.origin?.line?.features.outgoing.remove(second.uuid)
        _ = table.bridges[bridge]?.receive(.transfer(by: leg.uuid))
        for callee in callees {
            table.leg(callee)?.bridge = bridge
            table.add(callee: callee, to: bridge)
        }
        second.bridge = nil
        second.end(.reported(.remoteEnded, .transferred))
        table.tell(bridge, .dialled)
    }

    /// The leg whose dialog a Replaces header names; not one that is over and waits for its last answers.
    func leg(in dialog: DialogIdentifier) -> Leg? { table.leg(of: userAgent.session(dialog)) }

    private func fail(_ leg: Leg, _ status: Int) { transferFailed(leg, EndCause(status: status, reasons: [])) }

    // MARK: What the bridge says

    func transferFailed(_ leg: Leg, _ cause: EndCause) {
        guard let request = leg.transfer else { return }
        leg.transfer = nil
        leg.scribe.write(.transferFailed, at: now, [.status: .init(cause.status)])
        leg.session?.report(request, status: cause.status, phrase: cause.phrase, at: now)
    }

    /// Whoever asked for the transfer hears of the first target that rings.
    func tellTransferor(ofTarget leg: Leg, _ status: Int) {
        guard let bridge = leg.bridge, case .transferring(let transfer) = table.bridges[bridge]?.state, transfer.targets.contains(leg.uuid)
        else {
            return
        }
        guard !transfer.targets.contains(where: { $0 != leg.uuid && table.leg($0)?.state == .early }) else { return }
        guard let leaving = transfer.leaving.flatMap(table.leg), let request = leaving.transfer else { return }
        leaving.session?.report(request, status: status, at: now)
    }

    func transferred(_ staying: Leg, from leaving: Leg?, to other: Leg) {
        connect(staying, with: other)
        // A leg that replaced another (RFC 3891) takes over its conversation.
        if other.direction == .outgoing { noteParts(staying, other) }
        recorder.beginAnew(staying, other)
        if let leaving { conclude(leaving) }
    }

    /// The line that was called has part in the conversation as long as somebody of its own has.
    private func noteParts(_ first: Leg, _ second: Leg) {
        for (leg, other) in [(first, second), (second, first)] where leg.direction == .incoming && !leg.succession.standsForCallee {
            leg.succession.isHandedOn = table.lineReached(by: other) !== leg.line
        }
    }

    /// Media and CallKit of two legs that talk with each other from here on.
    private func connect(_ staying: Leg, with other: Leg) {
        for leg in [staying, other] { leg.media.unlink() }
        staying.media.link(to: other.media, at: now)
        for (leg, partner) in [(staying, other), (other, staying)] where leg.state == .connected {
            leg.scribe.write(.transferred, at: now, [.with: .init(CallUUID(partner.uuid).text)])
            leg.line.provider.reportCall(with: leg.uuid, updated: partner.party.update)
            leg.limitMedia()
            services.dialogs.note(leg)
        }
    }

    /// Whoever asked for the transfer is told that it is done, and its call ends.
    private func conclude(_ leg: Leg) {
        if let request = leg.transfer { leg.session?.report(request, status: 200, at: now) }
        leg.transfer = nil
        leg.end(.reported(.remoteEnded, .transferred))
    }

    // MARK: INVITE with Replaces

    /// Why a call may not take the place of another.
    struct Refusal: Error {
        let status: Int
        var cause = RequestRefusal.replaces
        var reason: Text?
    }

    /// The leg in whose place a new call comes (mapping I14, RFC 3891 §3): it has to be of the same line or party, and by somebody who
    /// proved who it is.
    func legToReplace(by call: IncomingCall, _ values: [Text]) throws(Refusal) -> Leg {
        guard values.count == 1, let dialog = DialogIdentifier(parsing: values[0]) else {
            throw Refusal(status: 400, cause: .malformed, reason: "Bad Replaces")
        }
        guard let old = leg(in: dialog) else { throw Refusal(status: table.endedDialogs.contains(dialog, at: now) ? 603 : 481) }
        if old.direction == .outgoing, old.state == .early {
            try checkPickUp(call, of: old)
            return old
        }
        let isOwn = old.party.user == call.caller.user || old.line.configuration.number == call.caller.user
        // Whoever might have taken it while it rang is told that it is answered.
        let isLate = dialog.isEarlyOnly && call.callingLine != nil
        guard call.caller.isKnown, isOwn || isLate else { throw Refusal(status: 403, cause: .forbidden) }
        guard old.state == .connected, table.peer(of: old) != nil else { throw Refusal(status: 481) }
        guard !dialog.isEarlyOnly else { throw Refusal(status: 486) }
        return old
    }

    /// A call that rings at a device, taken by another: by any line of ours that proved who it is. Only an early dialog that we began
    /// (RFC 3891 §3): where we ring for somebody there is nothing to take.
    private func checkPickUp(_ call: IncomingCall, of old: Leg) throws(Refusal) {
        guard call.caller.isKnown, call.callingLine != nil else { throw Refusal(status: 403, cause: .forbidden) }
        guard let bridge = old.bridge, table.isCalling(bridge) else { throw Refusal(status: 481) }
    }

    /// The leg comes in the place of another, before it is reported.
    func take(_ leg: Leg, inPlaceOf old: Leg, callingLine: Line?) {
        (leg.succession.replaces, leg.bridge) = (old.uuid, old.bridge)
        leg.succession.standsForCallee = old.direction == .outgoing || old.succession.standsForCallee
        leg.succession.isHandedOn = old.succession.isHandedOn || old.direction == .outgoing && table.lineReached(by: old) !== leg.line
        if leg.succession.standsForCallee { leg.lines.called = old.lines.called }
        leg.origin?.isInRecents = false
        // The conversation is one of its line already.
        if leg.succession.standsForCallee, callingLine === leg.line { leg.line.features.outgoing.remove(leg.uuid) }
    }

    // MARK: From code

    /// Asks the far end of a call to call somebody else (REFER): in the place of another call of ours where `other` names one.
    func refer(_ call: UUID, to target: URI, replacing other: UUID?) -> Bool {
        guard let leg = table.leg(call), leg.state == .connected, let session = leg.session else { return false }
        let dialog = other.flatMap { table.leg($0)?.session?.dialogAsPeerSees }
        if other != nil, dialog == nil { return false }
        let own = NameAddress(uri: URI(user: leg.line.configuration.number, host: context.configuration.domain))
        let headers = leg.trunk?.configuration.headers.towardsTrunk(from: nil) ?? []
        return session.refer(to: target, replacing: dialog, referredBy: own, headers: headers, at: now)
    }

    // MARK: The far end

    /// An application of ours is at the far end, behind a call of ours. Two of these with each other would never hang up.
    private func isToOurselves(_ leg: Leg) -> Bool {
        guard let session = leg.session, session.isToOurselves else { return false }
        guard let arrived = table.leg(ofAttempt: session.attempt) else { return true }
        // Whoever was called there may have sent it on to one.
        return arrived.isWithApplication || table.peer(of: arrived).map(isToOurselves) == true
    }
}

extension Leg {
    /// It is up, and its line answers itself.
    fileprivate var isWithApplication: Bool {
        switch line.configuration.endpoint {
        case .application, .script: state == .connected && bridge == nil
        case .devices, .trunk, .group: false
        }
    }
}
