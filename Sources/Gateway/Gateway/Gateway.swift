import CallKit
import Foundation
import Media
import Primitives
import RTP
import Runtime
import SDP
import SIP
import UserAgent

/// The gateway: lines, legs and bridges over one user agent and one media plane.
///
/// Lives on the signalling lane, whole: every input comes in with its time and is worked off to the end (`settle`) before the next goes
/// in. It has no clock, socket or queue of its own, so that a rehearsal runs the very object that a server runs.
public final class Gateway: SignallingEndpoint {
    /// What the outside gives it.
    public struct Environment {
        public var network: any SignallingNetwork
        public var media: any MediaPlane
        public var random: any RandomNumberGenerator
        public var hash: DigestHash
        /// The address of ours that a peer would see; asked where a socket is bound to all addresses.
        public var addressTowards: (IPAddress) -> IPAddress?
        /// The addresses of this machine; what listens to one of them is known without.
        public var ownAddresses: [IPAddress] = []
        public var journal: Journal
        /// Where SIP is listened for; calls to trunks leave from there.
        public var listeners: [Transports.Listener]
        /// Asks the name system; the answer comes back by `receive(_:of:at:)`, later and with the same number. Nil: names are not resolved.
        public var resolve: ((DNSQuestion, UInt64) -> Void)?
        /// The wall clock's date at `Instant.zero`.
        public var epoch: Date
        /// The call directories that lines may enable.
        public var directories: CallDirectories?
        /// Where lines survive a restart; nil: nowhere.
        public var store: (any LineStore)?
        /// What was kept there.
        public var kept = KeptState()
        /// Writes the recordings of lines that have them; nil: nothing is recorded.
        public var recordings: RecordingWriter?
        /// Hears what becomes of trunks where it changes, for the log.
        public var onTrunk: ((TrunkNotice) -> Void)?
        /// Told of the first wrong password of a minute that is one too many.
        public var onGuessing: ((WrongPassword) -> Void)?
        /// Sends a push, without waiting; what goes wrong is told by `pushFailed`. nil: nobody is woken.
        public var push: ((PushMessage) -> Void)?

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

    /// How many of everything there are. All zero when no call is up: the leak gate of tests and of a stop.
    public struct Counts: Equatable, Sendable {
        public var legs = 0, bridges = 0, calls = 0, timers = 0
        public var agent: UserAgent.Counts
        public var media: MediaCounts
        public var isIdle: Bool {
            legs + bridges + calls + timers == 0 && agent.sessions + agent.clientTransactions + agent.serverTransactions == 0
                && media.isIdle
        }
    }

    private var trunks: [Int: Trunk] = [:]
    /// In the order of the lines, so that a replay does the same.
    private(set) var trunksInOrder: [Trunk] = []
    private let resolve: ((DNSQuestion, UInt64) -> Void)?
    private var questions: [UInt64: (DNSAnswer, Instant) -> Void] = [:]
    private var lastQuestion: UInt64 = 0
    public let configuration: GatewayConfiguration
    /// What our offers have, best first.
    let offeredCodecs: [Codec]
    /// What is said of ourselves for each leg, but for what is its own.
    let localMedia: LocalMedia
    public let userAgent: UserAgent
    private var agentListener: AgentListener?
    let network: any SignallingNetwork
    public let registrar: Registrar
    public let journal: Journal
    let media: any MediaPlane
    let lines: [Line]
    let routing: Routing
    let addresses: AdvertisedAddresses
    let listeners: [Transports.Listener]
    let targets: TargetPolicy
    let directories: CallDirectories?
    let push: ((PushMessage) -> Void)?
    let onTrunk: ((TrunkNotice) -> Void)?
    let onGuessing: ((WrongPassword) -> Void)?
    let store: (any LineStore)?
    let recordings: RecordingWriter?
    private let clock: InlineHost
    let systemTimers: SystemTimers
    var random: any RandomNumberGenerator
    var timers: TimerWheel<GatewayTimer>
    /// Stages of ring groups that are still to come, by the caller's call.
    var hunts = IdentityTable<Hunt>()
    private var scriptedCalls: [Int: Int] = [:]
    var doorkeeper: Doorkeeper
    /// When the journal last said that something is refused for this cause.
    private var notedRefusals: [Doorkeeper.Cause: Instant] = [:]
    var legs = IdentityTable<Leg>()
    var legsByMedia = IdentityTable<Leg>()
    /// Incoming calls that are up, by Call-ID and From tag.
    var callOfAttempt: [Text: UUID] = [:]
    var bridges = IdentityTable<Bridge>()
    var bridgeEvents: [(UUID, Bridge.Event)] = []
    var ended: [Leg] = []
    var lingering: [Leg] = []
    var endedDialogs = EndedDialogs()
    /// How many sessions had ended when `lingering` was swept last.
    private var sweptSessions: UInt64 = 0
    var originations = IdentityTable<Origination>()
    var waking = IdentityTable<WakingCall>()
    var mediaIDs: UInt64 = 0
    /// Calls that ended, by how, and what their media did.
    var endCounts: [CallEnd: UInt64] = [:]
    var mediaTotals = MediaTotals()
    let turn: Turn
    var now: Instant { turn.now }
    /// No new call is taken: INVITE and OPTIONS are answered 503.
    public private(set) var isDraining = false

