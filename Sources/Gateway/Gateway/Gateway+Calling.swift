import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// What goes out: the INVITE of a leg, and where it goes.
extension Gateway {
    /// The INVITE of an outgoing leg. Its From is the caller with our domain, its Call-ID and tag are new: the two legs share nothing.
    func invite(from leg: Leg, to destination: Destination, offer: [UInt8]) -> InviteSession {
        let caller = destination.caller
        let own = name(of: caller, towards: leg.trunk)
        let from = caller.isPrivate ? Self.anonymous : own
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
        invite.contactUser = leg.trunk.flatMap { $0.configuration.registration == nil ? nil : $0.configuration.contactUser(line: $0.line) }
        let origin = self.leg(ofBridge: leg)
        let (cause, trunk) = destination.referral.map { (Optional($0.refer), $0.trunk) } ?? (origin?.session?.request, origin?.trunk)
        invite.headers += headers(passedBy: cause, from: trunk, to: leg)
        // What a trunk's rules say goes before what we would say, and to each of its servers.
        if caller.user != nil, !configuration.access.asserting.isEmpty, !invite.headers.contains(where: { $0.0 == .pAssertedIdentity }) {
            invite.identityOver = { [access = configuration.access] hop in access.believes(hop.remote.address) ? own.text : nil }
        }
        invite.isToOurselves = destination.isToOurselves
        return userAgent.invite(invite, delegate: leg, at: now)
    }

    /// What a message of one leg adds to that of another: by the rules of the trunk that either belongs to, else by those between lines,
    /// and then
    /// nothing of a caller who is not to be known.
    private func headers(passedBy message: Message?, from source: Trunk?, to leg: Leg) -> [(HeaderName, Text)] {
        if let trunk = leg.trunk { return trunk.configuration.headers.towardsTrunk(from: message) }
        let isPrivate = leg.hidesCaller || leg.destination?.value.referral?.isPrivate == true
        guard let message, source != nil || !isPrivate else { return [] }
        return (source?.configuration.headers ?? configuration.headers).passed(from: message)
    }

    /// A 18x or a 200 of a callee, or a BYE: what it passes goes with what the other leg is told next.
    func passHeaders(of message: Message, from leg: Leg) {
        // Whom a call is transferred to tells nothing to the one who has it transferred.
        guard let other = peer(of: leg) ?? (message.isRequest ? nil : self.leg(ofBridge: leg)), other !== leg else { return }
        guard message.isRequest || ![.connected, .ended].contains(other.state) else { return }
        other.passedHeaders = headers(passedBy: message, from: leg.trunk, to: other)
    }

    /// In our domain, or in that in which a trunk knows us.
    func name(of caller: CallerIdentity, towards trunk: Trunk?) -> NameAddress {
        NameAddress(displayName: caller.displayName, uri: URI(user: caller.user, host: trunk == nil ? configuration.domain : caller.host))
    }

    /// The caller of the bridge that a leg belongs to.
    func leg(ofBridge leg: Leg) -> Leg? { leg.bridge.flatMap { self.leg($0) } }
    /// RFC 3323 §4.1.1.3.
    static var anonymous: NameAddress { NameAddress(displayName: "Anonymous", uri: URI(user: "anonymous", host: "anonymous.invalid")) }

    /// The device that a leg calls is called over the next of its flows, where it has one: for whom the leg was made, who still waits.
    func callOverNextFlow(insteadOf leg: Leg) {
        guard let next = leg.destination?.value.overNextFlow else { return }
        if let id = leg.origination { return _ = ring(next, for: id, of: leg.line, with: leg.uuid) }
        guard let bridge = leg.bridge else { return }
        switch bridges[bridge]?.state {
        case .calling: self.leg(bridge).map { call(next, for: $0) }
        case .transferring(let transfer) where transfer.targets.contains(leg.uuid): self.leg(transfer.staying).map { call(next, for: $0) }
        case .answering, .joined, .transferring, .ended, nil: break
        }
    }
}
