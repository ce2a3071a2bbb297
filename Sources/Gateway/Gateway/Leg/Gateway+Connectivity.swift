import Primitives
import SDP
import UserAgent

/// What connectivity checks need, and where media may go at all.
extension Gateway {
    /// Connectivity checks with a far end: always ours to answer.
    func connectivity(_ policy: ICEPolicy) -> LocalICE {
        var ice = LocalICE()
        ice.policy = policy
        if policy == .lite { ice.credentials = ICECredentials(using: &random) }
        return ice
    }

    /// What our answer to an offer needs: credentials where that begins checks or begins them anew, and who begins a handshake where the
    /// peer is behind a NAT.
    func prepareAnswer(_ negotiation: inout OfferAnswer, over flow: Flow) {
        guard let offer = negotiation.remoteOffer else { return }
        if offer.startsICE { negotiation.local.ice.credentials = ICECredentials(using: &random) }
        negotiation.local.security.waits = offer.address.map(flow.isFromNAT) ?? false
    }

    /// Where media may go by what far ends say.
    static func targets(_ configuration: GatewayConfiguration, _ addresses: [IPAddress], _ listeners: [SocketAddress]) -> TargetPolicy {
        var targets = TargetPolicy()
        targets.ownAddresses = Set(addresses + listeners.map(\.address) + [configuration.advertise.address].compactMap(\.self)).filter {
            !$0.isAny
        }
        targets.ownPorts = [configuration.media.ports] + Set(listeners.map(\.port)).map { $0...$0 }
        (targets.allowed, targets.denied) = (configuration.media.allowedTargets, configuration.media.deniedTargets)
        return targets
    }
}
