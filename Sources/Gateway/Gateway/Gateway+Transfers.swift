import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// Transfers within a bridge: who stays keeps its call and its UUID, and is told with whom it talks now.
extension Gateway {
    /// A REFER of a leg (mapping §6). Accepted from a leg of a bridge whose party may dial here; the new call is made as the one who stays.
    func transfer(_ request: TransferRequest, by leg: Leg) {
        guard let session = leg.session else { return }
        guard leg.state == .connected, let bridge = leg.bridge, let staying = peer(of: leg), leg.transfer == nil else {
            return session.refuse(request, status: 603, at: now)
        }
        guard case .joined = bridges[bridge]?.state else { return session.refuse(request, status: 491, at: now) }
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
        if leg.transfer != nil { second.endOutOfBand(.remoteEnded, cause: .transferred, tellsPeer: true) }
    }

    /// Blind: the number is called as if the one who stays had dialled it.
    private func call(_ request: TransferRequest, for staying: Leg, in bridge: UUID, by leg: Leg) {
        guard let dialled = routing.dialledNumber(request.target), let index = routing.line(for: dialled, host: request.target.host) else {
            return fail(leg, 404)
        }
        guard legCount < configuration.limits.legs else { return fail(leg, 503) }
        guard !staying.isToOurselves || lines[index].rings else { return fail(leg, 480) }
        if let refusal = refusal(by: lines[index], ofTransferOf: staying, in: bridge) { return transferFailed(leg, refusal.cause) }
        var callees = destinations(ofTransferTo: dialled, lines[index], for: staying, isSecure: request.target.scheme == .sips)
        guard !callees.isEmpty else { return fail(leg, 480) }
        for place in callees.indices {
            callees[place].line = lines[index]
            callees[place].headers.append((.referredBy, request.referredBy ?? nameOfTransferor(leg)))
            callees[place].referral = Referral(request.message, from: leg.trunk, isPrivate: leg.party.isPrivate)
        }
        _ = bridges[bridge]?.receive(.transfer(by: leg.uuid))
        call(callees, for: staying)
        tell(bridge, .dialled)
    }

    /// Who does not want to be known is not named here either.
    private func nameOfTransferor(_ leg: Leg) -> Text {
        guard !leg.party.isPrivate, let user = leg.party.user else { return "<sip:anonymous@anonymous.invalid>" }
        return "<sip:" + user + "@" + configuration.domain + ">"
    }

    /// What somebody who calls the line would be told; nil where it takes the call, or is asked when ours arrives there.
    private func refusal(by target: Line, ofTransferOf staying: Leg, in bridge: UUID) -> CallRefusal? {
        switch target.configuration.endpoint {
        case .application, .script, .group: return nil
        case .devices, .trunk:
            guard !isFull(target, beside: bridge) else { return CallRefusal(.maximumCalls, target.features.statuses) }
            return target.features.refusal(of: Self.update(for: staying.party))
        }
    }

    /// Devices and trunks are called as they are; an application, a script, a group and a line whose devices all sleep take calls of ours
    /// as anybody's.
    /// Whom such a call rings need not be reached over TLS, so where that is wanted it is not made.
    private func destinations(ofTransferTo dialled: Text, _ target: Line, for staying: Leg, isSecure: Bool) -> [Destination] {
        let found = destinations(of: target, dialled: dialled, caller: staying.party, maxForwards: 70, isSecure: isSecure)
        switch target.configuration.endpoint {
        case .trunk: return found
        // Our call would be one more of the line's, which the one that is transferred is not.
        case .devices where !found.isEmpty || isSecure || !mayWake(target): return found
        case .group where isSecure: return []
        case .devices, .group, .application, .script: break
        }
        return [toOurselves(dialled, at: target.configuration.domain ?? configuration.domain, from: staying.party)].compactMap(\.self)
    }

