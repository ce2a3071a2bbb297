import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SIP
import Synchronization
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// The parts of a gateway without the gateway. Each is made when a test first asks for it, together with the parts that it names.
///
/// Nothing happens by itself: messages that leave are kept, notices to the gateway are recorded, and the test makes the next step.
final class Parts {
    static let domain: Text = "gateway.test"
    static let address = IPAddress(v4: 0xCB00_7101)

    let configuration: GatewayConfiguration
    let wire = Wire()
    let plane: VirtualMediaPlane
    let journal: Journal
    let store = KeptChanges()
    let context: GatewayContext
    let lines: LineTable
    let listeners: Listeners
    private let sink = Transcript()
    /// nil: nobody is woken.
    private let isPushing: Bool
    private let recordings: RecordingWriter?

    // Notices to the gateway, in their order.
    fileprivate(set) var sessions: [InviteSession] = []
    fileprivate(set) var legEvents: [(leg: Leg, event: LegEvent)] = []
    fileprivate(set) var ends: [(call: UUID, end: CallEnd)] = []
    fileprivate(set) var woken: [(leg: Leg, callees: [Destination], isReported: Bool)] = []
    fileprivate(set) var unwoken: [Leg] = []
    private(set) var queries: [(question: DNSQuestion, number: UInt64)] = []
    private(set) var pushes: [PushMessage] = []
    private(set) var guesses: [WrongPassword] = []
    /// Called in the moment of a leg's event.
    var onLegEvent: ((Leg, LegEvent) -> Void)?
    /// Outputs of bridges, without the answers of callers: `settle` performs those.
    private(set) var bridgeOutputs: [Bridge.Output] = []

    /// Lines 2000 and 3000 for devices without a password, 9196 with an echo; calls of 192.0.2.1 to 192.0.2.127 are trusted.
    init(
        listeners: [Transports.Listener] = [.init(.udp, SocketAddress(Parts.address, port: 5060))], recordings: RecordingWriter? = nil,
        _ configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) {
        var configuration = GatewayConfiguration()
        configuration.domain = Self.domain
        configuration.access.trusted = [IPNetwork("192.0.2.0/25")!]
        configuration.lines = [.devices("2000"), .devices("3000"), .echo("9196")]
        configure(&configuration)
        let start = Instant(nanoseconds: 1_000_000_000)
        journal = Journal(
            lane: "parts", clock: WallClock(instant: start, unixNanoseconds: 1_790_000_000_000_000_000), sink: sink, audit: nil)
        plane = VirtualMediaPlane(ports: configuration.media.ports, quarantine: configuration.media.quarantine, seed: 2)
        context = GatewayContext(
            configuration, journal: journal, store: store, random: SeededRandom(seed: 3),
            epoch: Date(timeIntervalSince1970: 1_790_000_000), at: start)
        let service = configuration.featureCodes ? [LineServices.serviceLine] : []
        lines = LineTable(
            context.makeLines(configuration.lines + service, kept: KeptState(), directories: nil), Routing(configuration.lines))
        self.listeners = Listeners(listeners, own: [], advertised: configuration.advertise.address)
        (self.configuration, self.recordings, isPushing) = (configuration, recordings, configuration.push.isOn)
        for line in lines.all { line.observer?.listener = self }
    }

    /// Breaks the cycle of lines and legs, as the gateway does.
    deinit {
        for line in lines.all {
            line.observer?.listener = nil
            line.legs = IdentityTable()
        }
    }

    private(set) lazy var userAgent = {
        var settings = UserAgentConfiguration()
        settings.hasTLS = listeners.transports.contains(.tls)
        settings.allowedMethods += [.register, .refer, .notify, .message, .subscribe]
        settings.eventPackages = [MessageSummary.event]
        settings.supportedOptions = ["replaces"]
        let agent = UserAgent(configuration: settings, network: wire, random: SeededRandom(seed: 4), hash: OpenSSLDigest.sip)
        agent.delegate = self
        return agent
    }()
    private(set) lazy var registrar = {
        var settings = RegistrarConfiguration(domain: configuration.domain)
        (settings.keepAlive, settings.guesses) = (nil, configuration.access.guesses)
        return Registrar(
            configuration: settings, accounts: Accounts(configuration.lines), random: SeededRandom(seed: 5), hash: OpenSSLDigest.sip)
    }()
    private(set) lazy var table = CallTable(lines, turn: context.turn, limit: configuration.limits.legs)
    private(set) lazy var policy = MediaPolicy(
        context, lines, AdvertisedAddresses(advertise: configuration.advertise, towards: { _ in nil }), listeners)
    private(set) lazy var locator = ServerLocator(context, lines, listeners) { [unowned self] in queries.append(($0, $1)) }
    private(set) lazy var trunks = Trunks(
        context, lines, .init(context: context, userAgent: userAgent, network: wire, locator: locator, onNotice: nil))
    private(set) lazy var admission = Admission(context, lines, trunks, registrar, userAgent) { [unowned self] in guesses.append($0) }
    private(set) lazy var router = Router(context, table, trunks, registrar, userAgent, listeners, isPushing: isPushing)
    private(set) lazy var services = LineServices(context, table, registrar, dialogs)
    private(set) lazy var dialogs = SharedDialogs(context, table, userAgent, listeners, trunks)
    private(set) lazy var recorder = Recorder(context, table, userAgent, recordings)
    private(set) lazy var messageWaiting = {
        let waiting = MessageWaiting(context, lines, recorder.mailboxes, admission, registrar, userAgent)
        recorder.mailboxes.waiting = waiting
        registrar.onUnregistered = { [unowned waiting] user in waiting.unregistered(user) }
        return waiting
    }()
    private(set) lazy var dialling = {
        let dialling = Dialling(context, table, policy, plane, listeners, userAgent, admission)
        dialling.legContext = self
        return dialling
    }()
    private(set) lazy var wakeUps = {
        let push: (PushMessage) -> Void = { [unowned self] in pushes.append($0) }
        let wakeUps = WakeUps(context, table, router, services, admission, push: isPushing ? push : nil)
        wakeUps.listener = self
        return wakeUps
    }()
    private(set) lazy var originations = Originations(context, table, router, services, dialling)
    private(set) lazy var applications = Applications(
        context, recorder, Queues(context, table, router), CallStreams(context, table, router, dialling, nil))
    private(set) lazy var ringing = Ringing(context, table, router, dialling, wakeUps, originations, applications)
    private(set) lazy var holding = Holding(table)
    private(set) lazy var grouping = Grouping(context, table, recorder)
    private(set) lazy var transfers = Transfers(context, table, router, userAgent, dialling, ringing, recorder, holding, services)
    private(set) lazy var incomingCalls = IncomingCalls(
        context, table, admission, RequestLog(context), router, services, dialling, ringing, transfers, userAgent)

