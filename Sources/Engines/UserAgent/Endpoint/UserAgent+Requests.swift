import Primitives
import SIP

extension UserAgent {
    /// A request as RFC 3261 §8.2 deals with it: known transaction, ACK, CANCEL, dialog, or something new.
    func receiveRequest(_ request: Message, _ via: Via, over flow: Flow, at now: Instant) {
        let method = request.method
        let id = ServerTransactionID(request, via, method: method == .ack ? .invite : method)
        if let transaction = serverTransactions[id] {
            transaction.follow(flow)
            if let session = transaction.session { noteUse(of: flow, by: session) }
            return receiveAgain(request, transaction, at: now)
        }
        let session = request.to.tag.flatMap { sessions[$0] }.flatMap { $0.callID == request.callID ? $0 : nil }
        if method == .ack {
            session?.receiveAcknowledgement(request, at: now)
            return
        }
        // Requests of a call have as much room again: strangers do not keep calls from ending.
        let isOfCall = session != nil || isCancel(of: request, via)
        guard serverTransactions.count < configuration.maximumTransactions * (isOfCall ? 2 : 1) else {
            refusals.transactions += 1
            return refuseStatelessly(request, over: flow, makeRetryAfter())
        }
        if !isOfCall {
            switch delegate?.userAgent(self, admits: request, over: flow, at: now) ?? .admitted {
            case .admitted: break
            case .refused(let seconds): return refuseStatelessly(request, over: flow, Text(seconds))
            case .ignored: return
            }
        }
        if method == .cancel { return receiveCancel(request, via, id, over: flow, at: now) }
        if request.to.tag != nil {
            receiveInDialog(request, id, session, over: flow, at: now)
        } else {
            receiveOutside(request, id, over: flow, at: now)
        }
    }

    /// The CANCEL of an INVITE that is here.
    private func isCancel(of request: Message, _ via: Via) -> Bool {
        request.method == .cancel && serverTransactions[ServerTransactionID(request, via, method: .invite)] != nil
    }

    private func receiveInDialog(_ request: Message, _ id: ServerTransactionID, _ session: InviteSession?, over flow: Flow, at now: Instant)
    {
        let transaction = begin(Boxed(request), id, nil, over: flow, session: session, at: now)
        if let session { noteUse(of: flow, by: session) }
        session?.trace(.received, request, retransmission: false, at: now)
        let isLate = session == nil && latePracks.take(request, at: now)
        let subscription = request.to.tag.flatMap { subscriptions[$0] }.flatMap { $0.matches(request) ? $0 : nil }
        if let refusal = refusal(of: request, over: flow, isKnownDialog: session != nil || subscription != nil || isLate) {
            // Nothing is kept of a stranger.
            session == nil ? answerOnce(transaction, refusal, request, at: now) : respond(transaction, refusal, at: now)
        } else if let session {
            session.receive(request, transaction, over: flow, at: now)
            awaitUser(transaction, at: now)
        } else if let subscription {
            subscription.receive(request, transaction, over: flow, at: now)
        } else {
            respond(transaction, Refusal(200), at: now)
        }
    }

    private func receiveOutside(_ request: Message, _ id: ServerTransactionID, over flow: Flow, at now: Instant) {
        let key = MergeKey(request)
        let isMerged = unmerged[key] != nil
        if request.method != .invite || isMerged {
            let transaction = begin(Boxed(request), id, key, over: flow, session: nil, at: now)
            if let refusal = isMerged ? Refusal(482) : refusal(of: request, over: flow, isKnownDialog: true) {
                return answerOnce(transaction, refusal, request, at: now)
            }
            return handle(request, transaction, over: flow, at: now)
        }
        if let refusal = refusal(of: request, over: flow, isKnownDialog: true) ?? refusalOfSession(request) {
            return respond(begin(Boxed(request), id, key, over: flow, session: nil, at: now), refusal, at: now)
        }
        // Kept as long as the call is.
        let invite = Boxed(request.compacted)
        guard let session = InviteSession(incoming: invite, over: flow, agent: self) else {
            let reason: Text = request.contact == nil ? "Missing Contact" : "Unusable Contact Or Record-Route"
            return respond(begin(invite, id, key, over: flow, session: nil, at: now), Refusal(400, reason: reason), at: now)
        }
        sessions[session.localTag] = session
        session.callee.transaction = begin(invite, id, key, over: flow, session: session, at: now)
        session.noteArrival(at: now)
        guard let delegate else {
            session.respond(status: 480, at: now)
            return
        }
        delegate.userAgent(self, incoming: session, at: now)
        noteUse(of: flow, by: session)
    }

