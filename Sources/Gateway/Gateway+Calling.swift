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
        let own = NameAddress(displayName: caller.displayName, uri: URI(user: caller.user, host: configuration.domain))
        let from = caller.isPrivate ? Self.anonymous : own
        let to = NameAddress(uri: destination.addressOfRecord)
        var invite = OutgoingInvite(target: destination.target, flow: destination.flow, from: from, to: to)
        invite.routes = destination.routes
        invite.headers = destination.headers
        if caller.isPrivate { invite.headers.append((.privacy, "id")) }
        if configuration.access.believes(destination.flow.remote.address), caller.user != nil { invite.headers.append((.pAssertedIdentity, own.text)) }
        invite.credentials = destination.credentials
        invite.maxForwards = destination.maxForwards
        invite.body = offer
        invite.isToOurselves = destination.isToOurselves
        return userAgent.invite(invite, delegate: leg, at: now)
    }

    /// RFC 3323 §4.1.1.3.
    static var anonymous: NameAddress { NameAddress(displayName: "Anonymous", uri: URI(user: "anonymous", host: "anonymous.invalid")) }

    /// A device that did not answer at all: its binding goes, so that the next call does not wait for it.
    func contactIsDead(_ leg: Leg) {
        guard configuration.limits.dropsDeadContacts, leg.line.configuration.endpoint == .devices, let target = leg.destination?.target else { return }
        registrar.drop(target, of: leg.line.configuration.number)
    }
}
