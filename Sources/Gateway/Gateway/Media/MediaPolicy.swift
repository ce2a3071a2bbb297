import Media
import Primitives
import RTP
import Runtime
import SDP
import UserAgent

/// The protection of a leg's media, and whether it has connectivity checks.
struct LegMediaPolicy {
    var srtp: SRTPPolicy
    var keying: SRTPKeying
    var ice: ICEPolicy
}

/// The policy for the media of a leg: codecs, encryption, connectivity checks, addresses. It follows from the configuration and from the
/// parties at the ends alone; without state but for the randomness of keys. Lives on the signalling lane.
final class MediaPolicy {
    let context: GatewayContext
    let lines: LineTable
    /// The codecs of our offers, best first.
    let offeredCodecs: [Codec]
    let addresses: AdvertisedAddresses
    private let listeners: Listeners
    /// Targets that a far end may name for media: not our own ports.
    private(set) var targets: TargetPolicy
    /// Our local description for each leg, without the parts of its own.
    private var local: LocalMedia

    init(_ context: GatewayContext, _ lines: LineTable, _ addresses: AdvertisedAddresses, _ listeners: Listeners) {
        (self.context, self.lines, self.addresses, self.listeners) = (context, lines, addresses, listeners)
        let configuration = context.configuration
        offeredCodecs = configuration.media.offered
        var targets = TargetPolicy()
        targets.ownAddresses = listeners.ownAddresses
        targets.ownPorts = [configuration.media.ports] + Set(listeners.all.map(\.address.port)).map { $0...$0 }
        (targets.allowed, targets.denied) = (configuration.media.allowedTargets, configuration.media.deniedTargets)
        self.targets = targets
        var local = LocalMedia(address: .anyV4, port: 0, codecs: offeredCodecs)
        local.targets = targets
        self.local = local
    }

    /// Peers outside are told another address of ours from now on.
    func advertise(_ address: IPAddress) {
        addresses.advertise.address = address
        listeners.advertised = address
        targets.ownAddresses = listeners.ownAddresses
        local.targets = targets
    }

    /// Our local description towards a far end.
    /// - Parameter isOwn: a port of ours is at both ends.
    func localMedia(towards flow: Flow, _ policy: LegMediaPolicy, isOwn: Bool) -> LocalMedia {
        var local = local
        local.address = addresses.media(flow)
        local.furtherCandidates = policy.ice == .off ? [] : addresses.furtherCandidates(flow)
        local.security = .ofThisProcess(policy.srtp, keying: policy.keying, using: &context.random)
        local.ice = connectivity(policy.ice)
        if isOwn { local.targets.ownPorts = [] }
        return local
    }

    /// Whether signalling over this way comes to ourselves: then a port of ours is at both ends.
    func isOurs(_ flow: Flow) -> Bool { listeners.isOurs(flow) }

    /// Connectivity checks with a far end: always ours to answer.
    private func connectivity(_ policy: ICEPolicy) -> LocalICE {
        var ice = LocalICE()
        ice.policy = policy
        if policy == .lite { ice.credentials = ICECredentials(using: &context.random) }
        return ice
    }

    /// Prepares our answer to an offer: credentials where the offer begins checks or begins them anew, and who begins a handshake where the
    /// peer is behind a NAT.
    func prepareAnswer(_ negotiation: inout OfferAnswer, over flow: Flow) {
        guard let offer = negotiation.remoteOffer else { return }
        if offer.startsICE { negotiation.local.ice.credentials = ICECredentials(using: &context.random) }
        negotiation.local.security.waits = offer.address.map(flow.isFromNAT) ?? false
    }

    /// Whether comfort noise (RFC 3389) may be offered by the leg, or agreed to. What a bridge passes on undecoded needs it on both sides;
    /// what is decoded between, or for an application, needs it on none.
    func mayUseComfortNoise(_ leg: Leg, in table: CallTable) -> Bool {
        guard context.configuration.media.comfortNoise else { return false }
        if let audio = table.peer(of: leg)?.call.agreed { return !audio.comfortNoise.isEmpty || audio.primary.codec.matches(.opus) }
        guard let caller = (table.bridge(of: leg)?.caller).flatMap(table.leg), caller !== leg else { return true }
        if let offer = caller.call.negotiation.remoteOffer { return offer.hasComfortNoise || offer.codecs.allSatisfy { $0.matches(.opus) } }
        return caller.call.agreed.map { !$0.comfortNoise.isEmpty } ?? false
    }
}

// Encryption and connectivity checks.
extension MediaPolicy {
    /// Gives the policy of a leg that comes in: the strictest of the lines that have a say.
    func policy(of line: Line, calledBy caller: CallerIdentity) -> LegMediaPolicy {
        let lines = responsible(for: line, calledBy: caller)
        return LegMediaPolicy(
            srtp: lines.reduce(.off) { $1.configuration.srtp.isStricter(than: $0) ? $1.configuration.srtp : $0 },
            keying: lines[0].configuration.srtpKeying, ice: checks(wantedBy: lines))
    }

    /// Gives the policy of a leg that calls: that of the line whose device or trunk is called, whichever line the call belongs to. A call
    /// to ourselves is encrypted where the end that takes it wants that, and nobody is there to check the way.
    func policy(towards destination: Destination, for line: Line) -> LegMediaPolicy {
        guard !destination.isToOurselves else { return LegMediaPolicy(srtp: .optional, keying: .sdes, ice: .off) }
        let called = (destination.device ?? destination.trunk?.line).flatMap(lines.line(numbered:)) ?? line
        return LegMediaPolicy(srtp: called.configuration.srtp, keying: called.configuration.srtpKeying, ice: called.configuration.ice)
    }

    private func checks(wantedBy lines: [Line]) -> ICEPolicy {
        func areWanted(_ policy: ICEPolicy) -> Bool { lines.contains { $0.configuration.ice == policy } }
        return areWanted(.off) ? .off : areWanted(.lite) ? .lite : .auto
    }

    /// A leg belongs to the line of its device: that of the caller where it is one of ours, else the one that is called. What a line
    /// answers itself has two ends that are ours.
    private func responsible(for line: Line, calledBy caller: CallerIdentity) -> [Line] {
        guard let own = caller.user.flatMap(lines.line(numbered:)), caller.host == context.configuration.domain else { return [line] }
        guard case .application = line.configuration.endpoint else { return [own] }
        return [own, line]
    }
}

extension SRTPPolicy {
    fileprivate func isStricter(than other: SRTPPolicy) -> Bool {
        switch (self, other) {
        case (.required, .optional), (.required, .off), (.optional, .off): true
        default: false
        }
    }
}
