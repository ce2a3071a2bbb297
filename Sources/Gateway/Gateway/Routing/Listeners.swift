import Primitives
import UserAgent

/// The sockets that SIP is listened on, and which of them a message leaves from. Lives on the signalling lane.
final class Listeners {
    let all: [Transports.Listener]
    /// The address that peers outside are told.
    var advertised: IPAddress?
    private let machine: Set<IPAddress>

    /// - Parameters:
    ///   - own: the addresses of this machine; what listens to one of them is known without.
    ///   - advertised: what peers outside are told.
    init(_ listeners: [Transports.Listener], own: [IPAddress] = [], advertised: IPAddress? = nil) {
        (all, self.advertised) = (listeners, advertised)
        machine = Set(own + listeners.map(\.address.address)).filter { !$0.isAny }
    }

    /// Those that a program can connect to and speak SIP at once.
    var direct: [Transports.Listener] { all.filter { !$0.transport.isWebSocket } }

    /// Addresses of this machine, without the wildcards.
    var ownAddresses: Set<IPAddress> { advertised.map { machine.union([$0]) } ?? machine }

    /// Transports that we can send over, and the address families that we have.
    var transports: [Transport] { [.udp, .tcp, .tls].filter { transport in all.contains { $0.transport == transport } } }
    var families: [IPAddress.Family] { [.v4, .v6].filter { family in all.contains { $0.address.address.family == family } } }

    /// Whether it leads to a socket of ours.
    func isOurs(_ flow: Flow) -> Bool {
        let remote = flow.remote, isHere = remote.address.isLoopback || remote.address == advertised || machine.contains(remote.address)
        return all.contains { $0.address == remote || $0.address.address.isAny && isHere && $0.address.port == remote.port }
    }

    /// The way to a server, from the socket of ours that speaks its transport and family; over connections also where we listen for none.
    func flow(to member: ServerPool.Member) -> Flow? {
        let (transport, remote) = (member.server.transport, member.server.address)
        let listener = all.first { $0.transport == transport && $0.address.address.family == remote.address.family }
        guard transport.isReliable || listener != nil else { return nil }
        let local = listener?.address ?? SocketAddress(remote.address.family == .v4 ? .anyV4 : .anyV6, port: 0)
        return Flow(transport: transport, local: local, remote: remote, peer: transport.isSecure ? member.name : .empty)
    }
}
