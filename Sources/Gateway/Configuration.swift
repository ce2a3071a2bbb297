import Primitives
import SDP
import SIP
import UserAgent

/// What the gateway is told before it starts: a plain value, made from YAML, environment and flags by the command,
/// or in code by whoever embeds the gateway. Nothing in it is read again while the gateway runs.
public struct GatewayConfiguration: Sendable {
    /// What this server is responsible for: the host part of addresses of record and of `From` towards devices.
    public var domain: Text = "localhost"
    public var advertise = Advertise()
    public var media = Media()
    public var lines: [LineConfiguration] = []
    public var access = Access()
    public var limits = Limits()
    /// `User-Agent` and `Server` of what we send.
    public var product: Text = "Hookswitch"

    public init() {}

    /// The address that peers are told, when it is not the address of the socket that they reached.
    public struct Advertise: Sendable {
        public var address: IPAddress?
        /// Peers in these networks are told the socket's own address; loopback always is.
        public var local: [IPNetwork] = []
        public init() {}
    }

    public struct Media: Sendable {
        /// One port per leg with rtcp-mux, two (even and odd) without.
        public var ports: ClosedRange<UInt16> = 20000...20199
        /// Preference order of what we offer, and the set that we accept.
        public var codecs: [Codec] = [.opus, .g722, .pcmu, .pcma]
        /// How long a released port stays out of the pool.
        public var quarantine: Duration = .seconds(1)
        public init() {}
    }

    /// Who may call without proving who they are.
    public struct Access: Sendable {
        /// Sources whose INVITEs are never challenged.
        public var trusted: [IPNetwork] = []
        /// Sources from which a caller that is none of our lines is admitted as a guest; a caller that names a line of ours proves it.
        public var guests: [IPNetwork] = [IPNetwork("127.0.0.0/8")!, IPNetwork("::1/128")!]
        /// Whether strangers get no answer at all: sources outside of `trusted`, `guests` and trunks, whose requests name no line of ours.
        public var isSilent = false
        /// The digest algorithms that devices may prove themselves with, in the order in which they are offered.
        public var digests: [DigestAlgorithm] = [.md5, .sha256]
        public init() {}
    }

    public struct Limits: Sendable {
        /// Calls refused with 503 and `Retry-After` above this number of legs.
        public var legs = 10_000
        /// Longer requests go over TCP where we listen for it (RFC 3261 §18.1.1); nil: never.
        public var longestDatagram: Int? = 1_300
        /// Calls that may begin in a second; more get 503. Nil: no limit.
        public var callsPerSecond: Int?
        /// Requests outside of dialogs that one source may send in a second, twice as many at once; more get 503. Nil: no limit.
        public var requestsPerSource: Int?
        /// `Retry-After` of a refusal for want of ports or while draining, in seconds.
        public var retryAfter = 5
        /// A contact that did not answer an INVITE at all is dropped from the registrar.
        public var dropsDeadContacts = true
        public init() {}
    }
}

/// One line: one telephone of ours, and what it does with a call.
public struct LineConfiguration: Sendable {
    public var number: Text
    public var name: Text?
    /// Devices register with it, and INVITEs that name this line prove it; nil on a line that is `open` or has no devices.
    public var password: Text?
    /// Devices register and call without a password.
    public var isOpen = false
    public var endpoint: LineEndpoint = .devices
    /// How long a call rings, incoming or outgoing, before it is given up; nil: for ever.
    public var ringTimeout: Duration? = .seconds(60)
    /// Conversations at a time (CallKit's `maximumCallGroups`).
    public var maximumCalls = 10_000
    /// Further numbers that reach this line.
    public var match: NumberPattern?
    /// Numbers reach this line in this domain only, and without a `match` all that no line has do.
    public var domain: Text?

    public init(number: Text) { self.number = number }
}

/// What a line does with a call.
public enum LineEndpoint: Sendable, Equatable {
    /// Forks to the contacts that registered for the line.
    case devices
    /// Sends it to a SIP peer.
    case trunk(Trunk)
    /// Answers it itself.
    case application(Application)
    /// Rings the devices and trunks of other lines.
    case group(RingGroup)
    /// Does what a test wants to see.
    case script(LineScript)

    public typealias Trunk = TrunkConfiguration

    public enum Application: String, Sendable, CaseIterable {
        /// Sends every packet back to its sender.
        case echo
        /// Plays 440 Hz.
        case tone
    }
}
