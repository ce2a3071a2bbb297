import Primitives
import SIP

/// Answers the challenges that a call or a registration meets, and goes on using what was taken.
final class ClientAuthentication {
    var client: DigestClient

    init(_ credentials: Credentials, hash: @escaping DigestHash) {
        client = DigestClient(user: credentials.username, secret: credentials.secret, hash: hash)
    }
}

/// One request of ours, sent again with credentials when it is challenged: RFC 3261 §22.2, §22.3.
///
/// Each realm is answered once, and again when it only says that the nonce is stale. The user sees neither the challenge nor the
/// end of the transaction that it answered.
final class ClientRequest {
    /// The request that is on its way now, as its transaction and a call have it, too.
    private(set) var sent: Boxed<Message>
    private(set) var transaction: ClientTransaction?
    /// Cleared when the user has lost interest: a challenge is final then.
    var mayRetry = true
    /// The time that an INVITE waits for its final response; nil waits as long as there are provisional ones.
    var timeout: Duration?
    /// Whether other addresses that a response names are tried (RFC 3261 §8.1.3.4).
    var followsRedirections = false
    /// New headers after a 422 (RFC 4028 §7.1); nil where it is final.
    var onTooBrief: (Message) -> [(HeaderName, Text)]? = { _ in nil }
    /// The way over which the request is sent.
    private(set) var flow: Flow
    /// Further hops, tried in turn when nobody is at the one before (RFC 3263 §4.3).
    var otherHops: [NextHop] = []
    var onHop: ((Flow, Int?, Message?, Instant) -> Void)?
    /// Headers for the first target alone; taken out for whom a 3xx names.
    var confidential: [HeaderName] = []
    /// The body for another hop; nil where it is the same.
    var bodyOver: ((Flow) -> [UInt8]?)?
    /// Another body for who does not accept this one; nil where the refusal is final.
    var bodyAfterRefusal: (() -> [UInt8]?)?
    /// P-Asserted-Identity for a hop; nil for whom it is not meant.
    var identityOver: ((Flow) -> Text?)?
    /// The hop has; after a challenge, too.
    private var hasAnswered = false
    /// There was a response to what was sent last.
    private var attemptWasAnswered = false
    /// The request went over TCP although its flow is UDP.
    private var isOverTCP = false
    /// Rings where the connection for a long request does not stand in time; nil where none was waited for.
    private var connectAlarm: Alarm?
    /// An INVITE went over a connection that stood already, which its peer may have given up meanwhile.
    private var isOverStandingConnection = false
    private var alternatives: [URI] = []
    private var tried: [URI] = []
    /// The response that named other addresses last.
    private var redirection: Boxed<(response: Message, flow: Flow)>?
    /// The address of one of the alternatives is being looked up.
    private var isLooking = false
    private let authentication: ClientAuthentication?
    private let session: InviteSession?
    private unowned let agent: UserAgent
    private let takeSequence: () -> UInt32
    private var attempts = 0
    /// The number of the present turn. Outcomes of the transactions of earlier turns are ignored.
    private var turn = 0
    private var handler: ((ClientOutcome, Instant) -> Void)?

    init(
        _ request: Message, over flow: Flow, authentication: ClientAuthentication?, session: InviteSession?, agent: UserAgent,
        takeSequence: @escaping () -> UInt32
    ) {
        (self.flow, self.authentication, self.session, self.agent) = (flow, authentication, session, agent)
        self.takeSequence = takeSequence
        var request = request
        authentication?.client.authorize(&request, clientNonce: agent.makeTag())
        sent = Boxed(request)
    }

    private(set) var request: Message {
        get { sent.value }
        set { sent = Boxed(newValue) }
    }

    /// It was accepted: nobody needs again what it offered.
    func forgetBody() {
        request = request.withoutBody
        transaction?.sent = sent
    }

    /// Sends the request. Every outcome but those of answered challenges goes to the handler, the last one is `.terminated`.
    func start(at now: Instant, handler: @escaping (ClientOutcome, Instant) -> Void) {
        self.handler = handler
        send(at: now)
    }