    private func refusalOfSession(_ request: Message) -> Refusal? {
        guard sessions.count >= configuration.maximumSessions else { return nil }
        refusals.sessions += 1
        return Refusal(503, headers: [(.retryAfter, makeRetryAfter())])
    }

    /// A request outside of dialogs that is not an INVITE.
    private func handle(_ request: Message, _ transaction: ServerTransaction, over flow: Flow, at now: Instant) {
        if delegate?.userAgent(self, handle: request, over: flow, transaction: transaction.id, at: now) == true {
            return awaitUser(transaction, at: now)
        }
        answerOnce(transaction, defaultAnswer(to: request.method), request, at: now)
    }

    /// Answers a request and keeps nothing: a copy of it is answered anew, and the same (RFC 3261 §8.2.7).
    private func answerOnce(_ transaction: ServerTransaction, _ answer: Refusal, _ request: Message, at now: Instant) {
        var answer = answer
        answer.toTag = request.to.tag ?? makeStatelessTag(request.via, request.headers)
        respond(transaction, answer, at: now)
        remove(transaction)
    }

    private func defaultAnswer(to method: Method) -> Refusal {
        switch method {
        case .options: Refusal(200, headers: capabilities)
        case .bye, .prack, .info, .update, .notify: Refusal(481)
        // Only whoever is in a call may have it transferred.
        case .refer: Refusal(403)
        default: Refusal(405, headers: [(.allow, allowed)])
        }
    }

    /// RFC 3261 §9.2. The CANCEL is answered in any case; what it does to the INVITE is the session's to decide.
    private func receiveCancel(_ request: Message, _ via: Via, _ id: ServerTransactionID, over flow: Flow, at now: Instant) {
        let invite = serverTransactions[ServerTransactionID(request, via, method: .invite)]
        let key = request.to.tag == nil ? MergeKey(request) : nil
        let transaction = begin(Boxed(request), id, key, over: flow, session: invite?.session, at: now)
        // A CANCEL has the CSeq and tags of its INVITE, and neither is a copy of the other.
        invite?.session?.trace(.received, request, retransmission: false, at: now)
        guard let invite else { return answerOnce(transaction, Refusal(481), request, at: now) }
        if living(invite.flow).connection == 0 { invite.follow(flow) }
        if let session = invite.session { noteUse(of: flow, by: session) }
        respond(transaction, Refusal(200, toTag: invite.toTag), at: now)
        if invite.isOpen { invite.session?.receiveCancel(of: invite, request.reasons, at: now) }
    }

    private func refuseStatelessly(_ request: Message, over flow: Flow, _ retryAfter: Text) {
        var response = Message.response(to: request, status: 503, toTag: makeStatelessTag(request.via, request.headers))
        response.append(.retryAfter, retryAfter)
        network.send(response.serialized(), over: flow.responseFlow(to: request.via))
    }
}

/// An answer that needs nothing but a status and a few headers.
struct Refusal {
    var status: Int
    var reason: Text?
    var headers: [(HeaderName, Text)]
    var toTag: Text?

    init(_ status: Int, reason: Text? = nil, headers: [(HeaderName, Text)] = [], toTag: Text? = nil) {
        (self.status, self.reason, self.headers, self.toTag) = (status, reason, headers, toTag)
    }
}

