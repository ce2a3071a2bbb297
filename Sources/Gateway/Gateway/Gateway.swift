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
    /// Counts of everything that is there. All are zero when no call is up: the leak gate of tests and of a stop.
    public struct Counts: Equatable, Sendable {
        /// Present numbers; timers are those of the gateway itself.
        public var legs = 0, bridges = 0, calls = 0, timers = 0
        /// Counts of signalling: dialogs, transactions, registrations.
        public var agent: UserAgent.Counts
        /// Counts of media: sockets, ports, timers.
        public var media: MediaCounts
        /// Nothing of any call is left.
        public var isIdle: Bool {
            legs + bridges + calls + timers == 0 && agent.sessions + agent.clientTransactions + agent.serverTransactions == 0
                && media.isIdle
        }
    }

    /// The configuration in force.
    public var configuration: GatewayConfiguration { context.configuration }
    /// Dialogs and transactions.
    public let userAgent: UserAgent
    /// The devices of the lines.
    public let registrar: Registrar
    /// Gets every event.
    public let journal: Journal
    let context: GatewayContext
    let lineTable: LineTable
    let table: CallTable
    let policy: MediaPolicy
    let locator: ServerLocator
    let trunks: Trunks
    let admission: Admission
    let log: RequestLog
    let router: Router
    let reachability: Reachability
    let services: LineServices
    let recorder: Recorder
    let applications: Applications
    let dialling: Dialling
    let ringing: Ringing
    let transfers: Transfers
    let incomingCalls: IncomingCalls
    let messages: MessageRelay
    let grouping: Grouping
    let accounts: Accounts
    /// The call directories that lines may enable.
    let directories: CallDirectories?
    /// Tells of calls that are over; nil: nobody wants to know.
    var callTeller: CallTeller?
    /// The state that was kept of the last run, of lines that were not here at the start.
    private(set) var kept: KeptState
    private let network: any SignallingNetwork
    private let media: any MediaPlane
    private var agentListener: AgentListener?
    /// Number of sessions that had ended when the lingering legs were swept last.
    private var sweptSessions: UInt64 = 0

    public init(_ configuration: GatewayConfiguration, _ environment: Environment, at now: Instant) {
        (journal, network, media, directories) = (environment.journal, environment.network, environment.media, environment.directories)
        accounts = Accounts(configuration.lines)
        kept = environment.kept.without(configuration.lines.map(\.number.description))
        let context = GatewayContext(
            configuration, journal: environment.journal, store: environment.store, random: environment.random, epoch: environment.epoch,
            at: now)
        self.context = context
        journal.record(.gatewayStarted, at: now, Self.began(configuration, environment.run))
        let listeners = Listeners(environment.listeners, own: environment.ownAddresses, advertised: configuration.advertise.address)
        let addresses = AdvertisedAddresses(advertise: configuration.advertise, towards: environment.addressTowards)
        let services = configuration.featureCodes ? [LineServices.serviceLine] : []
        let lines = context.makeLines(configuration.lines + services, kept: environment.kept, directories: environment.directories)
        lineTable = LineTable(lines, Routing(configuration.lines))
        table = CallTable(lineTable, turn: context.turn, limit: configuration.limits.legs)
        policy = MediaPolicy(context, lineTable, addresses, listeners)
        userAgent = Self.makeAgent(configuration, environment, listeners, addresses)
        registrar = Self.makeRegistrar(configuration, environment, accounts)
        locator = ServerLocator(context, lineTable, listeners, resolve: environment.resolve)
        trunks = Trunks(context, lineTable, Self.surroundings(context, userAgent, locator, environment))
        admission = Admission(context, lineTable, trunks, registrar, userAgent, onGuessing: environment.onGuessing)
        log = RequestLog(context)
        let push = configuration.push.isOn ? environment.push : nil
        router = Router(context, table, trunks, registrar, userAgent, listeners, isPushing: push != nil)
        reachability = Reachability(context, table, registrar, userAgent)
        self.services = LineServices(context, table, registrar, SharedDialogs(context, table, userAgent, listeners, trunks))
        recorder = Recorder(context, table, userAgent, environment.recordings, kept: environment.kept)
        dialling = Dialling(context, table, policy, environment.media, listeners, userAgent, admission)
        let wakeUps = WakeUps(context, table, router, self.services, admission, push: push)
        let originations = Originations(context, table, router, self.services, dialling)
        let streams = CallStreams(context, table, router, dialling, environment.streams)
        applications = Applications(context, recorder, Queues(context, table, router), streams)
        ringing = Ringing(context, table, router, dialling, wakeUps, originations, applications)
        let holding = Holding(table)
        grouping = Grouping(context, table, recorder)
        transfers = Transfers(context, table, router, userAgent, dialling, ringing, recorder, holding, self.services)
        incomingCalls = IncomingCalls(context, table, admission, log, router, self.services, dialling, ringing, transfers, userAgent)
        messages = MessageRelay(context, table, router, admission, userAgent)
        begin(environment)
    }

    private static func surroundings(
        _ context: GatewayContext, _ userAgent: UserAgent, _ locator: ServerLocator, _ environment: Environment
    ) -> Trunk.Surroundings {
        Trunk.Surroundings(
            context: context, userAgent: userAgent, network: environment.network, locator: locator, onNotice: environment.onTrunk)
    }

    /// Everybody knows everybody else now: devices of the last run are called again, and trunks look for their servers.
    private func begin(_ environment: Environment) {
        (dialling.legContext, ringing.wakeUps.listener) = (self, incomingCalls)
        services.dialogs.takeovers = Takeovers(context, table, services.dialogs, dialling)
        applications.calls = ApplicationCalls(
            context, table, router, dialling, applications.queues, ringing, transfers)
        recorder.mailboxes.waiting = MessageWaiting(context, lineTable, recorder.mailboxes, admission, registrar, userAgent)
        let listener = AgentListener(self)
        agentListener = listener
        userAgent.delegate = listener
        userAgent.numberDomain = configuration.domain
        userAgent.locate = { [unowned locator] uri, flow, completion in locator.locate(uri, after: flow, completion: completion) }
        registrar.onQuestion = { [unowned reachability] user, contact, now in reachability.ask(contact, of: user, at: now) }
        registrar.onExpiry = { [unowned log] user, contacts in log.expired(user, contacts: contacts.count) }
        registrar.onLoss = { [unowned log] user, contacts in log.lost(user, contacts: contacts.count) }
        registrar.onUnregistered = { [unowned recorder] user in recorder.mailboxes.waiting?.unregistered(user) }
        registrar.authenticator.onWrongPassword = { [unowned admission] guess, _ in admission.note(guess) }
        router.hook = environment.routing.map(routingHook)
        if let ask = environment.ask {
            router.hook = { [unowned router] call, completion in ask(CallQuestion(call), router.pending.add(completion)) }
        }
        services.restore(environment.kept.registrations, epoch: environment.epoch)
        for line in lineTable.all { line.observer?.listener = self }
        trunks.start()
        settle()
    }

    private static func began(_ configuration: GatewayConfiguration, _ run: Text?) -> JournalEvent.Details {
        var details: JournalEvent.Details = [
            .version: .init(configuration.version.map { configuration.product + "/" + $0 } ?? configuration.product)
        ]
        details.add(.run, run.map { .init($0) })
        let ports = configuration.media.ports
        details.add(.ports, .init(Text("\(ports.lowerBound)-\(ports.upperBound)")))
        return details
    }

    /// An answer that comes later is an input of its own.
    private func routingHook(
        _ decide: @escaping Environment.RoutingHook
    ) -> (IncomingCall, @escaping (CallVerdict) -> Void) -> Void {
        { [unowned self] call, completion in
            var isDecidedAtOnce = true
            decide(call) { decision, now in
                guard !isDecidedAtOnce else { return completion(decision) }
                self.enter(now)
                completion(decision)
                self.settle()
            }
            isDecidedAtOnce = false
        }
    }

    func tellCalls(at now: Instant) { callTeller?.tell(at: journal.clock.unixNanoseconds(at: now)) }

    /// Calls that are still up end with the systems that they belong to; nobody is there to be told.
    deinit {
        for line in lineTable.all {
            line.observer?.listener = nil
            line.legs = IdentityTable()
        }
    }

    // MARK: Inputs

    /// One datagram, or one framed message.
    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        enter(now)
        if flow.transport == .udp { admission.note(backlog: network.backlog) }
        if !receiveKeepAlive(bytes, over: flow) { userAgent.receive(bytes, over: flow, at: now) }
        settle()
    }

    /// A request that came over this connection waits for its final response.
    public func owesAnswer(over flow: Flow) -> Bool { userAgent.owesAnswer(over: flow) }

    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return userAgent.answersMalformed(over: flow, at: self.now)
    }

    /// Nothing more is heard over a connection.
    public func peerHalfClosed(_ flow: Flow, at now: Instant) {
        enter(now)
        trunks.lost(flow)
        userAgent.peerHalfClosed(flow, at: now)
        settle()
    }

    /// A flow broke, or a connection could not be opened.
    public func failed(_ flow: Flow, at now: Instant) {
        enter(now)
        trunks.lost(flow)
        registrar.lost(flow, at: self.now)
        userAgent.failed(flow, at: now)
        settle()
    }

    /// A datagram found nobody.
    public func portUnreachable(_ beginning: [UInt8], at now: Instant) {
        enter(now)
        userAgent.portUnreachable(beginning, at: self.now)
        settle()
    }

    /// An event of the media plane about a leg.
    public func receive(_ event: MediaEvent, of media: MediaLegID, at now: Instant) {
        enter(now)
        guard let leg = table.leg(of: media), leg.state == .connected else { return }
        leg.heard(event)
        settle()
    }

    /// An event of a stream that this gateway opened.
    public func receive(_ event: StreamEvent, of stream: UInt64, at now: Instant) {
        enter(now)
        applications.streams.receive(event, of: stream)
        settle()
    }

    /// DNS answered.
    public func receive(_ answer: DNSAnswer, of question: UInt64, at now: Instant) {
        guard let completion = locator.completion(of: question) else { return }
        enter(now)
        completion(answer, self.now)
        settle()
    }

    /// Takes the verdict on a call that `Environment.ask` was asked about.
    public func receive(_ verdict: CallVerdict, of question: UInt64, at now: Instant) {
        guard let completion = router.pending.take(question) else { return }
        enter(now)
        completion(verdict)
        settle()
    }

    /// Takes parts of the state that another gateway has left in the store, or that was kept before this one found its store.
    public func adopt(_ updates: [KeptUpdate], at now: Instant) {
        enter(now)
        for update in updates where context.store?.takes(update) ?? true {
            if !services.adopt(update, mailboxes: recorder.mailboxes) { kept.adopt(update) }
        }
        settle()
    }

    /// Takes the whole state of the store: what is not in it is not there any more.
    public func adopt(_ whole: KeptState, at now: Instant) {
        let numbers = lineTable.all.map(\.configuration.number.description)
        adopt(whole.updates(of: numbers, users: registrar.registeredUsers.map(\.description)), at: now)
    }

    /// Ends the calls of gateways that have died, or goes on with them (``GatewayConfiguration/takeover``).
    public func end(_ orphans: OrphanedCalls, at now: Instant) {
        enter(now)
        services.end(isDraining ? orphans : services.dialogs.takeovers?.take(orphans) ?? orphans)
        settle()
    }

    /// Takes the leases of trunks that gateways which share the store have; a trunk that is not among them keeps its state.
    public func adopt(_ leases: [TrunkLease], at now: Instant) {
        enter(now)
        trunks.adopt(leases)
        settle()
    }

    /// Does what is due until now.
    public func advance(to now: Instant) {
        enter(now)
        trunks.advance(to: now)
        userAgent.advance(to: now)
        registrar.advance(to: now)
        for timer in context.timers.advance(to: now) { fire(timer) }
        settle()
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? {
        [userAgent.deadline, registrar.deadline, context.timers.nextDeadline, trunks.deadline].compactMap(\.self).min()
    }

    /// No new call is taken: INVITE and OPTIONS are answered 503.
    public var isDraining: Bool { incomingCalls.isDraining }

    /// Takes no new call from now on; those that are up go on until `endAll`.
    public func drain(at now: Instant) {
        enter(now)
        guard !isDraining else { return }
        incomingCalls.drain()
        trunks.leave()
        settle()
    }

    /// The journal's end: what must hold when nothing is left to happen. Violations found in the whole run.
    public func finish(at now: Instant) -> Int {
        enter(now)
        let text = refusals.map { "\($0.cause):\($0.count)" }.joined(separator: " ")
        journal.record(.gatewayStopped, at: self.now, text.isEmpty ? [:] : [.text: .init(text)])
        journal.finish(at: self.now)
        return journal.violations
    }

    /// Present numbers of calls and what belongs to them; at rest all are zero.
    public func counts(at now: Instant) -> Counts {
        let lines = lineTable.all
        return Counts(
            legs: lines.reduce(table.lingeringCount) { $0 + $1.legs.count }, bridges: table.bridges.count,
            calls: lines.reduce(0) { $0 + $1.system.calls.count },
            timers: context.timers.count - lines.count { $0.timer != nil }, agent: userAgent.counts, media: media.counts(at: now))
    }

    /// The time of the input that is worked off.
    var now: Instant { context.now }

    func enter(_ now: Instant) { context.enter(now) }

    /// Works off what the input led to: bridges first, which ask for more; then legs that are over are taken down.
    func settle() {
        repeat {
            while let step = table.nextBridgeStep() { apply(step.outputs, of: step.bridge) }
            takeDownEnded()
        } while table.hasBridgeEvents
        ringing.wakeUps.dropGone()
        services.dialogs.settle()
        sweep()
        context.timers.armSystems(of: lineTable)
        journal.flush()
    }

    /// Lets those go whose last answer came. Nobody is looked at while no session ends: of legs that wait for theirs there may be
    /// thousands.
    private func sweep() {
        guard userAgent.endedSessions != sweptSessions else { return }
        sweptSessions = userAgent.endedSessions
        table.sweepLingering()
    }

    // MARK: Figures

    /// Refusals since the start, by cause; causes without any are left out.
    public var refusals: [(cause: String, count: UInt64)] { allRefusals.filter { $0.count > 0 } }

    private var allRefusals: [(cause: String, count: UInt64)] {
        let authenticator = registrar.authenticator, agent = userAgent.refusals, counts = admission.rateControl.counts
        let causes = RateControl.Cause.allCases.map { cause in
            (cause.rawValue, cause == .questions ? locator.refusedQueries : counts[cause] ?? 0)
        }
        return causes + [
            ("wrong-password", authenticator.guessCount), ("throttled", authenticator.throttledCount), ("users", registrar.refusedUsers),
            ("contacts", registrar.refusedContacts), ("unreadable", agent.unreadable), ("malformed", agent.malformed),
            ("transactions", agent.transactions), ("sessions", agent.sessions), ("forks", agent.forks),
            ("subscriptions", agent.subscriptions),
        ]
    }

    /// - Parameters:
    ///   - transports: what carries the signalling.
    ///   - file: where the journal goes.
    func figures(_ transports: Transports.Counts, _ file: JournalFile.Counts?, at now: Instant) -> GatewayFigures {
        let ends = table.endCounts.map { ($0.key.name.description, $0.value) }
        var figures = GatewayFigures(
            version: configuration.version, now: counts(at: now), registrar: registrar.counts, transports: transports,
            watchedSources: admission.rateControl.sourceCount, isDraining: isDraining, questions: locator.openQueries,
            refusals: allRefusals, throttled: registrar.authenticator.throttled(at: now), events: journal.countsByKind,
            ends: Dictionary(uniqueKeysWithValues: ends), answers: userAgent.answers, registrations: registrar.answers,
            media: table.mediaTotals, violations: journal.violations, journal: file)
        (figures.queues, figures.streams) = (applications.queues.totals, applications.streams.totals)
        figures.heldTrunks = context.leasesTrunks ? trunks.held : nil
        return figures
    }

    // MARK: Keep-alives

    /// A CRLF that answers ours, or STUN beside SIP on a UDP port (RFC 5626 §3.5, §5.4). True when it was one of them, and is dealt with.
    private func receiveKeepAlive(_ bytes: [UInt8], over flow: Flow) -> Bool {
        if flow.transport.isReliable {
            guard bytes == StreamFramer.pong else { return false }
        } else {
            guard STUNBinding.begins(bytes) else { return false }
            let (isRequest, answer) = admission.answer(toBinding: bytes, over: flow)
            if let answer { network.send(answer, over: flow) }
            if isRequest { return true }
        }
        trunks.receiveKeepAlive(bytes, over: flow)
        return true
    }
}