    /// - Parameter isRepeated: under the same number, for the first time it did not leave.
    private func send(isRepeated: Bool = false, at now: Instant) {
        attempts += 1
        turn += 1
        attemptWasAnswered = false
        let turn = turn
        let (bytes, way) = prepared(at: now)
        isOverStandingConnection = request.method == .invite && agent.network.isConnected(way)
        let transaction = agent.transact(sent, bytes: bytes, isRepeated: isRepeated, over: way, session: session, at: now) { outcome, now in
            if turn == self.turn { self.receive(outcome, at: now) }
        }
        self.transaction = transaction
        if let timeout { agent.limit(transaction, to: now + timeout) }
        if isOverTCP { awaitConnection(at: now) }
        // A hop that says nothing at all gets less time than the last one, where another hop is left.
        if hasOtherWays, !hasAnswered { agent.limit(transaction, to: now + Self.hopTimeout) }
    }

    /// The request as it is sent, and over what: TCP for one that is too long for a datagram (RFC 3261 §18.1.1), where the peer can be
    /// reached so.
    private func prepared(at now: Instant) -> ([UInt8], Flow) {
        isOverTCP = false
        let bytes = request.serialized()
        guard flow.transport == .udp, let longest = agent.configuration.longestDatagram, bytes.count > longest, !isToNAT,
            agent.mayConnect(to: flow.remote, at: now)
        else { return (bytes, flow) }
        let way = wayOverTCP
        isOverTCP = true
        if request.via.transport != way.transport.name { request.via = newVia(over: way) }
        return (request.serialized(), way)
    }

    /// A NAT lets in what answers its datagrams, and no connection.
    private var isToNAT: Bool {
        let hop = request.routes.first?.uri ?? request.requestURI
        return hop?.targetAddress.map(flow.isFromNAT) ?? false
    }

    /// A firewall that drops what it does not want says so to nobody: a connection that does not stand within a second is given up, and the
    /// request is a datagram. Who takes connections takes them in less.
    private func awaitConnection(at now: Instant) {
        let (turn, alarm) = (turn, connectAlarm ?? Alarm())
        connectAlarm = alarm
        alarm.ring = { [weak self] now in
            guard let self, let transaction, turn == self.turn, !attemptWasAnswered, !agent.network.isConnected(wayOverTCP) else { return }
            agent.network.close(wayOverTCP)
            agent.transportFailed(transaction, at: now)
        }
        agent.alarms.set(alarm, to: now + Self.connectTimeout)
    }

    private static var connectTimeout: Duration { .seconds(1) }

    private var wayOverTCP: Flow {
        var way = flow
        way.transport = .tcp
        return way
    }

    /// Another attempt is another transaction; what the last one asked of the next hop this one asks, too.
    private func newVia(over way: Flow) -> Via {
        var via = agent.makeVia(for: request.requestURI ?? request.to.uri, over: way)
        if request.via.parameters.contains("keep" as StaticString) { via.parameters["keep"] = .empty }
        return via
    }

    /// Nobody takes the connection: a datagram, however long.
    private func fallBackToUDP(at now: Instant) {
        agent.noteNoConnection(to: flow.remote, at: now)
        request.via = newVia(over: flow)
        send(isRepeated: true, at: now)
    }

    private static var hopTimeout: Duration { .seconds(4) }

    private func receive(_ outcome: ClientOutcome, at now: Instant) {
        if case .response = outcome { attemptWasAnswered = true }
        if let connectAlarm { agent.alarms.set(connectAlarm, to: nil) }
        if isSentAgain(after: outcome, at: now) || failOver(after: outcome, at: now) || passOver(outcome, at: now) { return }
        if case .response(let response, let way) = outcome, isSentAgain(after: response, over: way, at: now) { return }
        let handler = handler
        if case .terminated = outcome { (self.handler, transaction) = (nil, nil) }
        handler?(outcome, now)
    }

    /// To the same hop: over a new connection, after one that stood too long, and as a datagram where nobody takes connections.
    private func isSentAgain(after outcome: ClientOutcome, at now: Instant) -> Bool {
        guard !attemptWasAnswered, mayRetry else { return false }
        switch outcome {
        case .transportFailed where isOverStandingConnection && attempts < Self.maximumAttempts:
            // Under the same branch: whoever has taken it before the connection went sees that it is the same (RFC 3261 §17.2.3).
            send(isRepeated: true, at: now)
        case .transportFailed where isOverTCP: fallBackToUDP(at: now)
        // The patience of a hop is shorter than that of a connection which nobody refuses, and nobody takes.
        case .timedOut where isOverTCP && hasOtherWays && !agent.network.isConnected(wayOverTCP): fallBackToUDP(at: now)
        case .response, .timedOut, .transportFailed, .terminated: return false
        }
        return true
    }

