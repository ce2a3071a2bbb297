import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// The network and media library of a call app: one line at a SIP server and the calls on it.
///
/// The app's code is written against CallKit alone. What the network does comes to it as `AppLineEvent`s, which it reports to its
/// `CXProvider`; what its provider's delegate performs it passes on to the methods here, by the call's UUID. The line listens to the
/// CallKit system too, as its journal: it writes down every call with the gateway's events, and it keeps the contract whatever the app
/// does.
/// A step that the app asks for too early is refused and counted (`refusals`); a step that it forgets is made when the action is fulfilled.
///
/// Lives on one queue, and every method is called there. It has no clock and no socket of its own.
public final class AppLine: SignallingEndpoint {
    /// The environment that the outside gives it.
    public struct Environment {
        /// The telephone that the app's CallKit belongs to.
        public var system: CallSystem
        /// The transport of SIP messages.
        public var network: any SignallingNetwork
        /// The plane of the calls' media.
        public var media: any MediaPlane
        /// The operating system's source, or a seeded one in a rehearsal.
        public var random: any RandomNumberGenerator
        /// For answers to challenges.
        public var hash: DigestHash
        /// The journal of the line and its calls.
        public var journal: Journal

        /// Everything that the outside gives.
        public init(
            system: CallSystem, network: any SignallingNetwork, media: any MediaPlane, random: any RandomNumberGenerator,
            hash: @escaping DigestHash,
            journal: Journal
        ) {
            (self.system, self.network, self.media, self.random, self.hash, self.journal) = (system, network, media, random, hash, journal)
        }
    }

    /// Counts of everything that is there: all are zero when no call is up.
    public struct Counts: Equatable, Sendable {
        /// Calls of the line, and of its telephone.
        public var calls = 0, systemCalls = 0
        /// The counts of SIP.
        public var agent: UserAgent.Counts
        /// The counts of media.
        public var media: MediaCounts
        /// Whether nothing is left of any call.
        public var isIdle: Bool {
            calls + systemCalls == 0 && agent.sessions + agent.clientTransactions + agent.serverTransactions == 0 && media.isIdle
        }
    }

    /// As it was made.
    public let settings: AppLineSettings
    /// The telephone that the app's CallKit belongs to.
    public let system: CallSystem
    /// The SIP side.
    public let agent: UserAgent
    /// The journal of the line and its calls.
    public let journal: Journal
    /// Hears of everything, in order.
    public var onEvent: (AppLineEvent) -> Void = { _ in }
    /// Steps that the app asked for and that the contract forbids at that moment.
    public internal(set) var refusals = 0
    /// The keeper of the calls that are over; nil: nobody keeps them.
    public var recents: AppRecents? { didSet { recents?.onRefusal = { [weak self] in self?.cannotCallBack($0) } } }
    let plane: any MediaPlane
    /// By the app's UUIDs.
    var calls: [UUID: AppCall] = [:]
    /// The app's UUIDs of calls that it reported under its own, by those of their `.incoming`.
    var ownUUIDs: [UUID: UUID] = [:]
    /// The sound that the user hears and says, as the app has switched it.
    var audio = AppAudio()
    var acting = ActionsUnderWay()
    /// Calls whose signalling is not over though the call is.
    private var lingering: [AppCall] = []
    var callOfMedia: [MediaLegID: UUID] = [:]
    private var mediaIDs: UInt64 = 0
    private var conferences: UInt64 = 0
    private var random: any RandomNumberGenerator
    private var registration: Registration?
    /// Messages to the CallKit system that wait until its own turn is over.
    private var errands: [() -> Void] = []
    private var turn: Instant
    private(set) var isLeaving = false
    /// There is no app to tell.
    private var hasFailed = false
    private(set) lazy var scribe = CallSystemRecorder(self)

