import Primitives
import SIP
import UserAgent

/// Whether registered devices are there: they are asked, and a call tells, too.
///
/// A device that was silent once is called beside the others of its line, and nobody waits for it; where it is silent again its contact is
/// forgotten. Lives on the signalling lane.
final class Reachability {
    private let context: GatewayContext
    private let table: CallTable
    private let registrar: Registrar
    private let userAgent: UserAgent

    init(_ context: GatewayContext, _ table: CallTable, _ registrar: Registrar, _ userAgent: UserAgent) {
        (self.context, self.table, self.registrar, self.userAgent) = (context, table, registrar, userAgent)
    }

    /// OPTIONS over the way that a call would take. It keeps the NATs on the way open; any answer says that somebody is there.
    func ask(_ contact: Registrar.Contact, of number: Text, at now: Instant) {
        let flow = userAgent.way(over: userAgent.living(contact.origin), to: contact.uri)
        let ours = NameAddress(uri: URI(host: context.configuration.domain))
        let record = NameAddress(uri: URI(user: number, host: context.configuration.domain))
        userAgent.options(OutgoingOptions(target: contact.target, flow: flow, from: ours, to: record), at: now) {
            [unowned self] _, response, now in
            registrar.note(isAnswered: response != nil, contact.target, of: number, registered: contact.refreshed, at: now)
        }
    }

    /// A device that is called has said nothing yet, not even that it tries.
    func calleeIsSilent(_ leg: Leg) {
        guard let destination = leg.destination?.value, let number = destination.device else { return }
        leg.reach.isSilent = true
        table.tell(leg.bridge, .silent(leg.uuid))
        registrar.note(
            isAnswered: false, destination.target, of: number, registered: destination.registered ?? context.now, at: context.now)
    }

    /// One that was silent has said something.
    func calleeIsBack(_ leg: Leg) {
        guard let destination = leg.destination?.value, let number = destination.device else { return }
        leg.reach.isSilent = false
        table.tell(leg.bridge, .heard(leg.uuid))
        registrar.note(isAnswered: true, destination.target, of: number, registered: destination.registered ?? context.now, at: context.now)
    }

    /// A device that did not answer at all: its binding goes, so that the next call does not wait for it. Not where it has registered again
    /// meanwhile.
    func contactIsDead(_ leg: Leg) {
        guard context.configuration.limits.dropsDeadContacts, let destination = leg.destination?.value, let number = destination.device
        else {
            return
        }
        registrar.drop(destination.target, of: number, registered: destination.registered ?? context.now)
    }
}
