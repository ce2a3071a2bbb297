import Primitives
import UserAgent

/// The addresses that a peer is told, and those that media sockets are bound to. Lives on the signalling lane.
final class AdvertisedAddresses {
    /// Its address may change while the gateway runs.
    var advertise: GatewayConfiguration.Advertise
    /// The address of ours that a peer would see, for sockets bound to all addresses.
    private let towards: (IPAddress) -> IPAddress?

    init(advertise: GatewayConfiguration.Advertise, towards: @escaping (IPAddress) -> IPAddress?) {
        (self.advertise, self.towards) = (advertise, towards)
    }

    /// For Via and Contact.
    func signalling(_ flow: Flow) -> SocketAddress { SocketAddress(told(flow), port: flow.local.port) }

    /// For the `c=` line.
    func media(_ flow: Flow) -> IPAddress { told(flow) }

    /// Further addresses for a browser, whose checks show which of them reaches us: the socket's own, where another one is told.
    func furtherCandidates(_ flow: Flow) -> [IPAddress] {
        let peer = flow.remote.address, told = told(flow)
        let own = flow.local.address.isAny || isBehindProxy(flow) ? towards(peer) : flow.local.address
        return [own].compactMap(\.self).filter { $0 != told && $0.family == told.family && !$0.isAny }
    }

    /// The address of media sockets: like the signalling socket, one address or all.
    func binding(_ flow: Flow) -> IPAddress {
        guard isBehindProxy(flow) else { return flow.local.address }
        return flow.remote.address.family == .v4 ? .anyV4 : .anyV6
    }

    /// The signalling comes by a proxy on this machine, and media will not.
    private func isBehindProxy(_ flow: Flow) -> Bool {
        flow.transport.isWebSocket && flow.local.address.isLoopback && !flow.remote.address.isLoopback
    }

    /// The advertised address for peers outside, the socket's own for those inside.
    private func told(_ flow: Flow) -> IPAddress {
        let peer = flow.remote.address
        let isInside = peer.isLoopback || advertise.local.contains { $0.contains(peer) }
        if let address = advertise.address, !isInside, address.family == peer.family { return address }
        guard flow.local.address.isAny || isBehindProxy(flow) else { return flow.local.address }
        return towards(peer) ?? flow.local.address
    }
}
