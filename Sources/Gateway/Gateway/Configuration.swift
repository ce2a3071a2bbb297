import Audio
import CallKit
import Primitives
import SDP
import SIP
import UserAgent

/// The settings of the gateway before it starts: a plain value, made from YAML, environment and flags by the command,
/// or in code by whoever embeds the gateway. While it runs, lines, trunks and limits may change (``Gateway/reconfigure(_:at:)``).
public struct GatewayConfiguration: Sendable {
    /// The domain that this server is responsible for: the host part of addresses of record and of `From` towards devices.
    public var domain: Text = "localhost"
    /// Further names that devices may register under, beside `domain` and any address (RFC 3261 §10.3); nil: any name.
    public var aliases: [Text]?
    /// The addresses that peers are told.
    public var advertise = Advertise()
    /// Codecs, ports and timeouts of media.
    public var media = Media()
    /// The telephones that can be called.
    public var lines: [LineConfiguration] = []
    /// The sources whose requests are taken.
    public var access = Access()
    /// The limits on how much may be there at a time.
    public var limits = Limits()
    /// The statuses of refusals, where a line does not say otherwise.
    public var refusals = RefusalStatuses()
    /// The settings for waking devices that sleep.
    public var push = Push()
    /// Whether devices may dial `*78` and the other feature codes.
    public var featureCodes = true
    /// `https` address of the jCard that a 608 names in Call-Info (RFC 8688 §3.2.1); nil: the header is left out.
    public var callInfo: Text?
    /// `User-Agent` and `Server` of what we send.
    public var product: Text = "Hookswitch"
    /// The version of the program, for the journal.
    public var version: Text?
    /// The headers that pass between two lines, and between a line and a guest; where a trunk takes part, its own rules say it. `set` is a
    /// trunk's alone.
    public var headers = HeaderRules.betweenLines
    /// Timers and extensions of SIP.
    public var sip = Signalling()
    /// The settings for registered devices.
    public var devices = Devices()
    /// The fate of the calls of another gateway that has died, where several share a database.
    public var takeover = Takeover.end

    /// The fate of a call whose gateway has died.
    public enum Takeover: String, Sendable, CaseIterable {
        /// Both far ends are told that it is over.
        case end
        /// Two that talk with each other go on over the gateway that was the first to see it; all other calls end.
        case reinvite
    }

    public init() {}

    /// Devices that register with us.
    public struct Devices: Sendable {
        /// The interval of OPTIONS to devices behind a NAT, which ask whether they are there and keep the way to them open; nil: none.
        public var keepAlive: Duration? = .seconds(25)
        /// All of them are asked.
        public var asksAll = false
        public init() {}
    }

    /// Timers and extensions of SIP.
    public struct Signalling: Sendable {
        /// Calls are refreshed, and end when they are not (RFC 4028); nil: no timers.
        public var sessionTimer: SessionTimer.Policy? = SessionTimer.Policy()
        /// Shorter intervals are refused with 422, in seconds.
        public var leastSessionInterval: UInt32 = SessionTimer.leastMinimum
        /// When a 180 of ours waits for its PRACK (RFC 3262).
        public var reliability = UserAgentConfiguration.Reliability.whenRequired
        public init() {}

        /// Both settings together.
        var timerPolicy: SessionTimer.Policy? {
            sessionTimer.map { SessionTimer.Policy(interval: $0.interval, minimum: leastSessionInterval) }
        }
    }

    /// The address that peers are told, when it is not the address of the socket that they reached.
    public struct Advertise: Sendable {
        /// The address that peers outside are told; nil: that of the socket.
        public var address: IPAddress?
        /// Peers in these networks are told the socket's own address; loopback always is.
        public var local: [IPNetwork] = []
        public init() {}
    }