    func line(_ number: Text) -> Line { lines.line(numbered: number)! }

    /// Moves the time on. Timers that are due stay armed.
    func wait(_ duration: Duration) { context.enter(context.now + duration) }

    /// Takes the timers of legs that are due now.
    func dueTimers() -> [LegTimer] {
        context.timers.advance(to: context.now).compactMap { timer in
            guard case .leg(let call, let kind) = timer, let leg = table.leg(call) else { return nil }
            leg.timers.removeAll { $0.timer == kind }
            return kind
        }
    }

    /// Works off the events of bridges.
    func settle() {
        while let step = table.nextBridgeStep() {
            for output in step.outputs {
                if case .answer(let call) = output {
                    table.leg(call).map { $0.line.calls.answer(call) }
                } else {
                    bridgeOutputs.append(output)
                }
            }
        }
    }

    /// The journal's events of a kind so far.
    func events(_ kind: JournalEvent.Kind) -> [JournalEvent] {
        journal.flush()
        return JournalReader.parse(sink.bytes, name: "parts").events.filter { $0.kind == kind }
    }
}

extension Parts: LegContext {
    var shared: GatewayContext { context }

    func invite(from leg: Leg, to destination: Destination, offer: [UInt8]) -> InviteSession {
        dialling.invite(from: leg, to: destination, offer: offer)
    }

    func group(_ leg: Leg, with other: Leg) -> Bool { grouping.group(leg, with: other) }

    func part(_ leg: Leg) -> Bool { grouping.part(leg) }

    func leg(_ leg: Leg, did event: LegEvent) {
        legEvents.append((leg, event))
        onLegEvent?(leg, event)
    }
}

extension Parts: UserAgentDelegate {
    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) { sessions.append(session) }

    func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        guard request.method == .subscribe else { return false }
        messageWaiting.subscribe(request, over: flow, transaction)
        return true
    }
}

extension Parts: LineListener {
    func systemActs(on call: UUID, _ cause: SystemCause, of line: Line) {}
    func answered(_ call: UUID, on line: Line) {}

    func ended(_ call: UUID, _ end: CallEnd, on line: Line) {
        ends.append((call, end))
        if let leg = line.legs[call] { table.noteEnd(of: leg) }
    }
}

extension Parts: WakeUpListener {
    func devicesWoke(for leg: Leg, _ callees: [Destination], isReported: Bool) { woken.append((leg, callees, isReported)) }
    func nobodyWakes(for leg: Leg) { unwoken.append(leg) }
}

/// A network that delivers nothing and keeps what was sent.
final class Wire: SignallingNetwork {
    private(set) var sent: [(message: Message, flow: Flow)] = []
    /// Connections that are gone.
    var closed: Set<UInt64> = []

    func send(_ bytes: [UInt8], over flow: Flow) {
        if let message = try? Message(parsing: bytes) { sent.append((message, flow)) }
    }

    func isOpen(_ flow: Flow) -> Bool { !closed.contains(flow.connection) }

    func requests(_ method: SIP.Method) -> [Message] { sent.map(\.message).filter { $0.isRequest && $0.method == method } }

    /// The statuses of our responses to one method, 100 included.
    func statuses(_ method: SIP.Method = .invite) -> [Int] { responses(method).compactMap(\.status) }

    func responses(_ method: SIP.Method = .invite) -> [Message] { sent.map(\.message).filter { !$0.isRequest && $0.method == method } }
}

/// A store that keeps changes in memory.
final class KeptChanges: LineStore {
    private let kept = Mutex<[LineChange]>([])

    func keep(_ change: LineChange) { kept.withLock { $0.append(change) } }

    var all: [LineChange] { kept.withLock { $0 } }
}

extension LineConfiguration {
    /// A line whose devices need no password.
    static func devices(_ number: Text, _ change: (inout LineConfiguration) -> Void = { _ in }) -> LineConfiguration {
        var line = LineConfiguration(number: number)
        line.isOpen = true
        change(&line)
        return line
    }

    static func echo(_ number: Text) -> LineConfiguration { .devices(number) { $0.endpoint = .application(.echo) } }
}