    /// Takes calls from now on, and registers where the settings say so.
    public init(_ settings: AppLineSettings, _ environment: Environment, at now: Instant) {
        (self.settings, system, journal, plane, random) = (
            settings, environment.system, environment.journal, environment.media, environment.random
        )
        turn = now
        var configuration = UserAgentConfiguration()
        configuration.product = settings.product
        configuration.allowedMethods += [.refer, .notify]
        agent = UserAgent(configuration: configuration, network: environment.network, random: environment.random, hash: environment.hash)
        journal.record(.gatewayStarted, at: now, [.version: .init(settings.product)])
        journal.record(.lineConfigured, line: settings.number, at: now, [.scope: "perLine", .app: true])
        agent.delegate = self
        journal.onViolation = { [unowned self] in onEvent(.violation($0)) }
        journal.onAdvice = { [unowned self] in onEvent(.advice($0)) }
        system.journal = scribe
    }

    /// The time of the turn, or of what was written down later than its beginning.
    var now: Instant { max(turn, journal.latest) }

    func enter(_ now: Instant) {
        reach(now)
        scribe.drain()
    }

    func reach(_ now: Instant) { turn = max(turn, now) }

    /// Does what had to wait until the CallKit system was done.
    func settle() {
        while !errands.isEmpty { errands.removeFirst()() }
        lingering.removeAll { $0.isSignallingOver }
        journal.flush()
    }

    func later(_ errand: @escaping () -> Void) { errands.append(errand) }