    /// Codecs, ports and timeouts of media.
    public struct Media: Sendable {
        /// One port per leg with rtcp-mux, two (even and odd) without; two also while an INVITE of ours is not answered yet.
        public var ports: ClosedRange<UInt16> = 20000...20199
        /// Preference order of what we offer, and the set that we accept.
        public var codecs: [Codec] = [.opus, .g722, .pcmu, .pcma]
        /// The encoding of Opus, within what each peer asks for, and what we ask for: error correction and silence left out.
        public var opus = OpusSettings()
        /// Whether keys are sought in the sound of peers without telephone-event, which then is decoded.
        public var detectsDTMF = false
        /// Networks that the descriptions of peers may name for media (empty: all), and those that they may not name.
        public var allowedTargets: [IPNetwork] = [], deniedTargets: [IPNetwork] = []
        /// Whether comfort noise (RFC 3389) is offered and agreed to.
        public var comfortNoise = false
        /// The time for which a released port stays out of the pool.
        public var quarantine: Duration = .seconds(1)
        public init() {}

        /// `codecs` with the format parameters of our own offers.
        var offered: [Codec] {
            codecs.map { codec in
                guard codec.matches(.opus) else { return codec }
                var (described, parameters) = (codec, OpusParameters())
                parameters.usesForwardErrorCorrection = opus.forwardErrorCorrection
                parameters.prefersDiscontinuous = opus.discontinuous
                described.fmtp = parameters.fmtp
                return described
            }
        }
    }

    /// Sources that may call without authentication.
    public struct Access: Sendable {
        /// Sources whose INVITEs are never challenged.
        public var trusted: [IPNetwork] = []
        /// Sources from which a caller that is none of our lines is admitted as a guest; a caller that names a line of ours proves it.
        public var guests: [IPNetwork] = [IPNetwork("127.0.0.0/8")!, IPNetwork("::1/128")!]
        /// Whether strangers get no answer at all: sources outside of `trusted`, `guests` and trunks, whose requests name no line of ours.
        public var isSilent = false
        /// The digest algorithms that devices may prove themselves with, in the order in which they are offered.
        public var digests: [DigestAlgorithm] = [.sha256, .md5]
        /// The number of wrong passwords a minute that are answered like the first one.
        public var guesses = GuessLimits()
        /// A secret that other gateways have, too: each takes the nonces of the others. Nil: nonces are good at the gateway that gave them.
        public var nonceSecret: [UInt8]?
        /// Peers whose P-Asserted-Identity is believed, and that are told whom our callers are, also those that want it kept from others.
        public var asserting: [IPNetwork] = []
        public init() {}

        func believes(_ peer: IPAddress) -> Bool { asserting.contains { $0.contains(peer) } }
    }

    /// Waking devices that sleep (RFC 8599).
    public struct Push: Sendable {
        /// Whether REGISTERs are looked at for where to push to.
        public var isOn = false
        /// The time that a call waits for a device to register; its ringing begins after that.
        public var limit: Duration = .seconds(30)
        /// The time after its last REGISTER in which a device may be woken.
        public var keep: Duration = .seconds(30 * 86_400)
        /// The time after its last REGISTER in which a device that can be woken counts as awake; nil: until its registration expires.
        public var awake: Duration?
        /// Calls that wait at a time; more are refused with 480.
        public var calls = 1_000
        public init() {}
    }

    /// The limits on how much may be there at a time. Requests beyond a limit are refused and counted.
    public struct Limits: Sendable, Equatable {
        /// Calls refused with 503 and `Retry-After` above this number of legs; of several callees as many are called as there is room for.
        public var legs = 10_000
        /// Longer requests go over TCP where we listen for it (RFC 3261 §18.1.1); nil: never.
        public var longestDatagram: Int? = 1_300
        /// Calls that may begin in a second; more get 503. Nil: no limit.
        public var callsPerSecond: Int?
        /// Requests outside of dialogs that one source may send in a second, twice as many at once; more get 503. Nil: no limit.
        public var requestsPerSource: Int?
        /// The time that messages over UDP may lie unread. If all have lain unread for longer, and this has lasted as long, requests
        /// outside of dialogs are refused with 503, so that calls that are under way get on; zero: none is.
        public var backlog = Duration.milliseconds(200)
        /// TCP and TLS connections at a time, and of those from one address that is neither trusted nor a trunk's; one more is closed at
        /// once.
        public var connections = 4_096, connectionsPerSource = 256
        /// Users of lines that are registered at this gateway; one more gets 503. Those of other gateways on the same database do not count.
        public var users = 50_000
        /// `Retry-After` of a refusal for want of ports or while draining, in seconds.
        public var retryAfter = 5
        /// Calls in the recents of a line.
        public var recents = 100
        /// A contact that did not answer an INVITE at all, or was silent twice in a row, is dropped from the registrar.
        public var dropsDeadContacts = true
        /// The number of times that a far end may refuse to be resumed before its call ends; it is asked every two seconds.
        public var resumeAttempts = 3
        public init() {}
    }
}

