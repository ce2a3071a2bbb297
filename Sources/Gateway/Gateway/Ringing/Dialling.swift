import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Makes the legs of calls and their INVITEs: who calls as whom, with which headers and which description. Lives on the signalling lane.
final class Dialling {
    private let context: GatewayContext
    private let table: CallTable
    private let policy: MediaPolicy
    private let media: any MediaPlane
    private let listeners: Listeners
    private let userAgent: UserAgent
    private let admission: Admission
    /// The part of the gateway that legs see; set once, before the first leg.
    unowned var legContext: (any LegContext)!

    init(
        _ context: GatewayContext, _ table: CallTable, _ policy: MediaPolicy, _ media: any MediaPlane, _ listeners: Listeners,
        _ userAgent: UserAgent, _ admission: Admission
    ) {
        (self.context, self.table, self.policy, self.media) = (context, table, policy, media)
        (self.listeners, self.userAgent, self.admission) = (listeners, userAgent, admission)
    }

    // MARK: Legs

    /// As many of them as there is room for.
    ///
    /// - Parameter ending: how many legs give their room to them.
    func call(_ destinations: [Destination], for caller: Leg, ending: Int = 0) {
        for destination in destinations {
            guard table.hasRoom(ending: ending) else { return admission.refused(.legs, caller.flow.remote.address) }
            call(destination, for: caller)
        }
    }

    func call(_ destination: Destination, for caller: Leg) {
        let leg = makeLeg(to: destination, on: caller.line)
        leg.call.negotiation.local.codecs = caller.offeredCodecs.merged(with: policy.offeredCodecs)
        if let offer = caller.call.negotiation.remoteOffer {
            (leg.call.negotiation.local.ptime, leg.call.negotiation.local.maxptime) = (offer.ptime, offer.maxptime)
        } else if let agreed = caller.call.agreed {
            (leg.call.negotiation.local.ptime, leg.call.negotiation.local.maxptime) = (agreed.ptime, agreed.maxptime)
        }
        leg.bridge = caller.bridge
        leg.trunk = destination.trunk
        table.add(leg)
        leg.mayTransfer = destination.isDevice
        if let bridge = caller.bridge { table.add(callee: leg.uuid, to: bridge) }
        let handle = CXHandle(type: .generic, value: destination.shownTarget)
        caller.line.calls.start(leg.uuid, to: handle, with: caller.uuid) { [unowned self] in
            table.discard(leg)
            table.tell(caller.bridge, .ended(leg.uuid, EndCause(status: 486, reasons: [.q850(17)])))
        }
    }

    /// An outgoing leg, whose far end belongs to the line.
    /// - Parameter call: its UUID, which no call has; nil: one is drawn.
    func makeLeg(to destination: Destination, on line: Line, as call: UUID? = nil) -> Leg {
        makeLeg(
            .outgoing, call, line: line, session: nil, destination: Boxed(destination), flow: destination.flow,
            policy.policy(towards: destination, for: line))
    }

    /// The leg of an INVITE.
    func makeLeg(of session: InviteSession, from caller: CallerIdentity, on line: Line) -> Leg {
        makeLeg(
            .incoming, nil, line: line, session: session, destination: nil, flow: session.flow, policy.policy(of: line, calledBy: caller))
    }

    private func makeLeg(
        _ direction: Leg.Direction, _ call: UUID?, line: Line, session: InviteSession?, destination: Boxed<Destination>?, flow: Flow,
        _ mediaPolicy: LegMediaPolicy
    ) -> Leg {
        let uuid = call ?? context.randomUUID()
        let scribe = LegJournal(journal: context.journal, call: CallUUID(uuid), line: line.configuration.number)
        // A call to ourselves has a port of ours at both ends; over a connection its source port tells nothing.
        let isOwnCall = session.map { userAgent.ownCall($0.request) != nil } ?? false
        let isOwn = destination?.value.isToOurselves == true || isOwnCall || listeners.isOurs(flow)
        let local = policy.localMedia(towards: flow, mediaPolicy, isOwn: isOwn)
        let sessionID = context.randomNumber()
        let leg = Leg(
            direction, uuid: uuid, line: line, context: legContext, session: session, destination: destination,
            device: destination?.value.device.flatMap(table.lines.line(numbered:)), flow: flow, local: local, sessionID: sessionID,
            media: LegMedia(id: table.nextMediaID(), plane: media, scribe: scribe), scribe: scribe)
        leg.party.displayName = destination.flatMap(name)
        return leg
    }

    /// The name of the line that is called, where it is one of ours.
    private func name(of destination: Boxed<Destination>) -> Text? {
        let record = destination.value.addressOfRecord
        guard destination.value.trunk == nil, record.host.equalsIgnoringCase(context.configuration.domain) else { return nil }
        return record.user.flatMap(table.lines.line(numbered:))?.configuration.name
    }

    // MARK: INVITE