    /// The next hop, after one that did not answer, could not be reached or said 503. What else a server says is final.
    private func failOver(after outcome: ClientOutcome, at now: Instant) -> Bool {
        let failure: (status: Int, response: Message?)
        switch outcome {
        case .response(let response, _) where response.status == 503: failure = (503, response)
        case .response:
            if !hasAnswered { heard(at: now) }
            return false
        case .timedOut where !hasAnswered: failure = (408, nil)
        case .transportFailed where !hasAnswered: failure = (503, nil)
        case .timedOut, .transportFailed, .terminated: return false
        }
        onHop?(flow, failure.status, failure.response, now)
        guard mayRetry, !otherHops.isEmpty else { return false }
        send(over: otherHops.removeFirst(), at: now)
        return true
    }

    /// The hop is there: it may take its time from now on.
    private func heard(at now: Instant) {
        hasAnswered = true
        onHop?(flow, nil, nil, now)
        if hasOtherWays { transaction?.timeout = nil }
    }

    private var hasOtherWays: Bool { !otherHops.isEmpty || !alternatives.isEmpty }

    /// The same request as a new one to another hop: what was counted and named for the first is made anew.
    private func send(over hop: NextHop, at now: Instant) {
        (flow, hasAnswered, attempts) = (hop.flow, false, 0)
        request.cseq = CSeq(number: takeSequence(), method: request.method)
        // Another server asks with another nonce.
        forgetChallenges()
        if let target = hop.target, target != request.requestURI {
            retarget(to: target)
            request.headers.set(.to, NameAddress(uri: target).text)
        }
        nameUs(over: hop.flow)
        send(at: now)
    }

    /// For somebody else: nothing stays that was meant for the one before.
    private func retarget(to target: URI) {
        forgetChallenges()
        var next = request
        next.startLine = .request(request.method, target)
        next.headers.remove(.route)
        request = next
    }

    private func forgetChallenges() {
        authentication?.client.forgetChallenges()
        for name in [HeaderName.authorization, .proxyAuthorization] { request.headers.remove(name) }
    }

    /// Writes the parts of a request that depend on the way that it goes: Via, Contact, the description and the caller's identity.
    private func nameUs(over hop: Flow) {
        request.via = newVia(over: hop)
        if let contact = request.contact {
            let isSecure = request.requestURI?.scheme == .sips
            request.headers.set(.contact, agent.makeContact(user: contact.uri.user, over: hop, isSecure: isSecure).text)
        }
        if let body = bodyOver?(hop) { request.body = body }
        guard let identityOver else { return }
        if let identity = identityOver(hop) {
            request.headers.set(.pAssertedIdentity, identity)
        } else {
            request.headers.remove(.pAssertedIdentity)
        }
    }

    private func isSentAgain(after response: Message, over way: Flow, at now: Instant) -> Bool {
        retry(after: response, at: now) || raise(after: response, at: now) || reoffer(after: response, at: now)
            || redirect(after: response, over: way, at: now)
    }

    /// A proxy and a server may ask in turn, and each may find its nonce stale; whoever asks one hop more than that, or names more
    /// addresses, plays with us.
    private static let maximumAttempts = 5

    private func retry(after response: Message, at now: Instant) -> Bool {
        guard let authentication, mayRetry, response.status == 401 || response.status == 407, attempts < Self.maximumAttempts else {
            return false
        }
        var next = request
        next.cseq = CSeq(number: takeSequence(), method: request.method)
        next.via = newVia(over: flow)
        do { try authentication.client.answer(response, in: &next, clientNonce: agent.makeTag()) } catch { return false }
        request = next
        send(at: now)
        return true
    }

    /// The same again with a longer session interval.
    private func raise(after response: Message, at now: Instant) -> Bool {
        guard mayRetry, response.status == 422, attempts < Self.maximumAttempts, let headers = onTooBrief(response) else { return false }
        request.cseq = CSeq(number: takeSequence(), method: request.method)
        request.via = newVia(over: flow)
        for (name, value) in headers { request.headers.set(name, value) }
        authentication?.client.authorize(&request, clientNonce: agent.makeTag())
        send(at: now)
        return true
    }

    /// The same with another description.
    private func reoffer(after response: Message, at now: Instant) -> Bool {
        guard mayRetry, response.status == 488 || response.status == 606, attempts < Self.maximumAttempts, let body = bodyAfterRefusal?()
        else { return false }
        request.cseq = CSeq(number: takeSequence(), method: request.method)
        request.body = body
        request.via = newVia(over: flow)
        authentication?.client.authorize(&request, clientNonce: agent.makeTag())
        send(at: now)
        return true
    }