extension UserAgent {
    /// Why a request cannot be dealt with, in the order of RFC 3261 §8.2 and §16.3.
    private func refusal(of request: Message, over flow: Flow, isKnownDialog: Bool) -> Refusal? {
        guard configuration.allowedMethods.contains(request.method) else { return refusalOfMethod(request.method) }
        guard isKnownDialog else { return Refusal(481) }
        if request.method == .subscribe, !knowsEvent(of: request) { return refusalOfEvent }
        // RFC 3891 §3.
        if request.method != .invite, request.headers.contains(.replaces) { return Refusal(400, reason: "Replaces Outside Of INVITE") }
        if request.to.tag == nil {
            if request.requestURI?.scheme == .sips, !flow.transport.isSecure { return refusalOfSecureURI(over: flow) }
            // Requests that a gateway would send on. A REGISTER, an OPTIONS and a request inside of a dialog have arrived.
            if request.maxForwards == 0, request.method != .options, request.method != .register { return Refusal(483) }
            if isLoop(request) { return Refusal(482) }
        }
        let unsupported = request.headers.elements(.require).filter { option in
            !configuration.options.contains { $0.equalsIgnoringCase(option) }
        }
        if !unsupported.isEmpty { return Refusal(420, headers: unsupported.map { (.unsupported, $0) }) }
        return refusalOfBody(request) ?? refusalOfAccept(request) ?? refusalOfInterval(request)
    }

    /// A sips URI over anything but TLS (RFC 3261 §26.2.2): no scheme of ours where we have no TLS (§21.4.14), and not to be had this way
    /// where we have it (RFC 5630 §4).
    private func refusalOfSecureURI(over flow: Flow) -> Refusal {
        guard configuration.hasTLS else { return Refusal(416) }
        let agent = Text("\(configuration.contactAddress(flow).address)")
        return Refusal(480, headers: [(.warning, "380 " + agent + " \"SIPS Not Allowed\"")])
    }

    /// The refusal of a method that is not allowed. Nobody publishes events here (RFC 3903 §6).
    private func refusalOfMethod(_ method: Method) -> Refusal {
        switch method {
        case .subscribe, .publish: refusalOfEvent
        default: Refusal(405, headers: [(.allow, allowed)])
        }
    }

    /// The refusal of an event that we do not know (RFC 6665 §8.3.1).
    var refusalOfEvent: Refusal {
        Refusal(489, headers: [(.allowEvents, Self.list(["refer"] + configuration.eventPackages)), (.allow, allowed)])
    }

    private func knowsEvent(of request: Message) -> Bool {
        guard let package = request.eventPackage else { return false }
        return configuration.eventPackages.contains { $0.equalsIgnoringCase(package) }
    }

    /// RFC 4028 §9.
    private func refusalOfInterval(_ request: Message) -> Refusal? {
        guard request.method == .invite || request.method == .update, let policy = configuration.sessionTimer else { return nil }
        return SessionTimer(policy: policy).refusal(of: request).map { Refusal(422, headers: [(.minSE, $0)]) }
    }

    /// RFC 3261 §8.2.3, of what `reducedToDescription` has left. What other methods carry is their receiver's affair; that it is encoded is
    /// not passed on.
    private func refusalOfBody(_ request: Message) -> Refusal? {
        guard !request.content.isEmpty else { return nil }
        if let encoding = request.headers[.contentEncoding], !encoding.equalsIgnoringCase("identity") {
            return Refusal(415, headers: [("Accept-Encoding", "identity")])
        }
        guard request.method == .invite || request.method == .update || request.method == .prack else { return nil }
        return request.contentType == .sdp && request.isOfSession ? nil : Refusal(415, headers: [(.accept, accepted)])
    }

    /// The refusal of a call whose Accept takes no session description for an answer: it can be given none (RFC 3261 §20.1, RFC 4475
    /// §3.3.15).
    private func refusalOfAccept(_ request: Message) -> Refusal? {
        guard request.method == .invite, request.to.tag == nil, request.headers.contains(.accept) else { return nil }
        return request.headers.elements(.accept).contains(where: \.acceptsDescription) ? nil : Refusal(406)
    }

