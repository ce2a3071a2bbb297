import Primitives
import SIP

/// A SIP user agent: transactions, dialogs and their timers over a network that it is given.
///
/// Lives on one lane and is told the time; it has no queue, no clock and no socket. Its owner passes in what arrives (`receive`),
/// what failed (`failed`) and the time (`advance`, at the latest at `deadline`), and keeps it longer than its sessions.
public final class UserAgent {
    /// As it was made.
    public let configuration: UserAgentConfiguration
    /// Decides what is not the protocol's. Held weakly.
    public weak var delegate: (any UserAgentDelegate)?
    /// Finds the ways to a URI that a 3xx names, where the flow's own socket and transport do not lead to it (RFC 3263); the best first,
    /// none where there is none. The answer may come later. Nil: a 3xx is followed to addresses alone.
    public var locate: ((URI, Flow, _ completion: @escaping ([Flow], Instant) -> Void) -> Void)?

    /// The domain of the numbers in tel URIs that a 3xx names; nil: such URIs are not followed.
    public var numberDomain: Text?

    let network: any SignallingNetwork
    let hash: DigestHash?
    // Asked with each message, as those of `InviteSession`.
    private var random: any RandomNumberGenerator
    private lazy var tagKey = random.next()
    var alarms = AlarmQueue()
    var clientSerial: UInt64 = 0
    var clientTransactions: [ClientTransactionID: ClientTransaction] = [:]
    var serverTransactions: [ServerTransactionID: ServerTransaction] = [:]
    let unanswered = UnansweredRequests()
    /// Requests outside of dialogs that are being dealt with, to find their copies.
    var unmerged: [MergeKey: ServerTransactionID] = [:]
    /// By local tag.
    var sessions: [Text: InviteSession] = [:]
    /// Subscriptions of peers, by local tag.
    var subscriptions: [Text: EventSubscription] = [:]
    /// Sessions that have ended since the start. When it has changed, an object that keeps something of sessions looks for what may go.
    public internal(set) var endedSessions: UInt64 = 0
    var registrations: [ObjectIdentifier: Registration] = [:]
    var latePracks = LatePracks()
    /// Connections that a request of ours went over, or something of a call, until they are gone.
    private var connectionsInUse: Set<UInt64> = []
    /// Requests of ours of which the network does not say which connection carries them, by their serials, until they are done: that one
    /// may have ended while they were given to it.
    private var uncarried: Set<UInt64> = []
    /// UDP peers that took no connection for a long request, each with the time until which such requests are datagrams.
    var withoutConnections: [SocketAddress: Instant] = [:]
    /// Begins every branch of this agent, so that it knows its own Via again.
    let branchPrefix: Text
    /// The values of Allow, Accept and Supported.
    let allowed: Text
    let accepted: Text
    let supported: Text
    /// The Supported field of a re-INVITE or UPDATE, whose provisional responses nobody acknowledges.
    let supportedInDialog: Text
    private var hosts: [(address: IPAddress, text: Text)] = []
    /// Messages that were turned away since the start.
    public internal(set) var refusals = Refusals()
    /// The final statuses of calls that came.
    public internal(set) var answers = InviteAnswers()

    /// - Parameters:
    ///   - random: the operating system's source, or a seeded one in a rehearsal.
    ///   - hash: for the answers to challenges; without one every challenge is a refusal, whatever the credentials.
    public init(
        configuration: UserAgentConfiguration, network: any SignallingNetwork, random: any RandomNumberGenerator,
        hash: DigestHash? = nil
    ) {
        (self.configuration, self.network, self.random, self.hash) = (configuration, network, random, hash)
        allowed = Self.list(configuration.allowedMethods.map(\.text))
        accepted = Self.list(Message.acceptedBodies)
        supported = Self.list(configuration.options)
        supportedInDialog = Self.list(configuration.options.filter { $0 != "100rel" && $0 != "199" })
        branchPrefix = Text(Array(Via.magicCookie.bytes) + Self.hexadecimal(self.random.next(), digits: 8))
    }

    static func list(_ elements: [Text]) -> Text { Text(Array(elements.map(\.bytes).joined(separator: [0x2C, 0x20]))) }