    /// The next address that a 3xx named, where the one before did not accept either; a 6xx ends the search.
    private func redirect(after response: Message, over way: Flow, at now: Instant) -> Bool {
        guard followsRedirections, mayRetry, let status = response.status, (300..<600).contains(status), tried.count < Self.maximumAttempts
        else { return false }
        if status < 400 {
            redirection = Boxed((response, way))
            if tried.isEmpty, let first = request.requestURI { tried = [first] }
            alternatives += response.redirections(numbersOf: agent.numberDomain).prefix(Self.maximumAttempts).filter(mayFollow)
        }
        return follow(at: now)
    }

    /// Nobody is at the address that a 3xx named: the next one.
    private func passOver(_ outcome: ClientOutcome, at now: Instant) -> Bool {
        switch outcome {
        case .timedOut, .transportFailed: mayRetry && !hasAnswered && tried.count < Self.maximumAttempts && follow(at: now)
        case .response, .terminated: false
        }
    }

    private func follow(at now: Instant) -> Bool {
        alternatives.removeAll { uri in tried.contains { $0.isEquivalent(to: uri) } }
        guard !alternatives.isEmpty else { return false }
        let target = alternatives.removeFirst()
        tried.append(target)
        if let direct = direct(to: target) {
            readdress(to: target, over: direct)
            send(at: now)
        } else {
            look(for: target, at: now)
        }
        return true
    }

    /// Whether a URI may be tried. A request to a sips URI goes to other sips URIs alone (RFC 5630 §5.1.2). Names are followed where
    /// somebody can look up their addresses.
    private func mayFollow(_ uri: URI) -> Bool {
        guard uri.isUsableAsRequestURI, request.requestURI?.scheme != .sips || uri.scheme == .sips else { return false }
        return direct(to: uri) != nil || agent.locate != nil
    }

    /// To an address, over the transport and from the socket that we have: where they serve, and in any case where nobody can say of other
    /// ones.
    private func direct(to uri: URI) -> Flow? {
        guard let address = uri.targetAddress, address.family == flow.remote.address.family, uri.scheme == .sip || flow.transport.isSecure
        else { return nil }
        guard !flow.transport.isWebSocket, uri.transport.map({ $0.equalsIgnoringCase(flow.transport.name) }) ?? true else { return nil }
        guard agent.locate == nil || serves(uri, at: address) else { return nil }
        var direct = flow
        if flow.transport.isSecure { direct.peer = uri.host }
        (direct.remote, direct.connection) = (SocketAddress(address, port: uri.port ?? flow.transport.standardPort), 0)
        return direct
    }

    /// Another network may need another socket, a certificate names who is called, and no transport means UDP (RFC 3263 §4.1).
    private func serves(_ uri: URI, at address: IPAddress) -> Bool {
        address.isNear(flow.remote.address) && !flow.transport.isSecure && (flow.transport == .udp || uri.transport != nil)
    }

    /// Nothing is under way meanwhile: the transaction that was answered has nothing more to say.
    private func look(for target: URI, at now: Instant) {
        isLooking = true
        turn += 1
        session?.emit(.looking(for: target), at: now)
        agent.locate?(target, flow) { [self] flows, now in found(flows, target, at: now) }
    }

    private func found(_ flows: [Flow], _ target: URI, at now: Instant) {
        guard isLooking, let (response, way) = redirection?.value else { return }
        isLooking = false
        if mayRetry, let first = flows.first {
            readdress(to: target, over: first)
            otherHops = flows.dropFirst().map { NextHop($0) }
            send(at: now)
        } else if !mayRetry || !follow(at: now) {
            if mayRetry { session?.emit(.foundNobody, at: now) }
            let handler = handler
            (self.handler, transaction) = (nil, nil)
            handler?(.response(response, over: way), now)
            handler?(.terminated, now)
        }
    }

    /// A new request of the same call to another address.
    private func readdress(to target: URI, over way: Flow) {
        (flow, hasAnswered, attempts) = (way, false, 0)
        // The other servers were those of the address before.
        otherHops = []
        request.cseq = CSeq(number: takeSequence(), method: request.method)
        retarget(to: target)
        for name in confidential { request.headers.remove(name) }
        // The branch tells the new Request-URI, so that a loop is seen.
        nameUs(over: flow)
    }
}