    private func isLoop(_ request: Message) -> Bool {
        if isOwnCall(request) { return false }
        let vias = request.vias
        guard vias.contains(where: { $0.branch?.hasPrefix(branchPrefix) == true }), let uri = request.requestURI else { return false }
        let ours = branchPrefix + Text(Self.hexadecimal(Self.digest(of: uri), digits: 8))
        return vias.contains { $0.branch?.hasPrefix(ours) == true }
    }

    /// Whether a request is of a call of ours that was meant to come back, by whatever way: of a session that it can name.
    public func isOwnCall(_ request: Message) -> Bool { session(naming: request) != nil }

    /// The session that made an INVITE which came back as it was sent. Nobody else knows its branch; its tag is known to all whom the call
    /// went to.
    public func ownCall(_ request: Message) -> InviteSession? {
        guard let session = session(naming: request), let branch = request.via.branch else { return nil }
        return session.caller.invitation?.sent.value.via.branch == branch ? session : nil
    }

    private func session(naming request: Message) -> InviteSession? {
        guard let session = request.from.tag.flatMap({ sessions[$0] }), session.isToOurselves, session.callID == request.callID else {
            return nil
        }
        return session
    }

    /// Our capabilities, as an OPTIONS asks for them (RFC 3261 §11.2).
    var capabilities: [(HeaderName, Text)] { [(.allow, allowed), (.accept, accepted), (.supported, supported)] }
}

extension UserAgent {
    func respond(_ transaction: ServerTransaction, _ refusal: Refusal, at now: Instant) {
        respond(
            transaction, status: refusal.status, reason: refusal.reason, headers: refusal.headers, toTag: refusal.toTag, at: now)
    }

    /// Answers a request of a live transaction. Without effect when it has its final answer already.
    func respond(
        _ transaction: ServerTransaction, status: Int, reason: Text? = nil, headers: [(HeaderName, Text)] = [], contact: NameAddress? = nil,
        body: [UInt8] = [], contentType: Text = .sdp, toTag: Text? = nil, at now: Instant
    ) {
        guard let request = transaction.request else { return }
        var response = Message.response(to: request, status: status, reason: reason, toTag: toTag ?? transaction.toTag, contact: contact)
        if !configuration.product.isEmpty { response.append(.server, configuration.product) }
        for (name, value) in headers { response.append(name, value) }
        if !body.isEmpty {
            response.append(.contentType, contentType)
            response.body = body
        }
        respond(response, to: transaction, at: now)
    }

    /// Answers a request that was given to the delegate.
    /// - Returns: false when it has its final answer already, or is gone.
    @discardableResult
    public func respond(
        to id: ServerTransactionID, status: Int, reason: Text? = nil, headers: [(HeaderName, Text)] = [], body: [UInt8] = [],
        contentType: Text = .sdp, at now: Instant
    ) -> Bool {
        guard let transaction = serverTransactions[id], transaction.isOpen else { return false }
        respond(transaction, status: status, reason: reason, headers: headers, body: body, contentType: contentType, at: now)
        return true
    }

    /// The same with a response that was made with `Message.response(to:…)`; a To tag is added if it has none.
    @discardableResult
    public func respond(to id: ServerTransactionID, with response: Message, at now: Instant) -> Bool {
        guard let transaction = serverTransactions[id], transaction.isOpen else { return false }
        var response = response
        if response.to.tag == nil, response.status != 100 { response.to.tag = transaction.toTag }
        respond(response, to: transaction, at: now)
        return true
    }
}

extension Text {
    /// Whether an element of Accept takes descriptions: a range of types with SDP in it, unless its q is 0.
    fileprivate var acceptsDescription: Bool {
        let range = Text(bytes.prefix { $0 != 0x3B }.filter { $0 != 0x20 && $0 != 0x09 })
        let ranges: [Text] = ["application/sdp", "application/*", "*/*"]
        guard ranges.contains(where: { $0.equalsIgnoringCase(range) }) else { return false }
        let parameters = try? Parameters(parsing: Text(bytes.drop { $0 != 0x3B }))
        return parameters?["q"]?.bytes.contains { (0x31...0x39).contains($0) } ?? true
    }
}