    public init(_ configuration: GatewayConfiguration, _ environment: Environment, at now: Instant) {
        self.configuration = configuration
        offeredCodecs = configuration.media.offered
        (media, network) = (environment.media, environment.network)
        journal = environment.journal
        turn = Turn(environment.journal, at: now)
        listeners = environment.listeners
        targets = Self.targets(configuration, environment.ownAddresses, environment.listeners.map(\.address))
        var localMedia = LocalMedia(address: .anyV4, port: 0, codecs: offeredCodecs)
        localMedia.targets = targets
        self.localMedia = localMedia
        resolve = environment.resolve
        directories = environment.directories
        (store, recordings) = (environment.store, environment.recordings)
        push = configuration.push.isOn ? environment.push : nil
        (onTrunk, onGuessing) = (environment.onTrunk, environment.onGuessing)
        random = environment.random
        timers = TimerWheel(at: now)
        doorkeeper = Doorkeeper(configuration.limits)
        routing = Routing(configuration.lines)
        addresses = AdvertisedAddresses(advertise: configuration.advertise, towards: environment.addressTowards)
        let systemTimers = SystemTimers()
        self.systemTimers = systemTimers
        clock = InlineHost(now: now, epoch: environment.epoch) { system, _ in systemTimers.note(system) }
        journal.record(.gatewayStarted, at: now, [.version: .init(configuration.product)])
        let (clock, journal) = (clock, journal)
        let services = configuration.featureCodes ? [Self.serviceLine] : []
        lines = (configuration.lines + services).enumerated().map { index, line in
            let features = LineFeatures(
                line, statuses: configuration.refusals, recents: configuration.limits.recents,
                kept: environment.kept[line.number.description]
            ) { clock.date(at: clock.now) }
            return Line(
                line, index: index, features: features, directories: environment.directories, clock: clock, journal: journal, at: now)
        }
        systemTimers.lines = Dictionary(uniqueKeysWithValues: lines.map { (ObjectIdentifier($0.system), $0.index) })
        var agent = UserAgentConfiguration(contactAddress: addresses.signalling)
        agent.product = configuration.product
        if environment.listeners.contains(where: { $0.transport == .tcp }) { agent.longestDatagram = configuration.limits.longestDatagram }
        agent.hasTLS = environment.listeners.contains { $0.transport.isSecure }
        agent.allowedMethods += [.register, .refer, .notify, .message]
        agent.supportedOptions = ["replaces", "path", "norefersub"]
        (agent.sessionTimer, agent.reliability) = (configuration.sip.timerPolicy, configuration.sip.reliability)
        userAgent = UserAgent(configuration: agent, network: environment.network, random: environment.random, hash: environment.hash)
        var registrarConfiguration = RegistrarConfiguration(domain: configuration.domain)
        registrarConfiguration.algorithms = configuration.access.digests
        registrarConfiguration.guesses = configuration.access.guesses
        (registrarConfiguration.keepAlive, registrarConfiguration.asksAll) = (
            configuration.devices.keepAlive, configuration.devices.asksAll
        )
        registrarConfiguration.forgetsSilent = configuration.limits.dropsDeadContacts
        registrar = Registrar(
            configuration: registrarConfiguration, accounts: Accounts(configuration.lines), random: environment.random,
            hash: environment.hash)
        registrar.onQuestion = { [unowned self] user, contact, now in ask(contact, of: user, at: now) }
        registrar.authenticator.onWrongPassword = { [unowned self] guess, now in note(guess, at: now) }
        let listener = AgentListener(self)
        agentListener = listener
        userAgent.delegate = listener
        userAgent.numberDomain = configuration.domain
        userAgent.locate = { [unowned self] uri, flow, completion in locate(uri, after: flow, completion: completion) }
        restore(environment.kept.registrations, epoch: environment.epoch, at: now)
        for line in lines {
            line.observer?.gateway = self
            guard case .trunk(let trunk) = line.configuration.endpoint else { continue }
            let made = Trunk(trunk, line: line.configuration.number, gateway: self)
            trunks[line.index] = made
            trunksInOrder.append(made)
        }
        for trunk in trunksInOrder { trunk.start(at: now) }
        settle()
    }