    /// Takes one whole message as it came over the flow. Whatever the bytes are, it neither traps nor grows without bound.
    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        do {
            var message = try Message(parsing: bytes)
            if let reduced = message.reducedToDescription { message = reduced }
            guard message.isRequest else { return receiveResponse(message, over: flow, at: now) }
            var via = message.via
            via.stamp(source: flow.remote)
            if via != message.via { message.via = via }
            if flow.transport.isSecure, flow.connection != 0, via.asksForReuse { network.reuse(flow, for: via.host, port: via.port) }
            receiveRequest(message, via, over: flow, at: now)
        } catch {
            guard case .reject(var rejection) = error else { return noteUnreadable(bytes) }
            guard answersMalformed(over: flow, at: now) else { return }
            rejection.via.stamp(source: flow.remote)
            network.send(
                rejection.response(toTag: makeStatelessTag(rejection.via, rejection.headers)), over: flow.responseFlow(to: rejection.via))
        }
    }

    /// Whether a request that cannot be understood is answered. Counted either way.
    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool {
        refusals.malformed += 1
        return delegate?.userAgent(self, answersMalformedOver: flow, at: now) ?? true
    }

    /// Counts bytes that are no message, unless they keep a way open: then none was meant (RFC 5626 §3.5.1; many send blanks or NULs
    /// instead of line ends).
    private func noteUnreadable(_ bytes: [UInt8]) {
        if !bytes.allSatisfy({ $0 == 0 || $0 == 0x0D || $0 == 0x0A || $0 == 0x20 || $0 == 0x09 }) { refusals.unreadable += 1 }
    }

    /// The network could not send over the flow, or the connection is gone. What waits for a response over it ends with 503; an INVITE that
    /// had a provisional one waits on (RFC 3261 §17.1.1.2). A connection that carried nothing of ours costs no search: anybody can open and
    /// close many.
    public func failed(_ flow: Flow, at now: Instant) {
        guard isInUse(flow) else { return }
        connectionsInUse.remove(flow.connection)
        if flow.connection != 0 { for session in sessions.values { session.lost(flow.connection) } }
        loseRequests(over: flow, at: now)
    }

    /// Fails the requests that wait for a response over the connection, as if it were gone. Answers of ours still go over it (RFC 3261
    /// §18.2.2).
    public func peerHalfClosed(_ flow: Flow, at now: Instant) {
        if isInUse(flow) { loseRequests(over: flow, at: now) }
    }

    private func loseRequests(over flow: Flow, at now: Instant) {
        let lost = clientTransactions.values.filter { $0.isCarried(by: flow) }.sorted { $0.serial < $1.serial }
        for transaction in lost {
            transaction.lost(flow.connection)
            transportFailed(transaction, at: now)
        }
        for registration in registrations.values { registration.lost(flow, at: now) }
    }

    /// Whether a request that came over the flow's connection is still to be answered.
    public func owesAnswer(over flow: Flow) -> Bool { unanswered.exist(over: flow.connection) }

    /// Whether something of ours may be lost with it.
    func isInUse(_ flow: Flow) -> Bool { flow.connection == 0 || connectionsInUse.contains(flow.connection) || !uncarried.isEmpty }

    /// A request of ours was just given to the network.
    func noteUse(by transaction: ClientTransaction) {
        guard transaction.flow.transport.isReliable else { return }
        if transaction.carrier == 0 { uncarried.insert(transaction.serial) } else { connectionsInUse.insert(transaction.carrier) }
    }

    func noteEnd(of transaction: ClientTransaction) { uncarried.remove(transaction.serial) }

    /// A call has to do with this flow, unless it was refused at once.
    func noteUse(of flow: Flow, by session: InviteSession) {
        if flow.connection != 0, session.state != .ended { connectionsInUse.insert(flow.connection) }
    }

    /// Nobody takes datagrams where this one went, of which the network quotes the beginning (RFC 3261 §18.4). Only who saw the request
    /// knows its branch, so a forged message ends nothing. Nor does the first: whoever restarts is there for the next copy. What belongs to
    /// a call, and a CANCEL, is said as long as if it had been lost: nobody waits for it, and whoever comes back is to hear that the call
    /// has ended.
    public func portUnreachable(_ beginning: [UInt8], at now: Instant) {
        guard !beginning.starts(with: "CANCEL ".utf8), let branch = ownBranch(in: beginning),
            let transaction = clientTransactions[ClientTransactionID(branch: branch, isCancel: false)], transaction.flow.transport == .udp,
            transaction.request.to.tag == nil, !transaction.hasFinalResponse
        else { return }
        if transaction.cameBack { transportFailed(transaction, at: now) }
        transaction.cameBack = true
    }

    /// The first branch of ours: that of the top Via, wherever the quotation ends.
    private func ownBranch(in bytes: [UInt8]) -> Text? {
        let length = branchPrefix.count + Self.branchDigits
        guard bytes.count >= length, !bytes.starts(with: "SIP/".utf8) else { return nil }
        for start in 0...(bytes.count - length)
        where bytes[start] == branchPrefix.bytes.first && bytes[start...].starts(with: branchPrefix.bytes) {
            return Text(Array(bytes[start..<start + length]))
        }
        return nil
    }

    /// The flow without its connection if that is gone, so that `towards` finds another way.
    public func living(_ flow: Flow) -> Flow {
        guard flow.connection != 0, !network.isOpen(flow) else { return flow }
        var flow = flow
        flow.connection = 0
        return flow
    }

    /// Begins a connection of its own to the flow's peer, beside those that stand, and gives the way over it; nil where none can be had.
    public func connect(_ flow: Flow) -> Flow? { network.connect(flow) }

    /// The way of a request whose next hop is this URI: `Flow.towards`, and over UDP only where we listen for it.
    public func way(over flow: Flow, to uri: URI) -> Flow { flow.towards(uri, speaksUDP: network.speaksUDP(with: flow.remote.address)) }

    /// When `advance` next has something to do.
    public var deadline: Instant? { alarms.deadline }

    /// Does everything that is due.
    public func advance(to now: Instant) {
        while let alarm = alarms.popDue(at: now) { alarm.ring(now) }
    }

    /// Numbers of objects that are alive. All zero when nothing is going on.
    public struct Counts: Hashable, Sendable {
        /// Calls, from their INVITE to their end.
        public var sessions = 0
        /// Requests of ours that are not done with.
        public var clientTransactions = 0
        /// Requests of peers that are not done with.
        public var serverTransactions = 0
        /// Requests outside of dialogs whose copies would be recognised.
        public var originals = 0
        /// Registrations of ours.
        public var registrations = 0
        /// Subscriptions of peers.
        public var subscriptions = 0
        /// Alarms that are set.
        public var timers = 0

        /// Nothing is going on.
        public init() {}
    }

    /// Numbers of messages that were turned away since the start, for want of sense or room.
    public struct Refusals: Hashable, Sendable {
        /// Messages that no answer could be made to, but for what keeps a way open: dropped.
        public var unreadable: UInt64 = 0
        /// Requests that were answered 400, 505 or the like before anything was made of them.
        public var malformed: UInt64 = 0
        /// Requests above the greatest number of transactions, and INVITEs above that of sessions: 503.
        public var transactions: UInt64 = 0, sessions: UInt64 = 0
        /// SUBSCRIBEs above the greatest number of subscriptions: 503.
        public var subscriptions: UInt64 = 0
        /// Responses of more forks of one INVITE than are followed.
        public var forks: UInt64 = 0

        /// Nothing was turned away.
        public init() {}
    }

    /// Numbers of objects that are alive now.
    public var counts: Counts {
        var counts = Counts()
        (counts.sessions, counts.registrations, counts.timers) = (sessions.count, registrations.count, alarms.count)
        (counts.clientTransactions, counts.serverTransactions) = (clientTransactions.count, serverTransactions.count)
        (counts.originals, counts.subscriptions) = (unmerged.count, subscriptions.count)
        return counts
    }
}

