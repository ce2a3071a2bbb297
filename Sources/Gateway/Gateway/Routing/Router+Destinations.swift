import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// Destinations of a call to a line: the contacts of its devices, or the servers of its trunk.
extension Router {
    /// For a request that goes on from this one: with what is left of its Max-Forwards, and over TLS where its URI is sips.
    func destinations(of line: Line, dialled: Text, caller: CallerIdentity, after request: Message) -> [Destination] {
        destinations(of: line, dialled: dialled, caller: caller, maxForwards: request.hopsLeft, isSecure: request.isSecure)
    }

    /// - Parameter isSecure: none but over TLS, nor as another way (RFC 3261 §26.2.2, RFC 5630 §5.3).
    func destinations(of line: Line, dialled: Text, caller: CallerIdentity, maxForwards: Int, isSecure: Bool = false) -> [Destination] {
        let found = destinations(of: line, dialled: dialled, caller: caller, maxForwards, isSecure: isSecure)
        guard isSecure else { return found }
        return found.filter { $0.flow.transport.isSecure }.map { destination in
            var destination = destination
            destination.alternatives.removeAll { !$0.flow.transport.isSecure }
            return destination
        }
    }

    private func destinations(of line: Line, dialled: Text, caller: CallerIdentity, _ maxForwards: Int, isSecure: Bool) -> [Destination] {
        switch line.configuration.endpoint {
        case .application, .script, .group: []
        case .trunk:
            trunks.trunk(of: line).flatMap { destination(over: $0, dialled: dialled, caller: caller, maxForwards: maxForwards) }.map {
                [$0]
            } ?? []
        case .devices: devices(of: contacts(of: line, caller: caller, maxForwards: maxForwards), isSecure: isSecure)
        }
    }

    private func contacts(of line: Line, caller: CallerIdentity, maxForwards: Int) -> [Destination] {
        let record = URI(user: line.configuration.number, host: context.configuration.domain)
        let contacts: [Destination] = registrar.contacts(of: line.configuration.number, at: context.now).filter(isAwake).compactMap {
            contact in
            let living = userAgent.living(contact.origin)
            // The next hop is the first proxy of its path, if it has one (RFC 3327 §5.5).
            let flow = userAgent.way(over: living, to: contact.path.first?.uri ?? contact.uri)
            // Nothing is sent to a sips URI but over TLS (RFC 3261 §26.2.2).
            guard contact.uri.scheme != .sips || flow.transport.isSecure else { return nil }
            var destination = Destination(
                target: contact.target, addressOfRecord: record, flow: flow, routes: contact.path, caller: caller, maxForwards: maxForwards,
                device: line.configuration.number, instance: contact.instance, registered: contact.refreshed)
            destination.isSilent = contact.isSilent
            if contact.flowNumber != nil { destination.outbound = living == contact.origin ? .living : .broken }
            return destination
        }
        guard contacts.count > 1 else { return contacts }
        let distinct = distinct(contacts)
        return distinct.filter { !$0.isSilent } + distinct.filter(\.isSilent)
    }

    /// Bindings that differ in nothing that a call is sent by are one telephone, which rings once.
    private func distinct(_ contacts: [Destination]) -> [Destination] {
        contacts.indices.filter { index in
            let contact = contacts[index]
            return !contacts[..<index].contains { $0.target == contact.target && $0.flow == contact.flow && $0.routes == contact.routes }
        }.map { contacts[$0] }
    }

    /// A device that keeps several flows to us is called over one of them at a time (RFC 5626 §7): over one that is not known to be broken,
    /// and of those the one that it refreshed last.
    private func devices(of contacts: [Destination], isSecure: Bool) -> [Destination] {
        guard contacts.contains(where: { $0.outbound != nil }) else { return contacts }
        let usable = isSecure ? contacts.filter { $0.flow.transport.isSecure } : contacts
        var found: [Destination] = [], places: [Text: Int] = [:]
        for contact in usable.filter({ $0.outbound != .broken }) + usable.filter({ $0.outbound == .broken }) {
            let device = contact.outbound == nil ? nil : contact.instance
            if let place = device.flatMap({ places[$0] }) {
                found[place].otherFlows.append(contact)
            } else {
                if let device { places[device] = found.count }
                found.append(contact)
            }
        }
        return found
    }

    func isAwake(_ contact: Registrar.Contact) -> Bool {
        guard isPushing, let awake = context.configuration.push.awake, contact.uri.parameters.contains("pn-prid" as StaticString) else {
            return true
        }
        return contact.refreshed + awake > context.now
    }

    /// The best server first; the others are for when it does not answer.
    private func destination(over trunk: Trunk, dialled: Text, caller: CallerIdentity, maxForwards: Int) -> Destination? {
        let rules = trunk.configuration, number = rules.rewrites.rewritten(dialled)
        let hops = trunk.hops(at: context.now).map { NextHop($0.flow, target: URI(user: number, host: $0.host, port: $0.port)) }
        guard let first = hops.first, let target = first.target else { return nil }
        var caller = caller
        if let number = rules.caller { (caller.user, caller.displayName) = (number, nil) }
        if let domain = rules.domain, rules.user != nil { caller.host = domain } else { caller.host = context.configuration.domain }
        var destination = Destination(
            target: target, addressOfRecord: target, flow: first.flow, routes: trunk.serviceRoutes, caller: caller, maxForwards: maxForwards
        )
        (destination.trunk, destination.credentials) = (trunk, trunk.credentials)
        destination.alternatives = Array(hops.dropFirst())
        destination.onHop = { [weak trunk] flow, failure, response, now in trunk?.note(flow, failure: failure, response, at: now) }
        return destination
    }
}

extension Message {
    /// Max-Forwards of what goes on from this request (RFC 3261 §16.6 item 3).
    var hopsLeft: Int { (maxForwards ?? 70) - 1 }
    /// It may go on over TLS alone.
    var isSecure: Bool { requestURI?.scheme == .sips }
}