    /// The INVITE of an outgoing leg. Its From is the caller with our domain, its Call-ID and tag are new: the two legs share nothing.
    func invite(from leg: Leg, to destination: Destination, offer: [UInt8]) -> InviteSession {
        if let adoption = destination.adoption { return adopt(adoption, as: leg, destination, offer: offer) }
        let caller = destination.caller
        let own = caller.name(towards: leg.trunk, domain: context.configuration.domain)
        let from = caller.isPrivate ? CallerIdentity.anonymousName : own
        let to = NameAddress(uri: destination.addressOfRecord)
        var invite = OutgoingInvite(target: destination.target, flow: destination.flow, from: from, to: to)
        invite.routes = destination.routes
        invite.headers = destination.headers
        if caller.isPrivate { invite.headers.append((.privacy, "id")) }
        invite.confidential = [.pAssertedIdentity] + (leg.trunk?.configuration.headers.set.map { HeaderName($0.name) } ?? [])
        invite.credentials = destination.credentials
        invite.maxForwards = destination.maxForwards
        invite.body = offer
        invite.alternatives = destination.alternatives
        invite.onHop = { [weak leg, onHop = destination.onHop] flow, failure, response, now in
            onHop?(flow, failure, response, now)
            guard let leg else { return }
            if failure == nil || response != nil { leg.farEndSpoke() }
            guard let failure, response == nil else { return }
            leg.scribe.write(.inviteUnanswered, at: now, [.status: .init(failure), .remote: .init(flow.remote.description)])
        }
        invite.offerOver = { [weak leg] hop in leg?.offer(over: hop) }
        if leg.call.negotiation.local.security.policy == .optional {
            invite.offerAfterRefusal = { [weak leg] in leg?.call.negotiation.offerSecurely()?.serialized() }
        }
        invite.contactUser = contactUser(of: leg)
        let origin = table.opener(ofBridgeOf: leg)
        let (cause, trunk) = destination.referral.map { (Optional($0.refer), $0.trunk) } ?? (origin?.session?.request, origin?.trunk)
        invite.headers += headers(passedBy: cause, from: trunk, to: leg)
        // The rules of a trunk go before our own headers, and apply to each of its servers.
        if caller.user != nil, !context.configuration.access.asserting.isEmpty,
            !invite.headers.contains(where: { $0.0 == .pAssertedIdentity })
        {
            invite.identityOver = { [access = context.configuration.access] hop in access.believes(hop.remote.address) ? own.text : nil }
        }
        invite.isToOurselves = destination.isToOurselves
        return userAgent.invite(invite, delegate: leg, at: context.now)
    }

    private func contactUser(of leg: Leg) -> Text? {
        leg.trunk.flatMap { $0.configuration.registration == nil ? nil : $0.configuration.contactUser(line: $0.line) }
    }

    /// The INVITE of a call that another gateway had is one in its dialog.
    private func adopt(_ adoption: Adoption, as leg: Leg, _ destination: Destination, offer: [UInt8]) -> InviteSession {
        let row = adoption.orphan.dialog
        var details: JournalEvent.Details = [
            .callid: .init(row.callID), .node: .init(adoption.orphan.node), .remote: .init(row.target),
            .count: .init(Int(max(0, context.date.timeIntervalSince(adoption.answered)))),
        ]
        details[.with] = row.peer.map { .uuid(CallUUID($0)) }
        leg.scribe.write(.callAdopted, at: context.now, details)
        let role: InviteSession.Role = adoption.call.isCaller ? .caller : .callee
        var adopted = AdoptedDialog(adoption.dialog, as: role, over: destination.flow, offering: offer)
        (adopted.contactUser, adopted.credentials) = (contactUser(of: leg), destination.credentials)
        return userAgent.adopt(adopted, delegate: leg, at: context.now)
    }

    /// Gives the headers that a message of one leg adds to that of another: by the rules of the trunk that either belongs to, else by
    /// those between lines, and then nothing of a caller who is not to be known.
    private func headers(passedBy message: Message?, from source: Trunk?, to leg: Leg) -> [(HeaderName, Text)] {
        if let trunk = leg.trunk { return trunk.configuration.headers.towardsTrunk(from: message) }
        let isPrivate = leg.reach.hidesCaller || leg.destination?.value.referral?.isPrivate == true
        guard let message, source != nil || !isPrivate else { return [] }
        return (source?.configuration.headers ?? context.configuration.headers).passed(from: message)
    }

    /// A 18x or a 200 of a callee, or a BYE: what it passes goes with what the other leg is told next.
    func passHeaders(of message: Message, from leg: Leg) {
        // The target of a transfer tells nothing to the transferor.
        guard let other = table.peer(of: leg) ?? (message.isRequest ? nil : table.opener(ofBridgeOf: leg)), other !== leg else { return }
        guard message.isRequest || ![.connected, .ended].contains(other.state) else { return }
        other.passedHeaders = headers(passedBy: message, from: leg.trunk, to: other)
    }
}