    /// Attended: both calls of whoever asks are with us, and their other ends are joined.
    private func join(_ staying: Leg, withPartnerOf second: Leg, for leg: Leg) {
        guard let bridge = leg.bridge, let old = second.bridge, old != bridge else { return fail(leg, 481) }
        if second.state == .ringing, isCalling(old) { return takeOver(callees(of: old), of: second, into: bridge, for: leg) }
        guard second.state == .connected, let other = peer(of: second), other !== staying else { return fail(leg, 481) }
        if case .transferring = bridges[old]?.state { return fail(leg, 491) }
        guard !(staying.isToOurselves && other.isToOurselves) else { return fail(leg, 480) }
        let holders = [(staying, bridge), (other, old)].filter { leg, bridge in bridges[bridge]?.isHolding(leg.uuid) == true }
        bridges[old] = nil
        bridges[bridge] = Bridge(id: bridge, joining: staying.uuid, with: other.uuid)
        (other.bridge, second.bridge, leg.bridge) = (bridge, nil, nil)
        connect(staying, with: other)
        noteParts(staying, other)
        recordAnew(staying, other)
        for held in [staying, other] where held.call.isHeld || held.isEntertained { putOnHold(held, false) }
        for (holder, _) in holders { tell(bridge, .remoteHold(holder.uuid, true)) }
        conclude(leg)
        second.endOutOfBand(.remoteEnded, cause: .transferred, tellsPeer: true)
    }

    /// The call that whoever asks makes to consult still rings: those that it rings for are called for the one who stays from here on.
    private func takeOver(_ ringing: [UUID], of second: Leg, into bridge: UUID, for leg: Leg) {
        guard !ringing.isEmpty, let old = second.bridge else { return fail(leg, 480) }
        bridges[old] = nil
        hunts[old] = nil
        // Neither missed nor unanswered: whom it rings for is called for another from here on.
        second.origin?.isInRecents = false
        second.origin?.line?.features.outgoing.remove(second.uuid)
        _ = bridges[bridge]?.receive(.transfer(by: leg.uuid))
        for callee in ringing {
            self.leg(callee)?.bridge = bridge
            bridges[bridge]?.add(callee: callee)
        }
        second.bridge = nil
        second.endOutOfBand(.remoteEnded, cause: .transferred, tellsPeer: true)
        tell(bridge, .dialled)
    }