extension UserAgent {
    static func hexadecimal(_ number: UInt64, digits: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits)
        append(hexadecimal: number, digits: digits, to: &bytes)
        return bytes
    }

    /// The lowest digit first.
    private static func append(hexadecimal number: UInt64, digits: Int, to bytes: inout [UInt8]) {
        var text = InlineArray<16, UInt8>(repeating: 0)
        for index in 0..<digits {
            let nibble = UInt8(truncatingIfNeeded: number >> UInt64(4 * index)) & 15
            text[index] = nibble < 10 ? 0x30 + nibble : 0x57 + nibble
        }
        text.span.withUnsafeBufferPointer { bytes.append(contentsOf: $0[..<digits]) }
    }

    /// A tag of 64 random bits (RFC 3261 §19.3).
    func makeTag() -> Text { Text(Self.hexadecimal(random.next(), digits: 16)) }

    /// For an answer that nothing is kept of: the same when the request comes again (RFC 3261 §8.2.7).
    func makeStatelessTag(_ via: Via, _ headers: Headers) -> Text { Self.statelessTag(via, headers, key: tagKey) }

    static func statelessTag(_ via: Via, _ headers: Headers, key: UInt64) -> Text {
        var digest = digest(of: .empty) ^ key
        for part in [via.branch, via.host, via.port.map { Text($0) }, headers[.callID], headers[.from], headers[.cseq]] {
            digest = Self.digest(of: part ?? .empty, from: digest) &+ 1
        }
        return Text(hexadecimal(digest, digits: 16))
    }

    func makeCallID() -> Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for _ in 0..<2 { Self.append(hexadecimal: random.next(), digits: 16, to: &bytes) }
        return Text(bytes)
    }

    /// The first CSeq number of a call: room for 2³¹ minus a few requests stays.
    func makeSequence() -> UInt32 { UInt32(random.next() & 0xFFFF) + 1 }

    /// Milliseconds from a range, in steps of 10 ms as RFC 3261 §14.1 has them.
    func randomDelay(_ range: ClosedRange<UInt64>) -> Duration {
        .milliseconds(Int64((range.lowerBound + random.next() % (range.upperBound - range.lowerBound + 1)) / 10 * 10))
    }

    /// Whole seconds for Retry-After, 0–10.
    func makeRetryAfter() -> Text { Text(random.next() % 11) }

    private static let branchDigits = 24

    /// Our Via for a request to this URI: the branch tells the agent, the URI and the transaction.
    func makeVia(for uri: URI, over flow: Flow) -> Via {
        var branch: [UInt8] = []
        branch.reserveCapacity(branchPrefix.count + Self.branchDigits)
        branch.append(contentsOf: branchPrefix.bytes)
        Self.append(hexadecimal: Self.digest(of: uri), digits: 8, to: &branch)
        Self.append(hexadecimal: random.next(), digits: 16, to: &branch)
        let address = configuration.contactAddress(flow)
        // Only who listens for TLS, and so has a certificate to show, can prove that it is whom the Via says.
        let asksForReuse = flow.transport.isSecure && configuration.hasTLS
        return Via(
            transport: flow.transport.name, host: host(address.address), port: address.knownPort, branch: Text(branch),
            asksForReuse: asksForReuse)
    }

    /// - Parameter isSecure: the request names a `sips:` URI, and so must our Contact (RFC 3261 §8.1.1.8, §12.1.1).
    func makeContact(user: Text?, over flow: Flow, isSecure: Bool = false) -> NameAddress {
        let address = configuration.contactAddress(flow)
        if isSecure, flow.transport.isSecure {
            return NameAddress(uri: URI(scheme: .sips, user: user, host: host(address.address), port: address.knownPort))
        }
        let parameters: Parameters = flow.transport == .udp ? [:] : ["transport": flow.transport.parameter]
        return NameAddress(uri: URI(user: user, host: host(address.address), port: address.knownPort, parameters: parameters))
    }

    /// Our own addresses as text; there are few of them.
    private func host(_ address: IPAddress) -> Text {
        if let known = hosts.first(where: { $0.address == address }) { return known.text }
        let text = Text("\(address)")
        if hosts.count < 64 { hosts.append((address, text)) }
        return text
    }

    /// FNV-1a: tells a loop, where our request comes back as it was, from a spiral, where a proxy changed its Request-URI
    /// (RFC 3261 §16.3 item 4).
    static func digest(of uri: URI) -> UInt64 { digest(of: uri.text) }

    private static func digest(of text: Text, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        text.bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

extension SocketAddress {
    /// Nil where we do not listen for the transport: the peer has to use the connection that we opened.
    fileprivate var knownPort: UInt16? { port == 0 ? nil : port }
}