/// The sound on hold.
public enum HoldMusic: Sendable, Equatable {
    case sound(WAV)
    /// The sound that the holder sends meanwhile, where its description says that it does (`sendonly`); else the hold is passed on.
    case theirs
}

/// One line: one telephone of ours, and what it does with a call.
public struct LineConfiguration: Sendable, Equatable {
    /// The user part by which it is called.
    public var number: Text
    /// For displays of those that it calls.
    public var name: Text?
    /// Devices register with it, and INVITEs that name this line prove it; nil on a line that is `open` or has no devices.
    public var password: Text?
    /// Devices register and call without a password.
    public var isOpen = false
    /// The endpoint that answers its calls.
    public var endpoint: LineEndpoint = .devices
    /// The time that a call rings, incoming or outgoing, before it is given up; nil: for ever.
    public var ringTimeout: Duration? = .seconds(60)
    /// The longest time that a call may last; nil: for ever. It ends as if a user had hung up, with `Q.850;cause=102`.
    public var maximumDuration: Duration?
    /// The time of silence after which a call ends as failed: neither RTP nor RTCP comes from a far end that was heard and is not held;
    /// nil: for ever.
    public var mediaTimeout: Duration?
    /// The same where no sound was ever heard since an agreement first let the far end send.
    public var firstMediaTimeout: Duration?
    /// Conversations at a time (CallKit's `maximumCallGroups`).
    public var maximumCalls = 10_000
    /// Further numbers that reach this line.
    public var match: NumberPattern?
    /// Whether media of its devices is encrypted. A call has a line on either side, and each decides for its own side.
    public var srtp = SRTPPolicy.off
    /// The way in which its devices are offered keys; their own offers are answered either way.
    public var srtpKeying = SRTPKeying.sdes
    /// Whether its devices are answered connectivity checks, and offered them.
    public var ice = ICEPolicy.auto
    /// Numbers reach this line in this domain only, and without a `match` all that no line has do.
    public var domain: Text?
    /// Whether anybody may call it; a line that is for outgoing calls only refuses with 403.
    public var takesCalls = true
    /// When callers are refused, and who is not.
    public var doNotDisturb = DoNotDisturb()
    /// Callers that the human blocked.
    public var block: [NumberPattern] = []
    /// The place of recordings of its calls, and of those that its devices make; nil: none are recorded.
    public var recording: RecordingPlace?
    /// Programs may listen to its calls, as they are let in by the control interface.
    public var mayBeTapped = false
    /// Hold music: played to the party that this line puts on hold; nil: the hold is passed on, and is silence.
    public var holdMusic: HoldMusic?
    /// The call directories that the line has enabled, in the order in which they are asked.
    public var directories: [String] = []
    /// Names by caller, as `CallerMatcher.key` has them; they come before directories, and their owners are not blocked by those.
    public private(set) var contacts: [String: String] = [:]
    /// The statuses of refusals of this line.
    public var refusals = RefusalStatuses()
    /// Whether its calls are kept in its recents; nil: those of a line for devices are.
    public var recents: Bool?
    /// Handles that it calls (CallKit's `supportedHandleTypes`); a call back to any other is refused.
    public var handles: Set<CXHandle.HandleType> = [.generic, .phoneNumber]

    /// A line with devices, and with no password.
    public init(number: Text) { self.number = number }

    /// Adds a contact by number or address, as a person writes them.
    public mutating func addContact(_ written: String, name: String) { contacts[CallerMatcher.key(ofWritten: written)] = name }
}

/// The endpoint of a line: it takes the calls of the line.
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

    /// The SIP peer behind a line.
    public typealias Trunk = TrunkConfiguration
}
