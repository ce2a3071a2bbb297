import Primitives
import SIP
import UserAgent

/// A network of datagrams in virtual time, with seeded loss, doubling and delay, and what the endpoints on it do with time.
final class Link {
    struct Packet {
        let due: Instant
        let bytes: [UInt8]
        let flow: Flow
    }

    /// Something at an address: an agent, or a test that looks at the bytes.
    enum Endpoint {
        case agent(UserAgent)
        case raw((_ bytes: [UInt8], _ flow: Flow) -> Void)
    }

    private(set) var now = Instant.zero
    var random: SeededRandom
    /// Per cent.
    var loss: UInt64 = 0
    var doubling: UInt64 = 0
    /// Milliseconds one way; a range of more than one value reorders.
    var delay: ClosedRange<UInt64> = 10...10
    /// Says which packets do not arrive.
    var drops: ((Packet) -> Bool)?
    /// Addresses that nothing can be sent to over TCP.
    var unreachable: Set<SocketAddress> = []
    /// What the network says (ICMP) to who sends a datagram where nobody is: how much of it is quoted, in bytes. Nil: nothing.
    var quotation: Int?
    private var packets: [Packet] = []
    /// In a fixed order, so that a seed replays.
    private var endpoints: [(address: SocketAddress, endpoint: Endpoint)] = []
    private var failures: [(UserAgent, Flow)] = []
    private var plans: [(due: Instant, action: (Instant) -> Void)] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func place(_ endpoint: Endpoint, at address: SocketAddress) {
        endpoints.removeAll { $0.address == address }
        endpoints.append((address, endpoint))
    }

    private func endpoint(at address: SocketAddress) -> Endpoint? { endpoints.first { $0.address == address }?.endpoint }
    private var agents: [UserAgent] { endpoints.compactMap { if case .agent(let agent) = $0.endpoint { agent } else { nil } } }

    /// Does something later.
    func plan(after delay: Duration, _ action: @escaping (Instant) -> Void) {
        let due = now + delay
        let place = plans.firstIndex { $0.due > due } ?? plans.endIndex
        plans.insert((due, action), at: place)
    }

    func carry(_ bytes: [UInt8], over flow: Flow) {
        if flow.transport.isReliable, unreachable.contains(flow.remote), case .agent(let agent) = endpoint(at: flow.local) {
            return failures.append((agent, flow))
        }
        let isReliable = flow.transport != .udp
        for _ in 0..<(!isReliable && chance(doubling) ? 2 : 1) {
            let transit = isReliable ? delay.lowerBound : delay.lowerBound + random.next() % UInt64(delay.count)
            let packet = Packet(
                due: now + .milliseconds(Int64(transit)), bytes: bytes,
                flow: Flow(transport: flow.transport, local: flow.remote, remote: flow.local, connection: isReliable ? 1 : 0))
            if drops?(packet) == true || !isReliable && chance(loss) { continue }
            let place = packets.firstIndex { $0.due > packet.due } ?? packets.endIndex
            packets.insert(packet, at: place)
        }
    }

    private func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }

    /// Lets everything happen until the time, or until nothing is left to happen.
    func run(until end: Instant = .distantFuture) {
        while let next = nextTime, next <= end {
            now = max(now, next)
            for (agent, flow) in failures { agent.failed(flow, at: now) }
            failures = []
            if let packet = packets.first, packet.due <= now {
                packets.removeFirst()
                deliver(packet)
            }
            if let plan = plans.first, plan.due <= now {
                plans.removeFirst()
                plan.action(now)
            }
            for agent in agents { agent.advance(to: now) }
        }
        if end != .distantFuture { now = max(now, end) }
    }

    func run(seconds: Double) { run(until: now + .milliseconds(Int64(seconds * 1_000))) }

    private var nextTime: Instant? {
        if !failures.isEmpty { return now }
        var next = packets.first?.due
        if let plan = plans.first { next = min(next ?? plan.due, plan.due) }
        for agent in agents {
            if let due = agent.deadline { next = min(next ?? due, due) }
        }
        return next
    }

    private func deliver(_ packet: Packet) {
        switch endpoint(at: packet.flow.local) {
        case .agent(let agent): agent.receive(packet.bytes, over: packet.flow, at: now)
        case .raw(let receive): receive(packet.bytes, packet.flow)
        case nil:
            guard let quotation, packet.flow.transport == .udp, case .agent(let agent) = endpoint(at: packet.flow.remote) else { return }
            agent.portUnreachable(Array(packet.bytes.prefix(quotation)), at: now)
        }
    }

    func leave(_ address: SocketAddress) { endpoints.removeAll { $0.address == address } }
}

/// One agent's socket on a link.
final class Socket: SignallingNetwork {
    private unowned let link: Link
    init(_ link: Link) { self.link = link }
    func send(_ bytes: [UInt8], over flow: Flow) { link.carry(bytes, over: flow) }
}

/// `INVITE`, or `200 INVITE` for a response.
func summary(_ bytes: [UInt8]) -> String {
    guard let message = try? Message(parsing: bytes) else { return "?" }
    return message.summary
}

extension Message {
    var summary: String { status.map { "\($0) \(method)" } ?? "\(method)" }
}

