import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SIP
import UserAgent

extension Gateway {
    /// Everything that the outside gives it.
    public struct Environment {
        /// Sends SIP messages.
        public var network: any SignallingNetwork
        /// Reserves, opens and starts media.
        public var media: any MediaPlane
        /// For tags, branches, keys and UUIDs.
        public var random: any RandomNumberGenerator
        /// For digest authentication (RFC 7616).
        public var hash: DigestHash
        /// The address of ours that a peer would see; asked where a socket is bound to all addresses.
        public var addressTowards: (IPAddress) -> IPAddress?
        /// The addresses of this machine; what listens to one of them is known without.
        public var ownAddresses: [IPAddress] = []
        /// Gets every event.
        public var journal: Journal
        /// Tells this run from others in a journal; nil: nothing does.
        public var run: Text?
        /// The sockets for SIP; calls to trunks leave from them.
        public var listeners: [Transports.Listener]
        /// Asks DNS; the answer comes back by `receive(_:of:at:)`, later and with the same number. Nil: names are not resolved.
        public var resolve: ((DNSQuestion, UInt64) -> Void)?
        /// The wall clock's date at `Instant.zero`.
        public var epoch: Date
        /// The call directories that lines may enable.
        public var directories: CallDirectories?
        /// Keeps lines over a restart; nil: nothing does.
        public var store: (any LineStore)?
        /// The state that was kept there.
        public var kept = KeptState()
        /// Writes the recordings of lines that have them; nil: nothing is recorded.
        public var recordings: RecordingWriter?
        /// Calls the programs of streams; nil: there are none.
        public var streams: (any StreamPlane)?
        /// Hears what becomes of trunks where it changes, for the log.
        public var onTrunk: ((TrunkNotice) -> Void)?
        /// Told of the first wrong password of a minute that is one too many.
        public var onGuessing: ((WrongPassword) -> Void)?
        /// Sends a push, without waiting; what goes wrong is told by `pushFailed`. nil: nobody is woken.
        public var push: ((PushMessage) -> Void)?
        /// Asks somebody what becomes of a call, before the configuration; the verdict comes back by `receive(_:of:at:)`, later and with
        /// the same number. Nil: the configuration alone decides.
        public var ask: ((CallQuestion, UInt64) -> Void)?
        /// Decides what becomes of each call, before the configuration; nil: the configuration alone.
        var routing: RoutingHook?
        /// Calls the completion once on the lane: at once, or later with the time that it is then.
        typealias RoutingHook = (IncomingCall, @escaping (CallVerdict, Instant) -> Void) -> Void

        public init(
            network: any SignallingNetwork, media: any MediaPlane, random: any RandomNumberGenerator,
            hash: @escaping DigestHash, addressTowards: @escaping (IPAddress) -> IPAddress?, listeners: [Transports.Listener],
            journal: Journal, epoch: Date
        ) {
            self.network = network
            self.media = media
            self.random = random
            self.hash = hash
            self.addressTowards = addressTowards
            self.listeners = listeners
            self.journal = journal
            self.epoch = epoch
        }
    }
}

// Parts that are made of the configuration and the environment alone.
extension Gateway {
    static func makeAgent(
        _ configuration: GatewayConfiguration, _ environment: Environment, _ listeners: Listeners, _ addresses: AdvertisedAddresses
    ) -> UserAgent {
        var agent = UserAgentConfiguration(contactAddress: addresses.signalling)
        agent.product = configuration.product
        if listeners.transports.contains(.tcp) { agent.longestDatagram = configuration.limits.longestDatagram }
        agent.hasTLS = listeners.transports.contains(where: \.isSecure)
        agent.allowedMethods += [.register, .refer, .notify, .message, .subscribe]
        agent.eventPackages = [MessageSummary.event]
        agent.supportedOptions = ["replaces", "path", "norefersub"]
        (agent.sessionTimer, agent.reliability) = (configuration.sip.timerPolicy, configuration.sip.reliability)
        return UserAgent(configuration: agent, network: environment.network, random: environment.random, hash: environment.hash)
    }

    static func makeRegistrar(
        _ configuration: GatewayConfiguration, _ environment: Environment, _ accounts: Accounts
    ) -> Registrar {
        var registrar = RegistrarConfiguration(domain: configuration.domain)
        (registrar.algorithms, registrar.guesses) = (configuration.access.digests, configuration.access.guesses)
        (registrar.keepAlive, registrar.asksAll) = (configuration.devices.keepAlive, configuration.devices.asksAll)
        (registrar.users, registrar.forgetsSilent) = (configuration.limits.users, configuration.limits.dropsDeadContacts)
        registrar.sharedNonces = configuration.access.nonceSecret.map {
            SharedNonces(secret: $0, epoch: UInt64(max(0, environment.epoch.timeIntervalSince1970) * 1e9))
        }
        return Registrar(configuration: registrar, accounts: accounts, random: environment.random, hash: environment.hash)
    }
}