    /// Calls that are still up end with the systems that they belong to; nobody is there to be told.
    deinit {
        for line in lines {
            line.observer?.gateway = nil
            line.legs = IdentityTable()
        }
    }

    // MARK: Inputs

    /// One datagram, or one framed message.
    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        enter(now)
        if flow.transport == .udp { doorkeeper.note(backlog: network.backlog, at: now) }
        if !receiveKeepAlive(bytes, over: flow) { userAgent.receive(bytes, over: flow, at: now) }
        settle()
    }

    public func owesAnswer(over flow: Flow) -> Bool { userAgent.owesAnswer(over: flow) }

    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return userAgent.answersMalformed(over: flow, at: self.now)
    }

    /// Nothing more is heard over a connection.
    public func peerFinished(_ flow: Flow, at now: Instant) {
        enter(now)
        for trunk in trunksInOrder { trunk.lost(flow) }
        userAgent.peerFinished(flow, at: now)
        settle()
    }

    /// A flow broke, or a connection could not be opened.
    public func failed(_ flow: Flow, at now: Instant) {
        enter(now)
        for trunk in trunksInOrder { trunk.lost(flow) }
        userAgent.failed(flow, at: now)
        settle()
    }

    /// A datagram found nobody.
    public func undelivered(_ beginning: [UInt8], at now: Instant) {
        enter(now)
        userAgent.undelivered(beginning, at: self.now)
        settle()
    }

    /// What the media plane has to say of a leg.
    public func receive(_ event: MediaEvent, of media: MediaLegID, at now: Instant) {
        enter(now)
        guard let leg = legsByMedia[UInt128(media.rawValue)], leg.state == .connected else { return }
        leg.heard(event)
        settle()
    }

    /// What the name system answered.
    public func receive(_ answer: DNSAnswer, of question: UInt64, at now: Instant) {
        guard let completion = questions.removeValue(forKey: question) else { return }
        enter(now)
        completion(answer, self.now)
        settle()
    }

    public func advance(to now: Instant) {
        enter(now)
        for trunk in trunksInOrder where trunk.deadline.map({ $0 <= now }) == true { trunk.advance(to: self.now) }
        userAgent.advance(to: now)
        registrar.advance(to: now)
        for timer in timers.advance(to: now) { fire(timer) }
        settle()
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? {
        var next = min(userAgent.deadline ?? .distantFuture, registrar.deadline ?? .distantFuture, timers.nextDeadline ?? .distantFuture)
        for trunk in trunksInOrder { next = min(next, trunk.deadline ?? .distantFuture) }
        return next == .distantFuture ? nil : next
    }

    /// Takes no new call from now on; those that are up go on until `endAll`.
    public func drain(at now: Instant) {
        enter(now)
        guard !isDraining else { return }
        isDraining = true
        for trunk in trunksInOrder { trunk.leave(at: self.now) }
        settle()
    }

    /// Ends every call, as a user would.
    public func endAll(_ cause: EndCause = .draining, at now: Instant) {
        enter(now)
        for leg in lines.flatMap(\.legsInOrder) where leg.state != .ended { end(leg, cause) }
        settle()
    }

    /// A user of the line hangs up. False when there is no such call.
    @discardableResult
    public func end(_ call: UUID, at now: Instant) -> Bool {
        enter(now)
        guard let leg = leg(call) else { return false }
        // One that waits for a device to wake is none of CallKit's yet.
        if waking[call]?.isReported == false { giveUp(call, "ended", as: .declined) } else { leg.line.calls.end(call) }
        settle()
        return true
    }

    /// The journal's end: what must hold when nothing is left to happen. Violations found in the whole run.
    public func finish(at now: Instant) -> Int {
        enter(now)
        let text = refusals.map { "\($0.cause):\($0.count)" }.joined(separator: " ")
        journal.record(.gatewayStopped, at: self.now, text.isEmpty ? [:] : [.text: .init(text)])
        journal.finish(at: self.now)
        return journal.violations
    }

    /// The wall clock, as the lines' systems have it.
    var date: Date { clock.date(at: now) }

    var legCount: Int { legs.count }

    public func counts(at now: Instant) -> Counts {
        Counts(
            legs: lines.reduce(lingering.count) { $0 + $1.legs.count }, bridges: bridges.count,
            calls: lines.reduce(0) { $0 + $1.system.calls.count },
            timers: timers.count - lines.count { $0.timer != nil }, agent: userAgent.counts, media: media.counts(at: now))
    }

    func enter(_ now: Instant) {
        clock.now = turn.begin(at: now)
    }

    /// Works off what the input led to: bridges first, which ask for more; then legs that are over are taken down.
    func settle() {
        repeat {
            while !bridgeEvents.isEmpty {
                let (bridge, event) = bridgeEvents.removeFirst()
                apply(bridges[bridge]?.receive(event) ?? Bridge.orphaned(by: event), of: bridge)
            }
            takeDownEnded()
        } while !bridgeEvents.isEmpty
        if !waking.isEmpty { dropWoken() }
        sweep()
        armLines()
        journal.flush()
    }

    /// Lets those go whose last answer came. Nobody is looked at while no session ends: of legs that wait for theirs there may be
    /// thousands.
    private func sweep() {
        guard userAgent.endedSessions != sweptSessions else { return }
        sweptSessions = userAgent.endedSessions
        lingering.removeAll { $0.isSignallingOver }
    }

    // MARK: Refusals

    func refused(_ cause: Doorkeeper.Cause, _ source: IPAddress) {
        doorkeeper.refuse(cause)
        note(cause, source)
    }

    /// Once in ten seconds for a cause: a flood does not fill the journal too.
    func note(_ cause: Doorkeeper.Cause, _ source: IPAddress) {
        if let last = notedRefusals[cause], now - last < .seconds(10) { return }
        notedRefusals[cause] = now
        journal.record(
            .overload, at: now,
            [.cause: .init(cause.rawValue), .remote: .init("\(source)"), .count: .init(Int(clamping: doorkeeper.counts[cause] ?? 0))])
    }

    /// What was refused since the start, by cause; only causes that there were.
    public var refusals: [(cause: String, count: UInt64)] { allRefusals.filter { $0.count > 0 } }

    private var allRefusals: [(cause: String, count: UInt64)] {
        let authenticator = registrar.authenticator, agent = userAgent.refusals
        return Doorkeeper.Cause.allCases.map { ($0.rawValue, doorkeeper.counts[$0] ?? 0) } + [
            ("wrong-password", authenticator.guessCount), ("throttled", authenticator.throttledCount), ("users", registrar.refusedUsers),
            ("contacts", registrar.refusedContacts), ("unreadable", agent.unreadable), ("malformed", agent.malformed),
            ("transactions", agent.transactions),
            ("sessions", agent.sessions), ("forks", agent.forks),
        ]
    }

    /// - Parameters:
    ///   - transports: what carries the signalling.
    ///   - file: where the journal goes.
    func figures(_ transports: Transports.Counts, _ file: JournalFile.Counts?, at now: Instant) -> GatewayFigures {
        GatewayFigures(
            now: counts(at: now), registrar: registrar.counts, transports: transports, watchedSources: doorkeeper.sourceCount,
            isDraining: isDraining,
            questions: questions.count, refusals: allRefusals, throttled: registrar.authenticator.throttled(at: now),
            events: journal.countsByKind, ends: Dictionary(uniqueKeysWithValues: endCounts.map { ($0.key.name.description, $0.value) }),
            media: mediaTotals, violations: journal.violations, journal: file)
    }

    // MARK: Trunks

    func trunk(of line: Line) -> Trunk? { trunks[line.index] }

    /// As many as the resolver takes.
    private static let questionLimit = DNSResolver.Settings().maximumQuestions

    /// Asks the name system. Without one the answer is a failure, and comes at once.
    func ask(_ question: DNSQuestion, completion: @escaping (DNSAnswer, Instant) -> Void) {
        guard let resolve else { return completion(DNSAnswer(.failed), now) }
        guard questions.count < Self.questionLimit else {
            doorkeeper.refuse(.questions)
            return completion(DNSAnswer(.failed), now)
        }
        lastQuestion += 1
        questions[lastQuestion] = completion
        resolve(question, lastQuestion)
    }

    /// The number of this call among those of a scripted line.
    func countCall(of line: Line) -> Int {
        scriptedCalls[line.index, default: 0] += 1
        return scriptedCalls[line.index, default: 0]
    }

    func callees(of bridge: UUID) -> [UUID] { bridges[bridge]?.callees ?? [] }
}