/// A telephone: an agent at an address that writes down what happens and does what the test says.
final class Phone: UserAgentDelegate, InviteSessionDelegate {
    let link: Link
    let address: SocketAddress
    let agent: UserAgent
    private let socket: Socket
    /// Events without traces.
    private(set) var events: [String] = []
    /// Traces: `>` sent, `<` received, `*` again.
    private(set) var traces: [String] = []
    private(set) var sessions: [InviteSession] = []
    var onIncoming: (InviteSession, Instant) -> Void = { session, now in
        session.respond(status: 100, at: now)
        session.respond(status: 180, at: now)
        session.respond(status: 200, body: Array("v=0 answer".utf8), at: now)
    }
    var onEvent: (InviteSession, SessionEvent, Instant) -> Void = { session, event, now in
        switch event {
        case .accepted: session.acknowledge(at: now)
        case .offered(let offer): session.answer(offer, status: 200, body: Array("v=0 re-answer".utf8), at: now)
        case .acknowledgeTimeout: session.bye(at: now)
        default: break
        }
    }
    var onRequest: (Message, ServerTransactionID, Instant) -> Bool = { _, _, _ in false }

    init(_ link: Link, _ address: String, _ configure: (inout UserAgentConfiguration) -> Void = { _ in }) {
        guard let parsed = SocketAddress(address) else { fatalError("not an address: \(address)") }
        (self.link, self.address, socket) = (link, parsed, Socket(link))
        var configuration = UserAgentConfiguration()
        configure(&configuration)
        agent = makeAgent(configuration, socket, SeededRandom(seed: link.random.next()))
        agent.delegate = self
        link.place(.agent(agent), at: parsed)
    }

    func uri(_ user: Text = "phone") -> URI { URI(user: user, address: address) }

    func flow(to other: Phone, _ transport: Transport = .udp) -> Flow { Flow(transport: transport, local: address, remote: other.address) }

    @discardableResult
    func call(_ other: Phone, transport: Transport = .udp, _ change: (inout OutgoingInvite) -> Void = { _ in }) -> InviteSession {
        var invite = OutgoingInvite(
            target: other.uri(), flow: flow(to: other, transport), from: NameAddress(uri: uri("caller")), to: NameAddress(uri: other.uri()))
        invite.body = Array("v=0 offer".utf8)
        change(&invite)
        let session = agent.invite(invite, delegate: self, at: link.now)
        sessions.append(session)
        return session
    }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        events.append("incoming")
        sessions.append(session)
        session.delegate = self
        onIncoming(session, now)
    }

    func userAgent(_ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant) -> Bool
    {
        events.append("request \(request.method)")
        return onRequest(request, transaction, now)
    }

    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, let retransmission):
            traces.append((direction == .sent ? ">" : "<") + (retransmission ? "* " : " ") + message.summary)
        case .retryDue: break
        default: events.append(event.summary)
        }
        onEvent(session, event, now)
    }

    /// Does something more with events.
    func also(_ handler: @escaping (InviteSession, SessionEvent, Instant) -> Void) {
        let before = onEvent
        onEvent = { session, event, now in
            before(session, event, now)
            handler(session, event, now)
        }
    }

    func forget() { (events, traces) = ([], []) }
}

extension SessionEvent {
    var summary: String {
        switch self {
        case .traced: "traced"
        case .cancelled(let reasons): "cancelled" + reasons.map { " \($0.protocol)/\($0.cause ?? 0)" }.joined()
        case .acknowledged(let body): "acknowledged" + (body == nil ? "" : " with body")
        case .acknowledgeTimeout: "acknowledgeTimeout"
        case .provisional(let message): "provisional \(message.status ?? 0)"
        case .looking(let target): "looking for \(target.text)"
        case .foundNobody: "foundNobody"
        case .accepted: "accepted"
        case .rejected(let status, let message): "rejected \(status)" + (message == nil ? " locally" : "")
        case .ended(let reasons, _): "ended" + reasons.map { " \($0.protocol)/\($0.cause ?? 0)" }.joined()
        case .offered(let offer): "offered \(offer.message.method)" + (offer.body == nil ? " without body" : "")
        case .offerWithdrawn: "offerWithdrawn"
        case .reanswered: "reanswered"
        case .refused(let status): "refused \(status)"
        case .retryDue: "retryDue"
        case .byeCompleted(let status): "byeCompleted \(status)"
        case .provisionalTimeout: "provisionalTimeout"
        case .refreshDue: "refreshDue"
        case .expired: "expired"
        case .dialogLost(let status): "dialogLost \(status)"
        case .transferRequested(let transfer): "transferRequested \(transfer.target.text)"
        case .transferProgress(let status): "transferProgress \(status)"
        case .info: "info"
        }
    }
}

let nothingLeft = UserAgent.Counts()

func makeAgent(
    _ configuration: UserAgentConfiguration, _ network: any SignallingNetwork, _ random: SeededRandom,
    _ change: (inout UserAgentConfiguration) -> Void = { _ in }
) -> UserAgent {
    var configuration = configuration
    change(&configuration)
    return UserAgent(configuration: configuration, network: network, random: random, hash: testHash)
}

/// Not a good hash, but the same on both sides.
let testHash: DigestHash = { algorithm, bytes in
    var state = SeededRandom(seed: bytes.reduce(UInt64(algorithm == .md5 ? 5 : 256)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 })
    return (0..<(algorithm == .md5 ? 2 : 4)).flatMap { _ in
        let number = state.next()
        return (0..<16).map { Array("0123456789abcdef".utf8)[Int(truncatingIfNeeded: number >> UInt64(4 * $0)) & 15] }
    }
}