    // MARK: Inputs

    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        enter(now)
        agent.receive(bytes, over: flow, at: self.now)
        settle()
    }

    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool { agent.answersMalformed(over: flow, at: now) }

    public func owesAnswer(over flow: Flow) -> Bool { agent.owesAnswer(over: flow) }

    public func peerHalfClosed(_ flow: Flow, at now: Instant) {
        enter(now)
        agent.peerHalfClosed(flow, at: self.now)
        settle()
    }

    public func failed(_ flow: Flow, at now: Instant) {
        enter(now)
        agent.failed(flow, at: self.now)
        settle()
    }

    public func portUnreachable(_ beginning: [UInt8], at now: Instant) {
        enter(now)
        agent.portUnreachable(beginning, at: self.now)
        settle()
    }

    /// Takes an event of the media of a leg.
    public func receive(_ event: MediaEvent, of leg: MediaLegID, at now: Instant) {
        enter(now)
        if let call = callOfMedia[leg].flatMap({ calls[$0] }) { call.heard(event) }
        settle()
    }

    public func advance(to now: Instant) {
        enter(now)
        agent.advance(to: self.now)
        for call in callsInOrder { call.advance(to: self.now) }
        settle()
    }

    public var deadline: Instant? {
        if !errands.isEmpty || scribe.hasPending { return turn }
        return ([agent.deadline] + calls.values.map(\.deadline)).compactMap(\.self).min()
    }

    // MARK: The line

    /// Registers with the server and stays so.
    public func register(at now: Instant) {
        enter(now)
        guard settings.registers, registration == nil else { return }
        let address = NameAddress(displayName: settings.displayName, uri: URI(user: settings.number, host: settings.domain))
        var request = OutgoingRegistration(registrar: URI(host: settings.domain), flow: settings.flow, address: address)
        request.credentials = settings.credentials
        registration = agent.register(request, at: now) { [unowned self] _, event, _ in
            switch event {
            case .registered(let seconds, _): onEvent(.registered(seconds: seconds))
            case .failed(let status, _, _): onEvent(.registrationFailed(status: status))
            case .unregistered: onEvent(.unregistered)
            }
        }
        settle()
    }

    /// Whether the server knows where we are.
    public var isRegistered: Bool { registration?.isRegistered ?? false }

    /// Takes no further call and gives up the registration; `.unregistered` follows. Calls that are up are the app's to end.
    public func leave(at now: Instant) {
        enter(now)
        isLeaving = true
        if let registration { registration.unregister(at: now) } else { onEvent(.unregistered) }
        settle()
    }

    /// The app could not be launched: calls that wait for their report, and all to come, are answered 503.
    public func launchFailed(at now: Instant) {
        enter(now)
        hasFailed = true
        for call in callsInOrder where call.standing == .unreported { call.giveUpUnreported(status: 503) }
        settle()
    }

    /// A push has come for which the app reported no call.
    public func pushUnreported(at now: Instant) {
        enter(now)
        journal.record(.pushUnreported, line: settings.number, at: self.now)
        settle()
    }

    private func cannotCallBack(_ handle: CXHandle) {
        journal.record(
            .callBackRefused, line: settings.number, at: now,
            [.error: "handleTypeUnsupported", .class: .init("\(handle.type)"), .remote: .init(handle.value)])
        journal.flush()
    }

    /// The journal's end: what must hold when nothing is left to happen. Violations found in the whole run.
    public func finish(at now: Instant) -> Int {
        enter(now)
        journal.record(.gatewayStopped, at: self.now)
        journal.finish(at: self.now)
        return journal.violations
    }

    /// Counts everything that is there now.
    public func counts(at now: Instant) -> Counts {
        Counts(calls: calls.count + lingering.count, systemCalls: system.calls.count, agent: agent.counts, media: plane.counts(at: now))
    }

    // MARK: Calls

    /// Oldest first.
    var callsInOrder: [AppCall] { calls.values.sorted { $0.media.id.rawValue < $1.media.id.rawValue } }

    func makeCall(_ direction: AppCall.Direction, _ uuid: UUID, session: InviteSession?, flow: Flow) -> AppCall {
        mediaIDs += 1
        let scribe = LegJournal(journal: journal, call: CallUUID(uuid), line: settings.number)
        let media = LegMedia(id: MediaLegID(mediaIDs), plane: plane, scribe: scribe)
        var local = LocalMedia(address: settings.mediaAddress, port: 0, codecs: settings.codecs)
        local.security = .ofThisProcess(settings.srtp, keying: settings.keying, using: &random)
        let negotiation = OfferAnswer(local: local, sessionID: random.next())
        return AppCall(
            direction, uuid: uuid, line: self, session: session, flow: flow, negotiation: negotiation, media: media, scribe: scribe)
    }

    func makeMove(_ call: AppCall, _ request: TransferRequest) -> AppCallMove { AppCallMove(call, request, sessionID: random.next()) }

    func nextConference() -> UInt64 {
        conferences += 1
        return conferences
    }

    func add(_ call: AppCall) {
        calls[call.uuid] = call
        callOfMedia[call.media.id] = call.uuid
    }

    /// The call is over, and so is its media.
    func remove(_ call: AppCall) {
        calls[call.uuid] = nil
        callOfMedia[call.media.id] = nil
        forgetName(of: call)
        if !call.isSignallingOver { lingering.append(call) }
    }

    func tell(_ event: AppLineEvent) { onEvent(event) }

    /// False, and counted: the contract forbids it now.
    func refuse() -> Bool {
        refusals += 1
        return false
    }
}

extension AppLine: UserAgentDelegate {
    public func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        guard !isLeaving, !hasFailed else {
            session.respond(status: hasFailed ? 503 : 480, at: now)
            return
        }
        let call = makeCall(.incoming, makeUUID(), session: session, flow: session.flow)
        guard call.take(session) else { return }
        add(call)
        tell(.incoming(call.uuid, AppCaller(session.request.from)))
    }

    private func makeUUID() -> UUID {
        CallUUID(high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(3 << 62) | 2 << 62).uuid
    }
}

extension AppCaller {
    init(_ from: NameAddress) {
        let user = from.uri.plainUser ?? "anonymous"
        isNumber = user.bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") }
        handle = isNumber ? user.description : "sip:\(user)@\(from.uri.host)"
        name = from.displayName?.description
    }
}
