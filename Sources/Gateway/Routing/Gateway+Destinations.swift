import Primitives
import Runtime
import SIP
import UserAgent

/// Where a call to a line goes: the contacts of its devices, or the servers of its trunk.
extension Gateway {
    /// - Parameter caller: the leg's INVITE, for what of it is passed on.
    func destinations(of line: Line, dialled: Text, caller: CallerIdentity, invite: Message) -> [Destination] {
        switch line.configuration.endpoint {
        case .application, .script, .group: []
        case .trunk: trunk(of: line).flatMap { destination(over: $0, dialled: dialled, caller: caller, invite: invite) }.map { [$0] } ?? []
        case .devices: contacts(of: line, caller: caller, invite: invite)
        }
    }

    private func contacts(of line: Line, caller: CallerIdentity, invite: Message) -> [Destination] {
        let record = URI(user: line.configuration.number, host: configuration.domain)
        let found = registrar.contacts(of: line.configuration.number, at: now).map { contact in
            Destination(
                target: contact.uri, addressOfRecord: record, flow: contact.path.isEmpty ? contact.origin.towards(contact.uri) : contact.origin,
                routes: contact.path, caller: caller, maxForwards: forwards(of: invite), device: line.configuration.number)
        }
        // Who calls a sips address wants TLS all the way (RFC 3261 §26.2.2).
        return invite.requestURI?.scheme == .sips ? found.filter { $0.flow.transport == .tls } : found
    }

    /// The best server first; the others are for when it does not answer. They are told the same address for media, for there is one offer for all.
    private func destination(over trunk: Trunk, dialled: Text, caller: CallerIdentity, invite: Message) -> Destination? {
        let flows = trunk.flows(at: now).filter { invite.requestURI?.scheme != .sips || $0.transport == .tls }
        guard let first = flows.first else { return nil }
        let rules = trunk.configuration
        let host = rules.requestHost
        let target = URI(user: rules.rewrites.rewritten(dialled), host: host.host, port: host.port)
        var caller = caller
        if let number = rules.caller { (caller.user, caller.displayName) = (number, nil) }
        if let domain = rules.domain, rules.user != nil { caller.host = domain } else { caller.host = configuration.domain }
        var destination = Destination(target: target, addressOfRecord: target, flow: first, caller: caller, maxForwards: forwards(of: invite))
        (destination.trunk, destination.credentials) = (trunk, trunk.credentials)
        destination.alternatives = flows.dropFirst().filter { addresses.media($0) == addresses.media(first) }
        destination.onHop = { [weak trunk] flow, failure, response, now in trunk?.note(flow, failure: failure, response, at: now) }
        return destination
    }

    private func forwards(of invite: Message) -> Int { (invite.maxForwards ?? 70) - 1 }

    /// The way to a server, from the socket of ours that speaks its transport and family; over connections also where we listen for none.
    func flow(to member: ServerPool.Member) -> Flow? {
        let (transport, remote) = (member.server.transport, member.server.address)
        let listener = listeners.first { $0.transport == transport && $0.address.address.family == remote.address.family }
        guard transport.isReliable || listener != nil else { return nil }
        let local = listener?.address ?? SocketAddress(remote.address.family == .v4 ? .anyV4 : .anyV6, port: 0)
        return Flow(transport: transport, local: local, remote: remote, peer: transport == .tls ? member.name : .empty)
    }

    /// What we can send over, and the families of addresses that we have.
    var transports: [Transport] { [.udp, .tcp, .tls].filter { transport in listeners.contains { $0.transport == transport } } }
    var families: [IPAddress.Family] { [.v4, .v6].filter { family in listeners.contains { $0.address.address.family == family } } }
}