    /// The leg whose dialog a Replaces header names; not one that is over and waits for its last answers.
    func leg(in dialog: DialogIdentifier) -> Leg? {
        (userAgent.session(dialog)?.delegate as? Leg).flatMap { leg($0.uuid) }
    }

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
        guard let bridge = leg.bridge, case .transferring(let transfer) = bridges[bridge]?.state, transfer.targets.contains(leg.uuid) else {
            return
        }
        guard !transfer.targets.contains(where: { $0 != leg.uuid && self.leg($0)?.state == .early }) else { return }
        guard let leaving = transfer.leaving.flatMap({ self.leg($0) }), let request = leaving.transfer else { return }
        leaving.session?.report(request, status: status, at: now)
    }

    func transferred(_ staying: Leg, from leaving: Leg?, to other: Leg) {
        connect(staying, with: other)
        // Who took the place of another by Replaces goes on in what that had.
        if other.direction == .outgoing { noteParts(staying, other) }
        recordAnew(staying, other)
        if let leaving { conclude(leaving) }
    }

    /// The line that was called has part in the conversation as long as somebody of its own has.
    private func noteParts(_ first: Leg, _ second: Leg) {
        for (leg, other) in [(first, second), (second, first)] where leg.direction == .incoming && !leg.standsForCallee {
            leg.isHandedOn = lineReached(by: other) !== leg.line
        }
    }

    /// Media and CallKit of two legs that talk with each other from here on.
    private func connect(_ staying: Leg, with other: Leg) {
        for leg in [staying, other] { leg.media.unlink() }
        staying.media.link(to: other.media, at: now)
        for (leg, partner) in [(staying, other), (other, staying)] where leg.state == .connected {
            leg.scribe.write(.transferred, at: now, [.with: .init(CallUUID(partner.uuid).text)])
            leg.line.provider.reportCall(with: leg.uuid, updated: Self.update(for: partner.party))
            limitMedia(of: leg)
        }
    }

    /// Whoever asked for the transfer is told that it is done, and its call ends.
    private func conclude(_ leg: Leg) {
        if let request = leg.transfer { leg.session?.report(request, status: 200, at: now) }
        leg.transfer = nil
        leg.endOutOfBand(.remoteEnded, cause: .transferred, tellsPeer: true)
    }

    // MARK: INVITE with Replaces

    /// A new call in the place of one that is up (mapping I14, RFC 3891 §3): of the same line or party, and by somebody who proved who it
    /// is.
    func replace(_ session: InviteSession, _ values: [Text], from caller: CallerIdentity, _ callingLine: Line?) {
        guard values.count == 1, let dialog = DialogIdentifier(parsing: values[0]) else {
            return refuse(session, 400, reason: "Bad Replaces")
        }
        guard let old = leg(in: dialog) else { return refuse(session, endedDialogs.contains(dialog, at: now) ? 603 : 481) }
        if old.direction == .outgoing, old.state == .early { return pickUp(session, old, from: caller, callingLine) }
        let isOwn = old.party.user == caller.user || old.line.configuration.number == caller.user
        // Whoever might have taken it while it rang is told that it is answered.
        let isLate = dialog.isEarlyOnly && callingLine != nil
        guard caller.isKnown, isOwn || isLate else { return refuse(session, 403) }
        guard old.state == .connected, peer(of: old) != nil else { return refuse(session, 481) }
        guard !dialog.isEarlyOnly else { return refuse(session, 486) }
        receive(session, on: old.line, from: caller, callingLine: callingLine, callees: [], replacing: old)
    }

    /// A call that rings at a device, taken by another: by any line of the house that proved who it is. Only an early dialog that we began
    /// (RFC 3891 §3): where we ring for somebody there is nothing to take.
    private func pickUp(_ session: InviteSession, _ old: Leg, from caller: CallerIdentity, _ callingLine: Line?) {
        guard caller.isKnown, callingLine != nil else { return refuse(session, 403) }
        guard let bridge = old.bridge, isCalling(bridge) else { return refuse(session, 481) }
        receive(session, on: old.line, from: caller, callingLine: callingLine, callees: [], replacing: old)
    }

    // MARK: From code

    /// Asks the far end of a call to call somebody else (REFER): in the place of another call of ours where `other` names one, which was
    /// made
    /// to consult (RFC 5589). The call ends as by a user when the far end did it.
    /// - Returns: false when there is no such call that is connected, or another transfer is under way.
    @discardableResult
    public func refer(_ call: UUID, to target: URI, replacing other: UUID? = nil, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard let leg = leg(call), leg.state == .connected, let session = leg.session else { return false }
        let dialog = other.flatMap { self.leg($0)?.session?.dialogAsPeerSees }
        if other != nil, dialog == nil { return false }
        let own = NameAddress(uri: URI(user: leg.line.configuration.number, host: configuration.domain))
        let headers = leg.trunk?.configuration.headers.towardsTrunk(from: nil) ?? []
        return session.refer(to: target, replacing: dialog, referredBy: own, headers: headers, at: self.now)
    }
}

extension Leg {
    /// An application of ours is at the far end, behind a call of ours. Two of these with each other would never hang up.
    fileprivate var isToOurselves: Bool {
        guard let session, session.isToOurselves else { return false }
        guard let arrived = gateway.leg(ofAttempt: session.attempt) else { return true }
        // Whoever was called there may have sent it on to one.
        return arrived.isWithApplication || gateway.peer(of: arrived)?.isToOurselves == true
    }

    /// It is up, and its line answers itself.
    fileprivate var isWithApplication: Bool {
        switch line.configuration.endpoint {
        case .application, .script: state == .connected && bridge == nil
        case .devices, .trunk, .group: false
        }
    }
}
