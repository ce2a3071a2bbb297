import Primitives
import SIP

/// A user name with its secret, for a peer that asks who we are (RFC 3261 §22).
public struct Credentials: Hashable, Sendable {
    /// The user name of the digest.
    public var username: Text
    /// The password, or a hash of it.
    public var secret: DigestSecret

    /// A user with whatever is known of its password.
    public init(username: Text, secret: DigestSecret) { (self.username, self.secret) = (username, secret) }
    /// A user with its password in clear.
    public init(username: Text, password: Text) { self.init(username: username, secret: .password(password)) }
}

/// A hop that a request goes to when the hop before is not there.
public struct NextHop: Hashable, Sendable {
    /// The way to it.
    public var flow: Flow
    /// The Request-URI there, and whom the request is for; nil where both stay, as at another server of the same domain (RFC 3263 §4.3).
    public var target: URI?

    /// - Parameter target: nil keeps the Request-URI.
    public init(_ flow: Flow, target: URI? = nil) { (self.flow, self.target) = (flow, target) }
}

/// An INVITE to be sent.
public struct OutgoingInvite {
    /// The Request-URI.
    public var target: URI
    /// The next hop.
    public var flow: Flow
    /// Without a tag: the session makes one.
    public var from: NameAddress
    /// Without a tag: the peer makes one.
    public var to: NameAddress
    /// A route set known beforehand, such as an outbound proxy or a registered Path; loose routers.
    public var routes: [NameAddress] = []
    /// The names of those `headers` that are for this target alone. Targets that it names in a 3xx do not get them.
    public var confidential: [HeaderName] = []
    /// Further headers. Via, From, To, Call-ID, CSeq, Max-Forwards, Route, Contact, Allow and Supported are written already.
    public var headers: [(HeaderName, Text)] = []
    /// The offer; empty leaves it to the peer.
    public var body: [UInt8] = []
    /// The user part of our Contact; nil takes that of `from`.
    public var contactUser: Text?
    /// Made at random when nil.
    public var callID: Text?
    /// The value of Max-Forwards. For a forwarded call it is the rest of the other leg's, so that a loop of gateways ends.
    public var maxForwards = 70
    /// Our credentials for any peer that challenges; nil: a challenge is a refusal.
    public var credentials: Credentials?
    /// Further next hops, tried in turn where the one before is not there or answers 503 (RFC 3263 §4.3).
    public var alternatives: [NextHop] = []
    /// Hears of each hop whether it answered: nil for a provisional or final response of its own, else why it was passed over (408 no
    /// answer, 503).
    public var onHop: ((Flow, _ failure: Int?, Message?, Instant) -> Void)?
    /// The offer for another hop than the first, which may have to name another address of ours; nil where it is the same.
    public var offerOver: ((Flow) -> [UInt8]?)?
    /// Another offer for who refused this one (488, 606); nil where there is none, and the refusal is final.
    public var offerAfterRefusal: (() -> [UInt8]?)?
    /// P-Asserted-Identity for a hop, the first one too; nil for whom it is not meant (RFC 3325 §5).
    public var identityOver: ((Flow) -> Text?)?
    /// Meant for this very user agent: its coming back is no loop.
    public var isToOurselves = false

    /// - Parameter target: the Request-URI.
    public init(target: URI, flow: Flow, from: NameAddress, to: NameAddress) {
        (self.target, self.flow, self.from, self.to) = (target, flow, from, to)
    }
}

/// An OPTIONS to be sent outside of a dialog: is the peer there?
public struct OutgoingOptions {
    /// The Request-URI.
    public var target: URI
    /// The way to it.
    public var flow: Flow
    /// Without a tag: one is made.
    public var from: NameAddress
    /// The peer that it asks.
    public var to: NameAddress
    /// Our credentials for any peer that challenges; nil: a challenge is an answer.
    public var credentials: Credentials?

    /// - Parameter target: the Request-URI.
    public init(target: URI, flow: Flow, from: NameAddress, to: NameAddress) {
        (self.target, self.flow, self.from, self.to) = (target, flow, from, to)
    }
}

/// A dialog that another user agent had, of a call that was answered, and that this one goes on with.
public struct AdoptedDialog {
    /// As the other one left it; its next request has the next number.
    public var dialog: Dialog
    /// The side of its INVITE that the other one was.
    public var role: InviteSession.Role
    /// The way to the peer, as far as the dialog's route set and target do not say otherwise.
    public var flow: Flow
    /// The user of our Contact; nil: that of our address in the dialog.
    public var contactUser: Text?
    /// Our credentials for a peer that challenges; nil: a challenge is a refusal.
    public var credentials: Credentials?
    /// The offer.
    public var body: [UInt8]

    public init(_ dialog: Dialog, as role: InviteSession.Role, over flow: Flow, offering body: [UInt8]) {
        (self.dialog, self.role, self.flow, self.body) = (dialog, role, flow, body)
    }
}

/// A MESSAGE to be sent outside of a dialog (RFC 3428).
public struct OutgoingMessage {
    /// The Request-URI.
    public var target: URI
    /// The way to it.
    public var flow: Flow
    /// Without a tag: one is made.
    public var from: NameAddress
    /// The recipient of the message.
    public var to: NameAddress
    /// A route set known beforehand, such as a registered Path; loose routers.
    public var routes: [NameAddress] = []
    /// Hops that it may still take.
    public var maxForwards = 70
    /// Content-Type and what else is said of the text.
    public var headers: [(HeaderName, Text)] = []
    /// The text, as the Content-Type says.
    public var body: [UInt8] = []
    /// Our credentials for any peer that challenges; nil: a challenge is a refusal.
    public var credentials: Credentials?
    /// Further next hops, and who hears of each, as of an INVITE.
    public var alternatives: [NextHop] = []
    /// Hears of each hop whether it answered; nil for a response of its own, else why it was passed over.
    public var onHop: ((Flow, _ failure: Int?, Message?, Instant) -> Void)?

    /// - Parameter target: the Request-URI.
    public init(target: URI, flow: Flow, from: NameAddress, to: NameAddress) {
        (self.target, self.flow, self.from, self.to) = (target, flow, from, to)
    }
}

extension UserAgent {
    /// Sends an INVITE. The delegate hears of everything from the sending on, which happens inside of this call.
    public func invite(_ request: OutgoingInvite, delegate: (any InviteSessionDelegate)? = nil, at now: Instant) -> InviteSession {
        let session = InviteSession(outgoing: request, agent: self)
        session.delegate = delegate
        session.isToOurselves = request.isToOurselves
        sessions[session.localTag] = session
        session.start(request, at: now)
        return session
    }

    /// Goes on with the dialog of another user agent: a re-INVITE tells the peer where its requests and its packets go from now on.
    /// The delegate hears of everything from the sending on: `.accepted` or `.rejected` follows, as of an INVITE.
    public func adopt(_ adopted: AdoptedDialog, delegate: (any InviteSessionDelegate)? = nil, at now: Instant) -> InviteSession {
        let session = InviteSession(adopting: adopted, agent: self)
        session.delegate = delegate
        sessions[session.localTag] = session
        session.adopt(offering: adopted.body, at: now)
        return session
    }

    func makeAuthentication(_ credentials: Credentials?) -> ClientAuthentication? {
        guard let credentials, let hash else { return nil }
        return ClientAuthentication(credentials, hash: hash)
    }

    /// Sends an OPTIONS; the completion gets its final status: 408 without message when nobody answered, 503 when the transport
    /// failed.
    public func options(_ options: OutgoingOptions, at now: Instant, completion: @escaping (Int, Message?, Instant) -> Void) {
        var from = options.from
        from.tag = makeTag()
        var request = Message.request(
            .options, uri: options.target, via: makeVia(for: options.target, over: options.flow), from: from, to: options.to,
            callID: makeCallID(), cseq: makeSequence(), contact: makeContact(user: from.uri.user, over: options.flow))
        request.append(.accept, accepted)
        ask(request, over: options.flow, options.credentials, at: now, completion)
    }

    /// Sends a MESSAGE; the completion gets its final status, as that of `options`.
    public func message(_ message: OutgoingMessage, at now: Instant, completion: @escaping (Int, Message?, Instant) -> Void) {
        var from = message.from
        from.tag = makeTag()
        var request = Message.request(
            .message, uri: message.target, via: makeVia(for: message.target, over: message.flow), from: from, to: message.to,
            callID: makeCallID(),
            cseq: makeSequence(), maxForwards: message.maxForwards, routes: message.routes)
        addProduct(to: &request)
        for (name, value) in message.headers { request.append(name, value) }
        request.body = message.body
        ask(request, over: message.flow, message.credentials, hops: (message.alternatives, message.onHop), at: now, completion)
    }

    /// Ends a dialog that another user agent had, with a BYE; the completion gets its final status, as that of `options`.
    public func bye(
        in dialog: Dialog, over flow: Flow, reasons: [Reason], credentials: Credentials? = nil, at now: Instant,
        completion: @escaping (Int, Message?, Instant) -> Void
    ) {
        var dialog = dialog
        let way = way(over: flow, to: dialog.nextHop), sequence = dialog.takeSequence()
        var request = dialog.request(.bye, sequence: sequence, via: makeVia(for: dialog.nextHop, over: way))
        addProduct(to: &request)
        request.add(reasons)
        ask(request, over: way, credentials, at: now, completion)
    }

    private func ask(
        _ request: Message, over flow: Flow, _ credentials: Credentials?,
        hops: (others: [NextHop], onHop: ((Flow, Int?, Message?, Instant) -> Void)?) = ([], nil),
        at now: Instant, _ completion: @escaping (Int, Message?, Instant) -> Void
    ) {
        var sequence = request.cseq.number
        let exchange = ClientRequest(request, over: flow, authentication: makeAuthentication(credentials), session: nil, agent: self) {
            sequence += 1
            return sequence
        }
        (exchange.otherHops, exchange.onHop) = hops
        exchange.start(at: now, handler: Self.finalStatus(to: completion))
    }
}

extension UserAgent {
    /// Sends what another user agent has left to be sent.
    ///
    /// A refusal is sent three times where it may be lost: its ACK goes to the one that had the call.
    /// - Parameter completion: gets the final status of a CANCEL, as that of `options`; nil at once for a refusal; 503 where the message is
    ///   neither.
    public func send(_ word: LastWord, at now: Instant, completion: @escaping (Int?, Instant) -> Void) {
        guard let message = try? Message(parsing: word.message) else { return completion(503, now) }
        if message.status != nil {
            repeatRefusal(word, after: [configuration.timers.t1, configuration.timers.t1 * 2], at: now)
            return completion(nil, now)
        }
        guard message.method == .cancel else { return completion(503, now) }
        transact(
            Boxed(message), bytes: word.message, over: word.flow, session: nil, at: now,
            handler: Self.finalStatus(to: { status, _, now in completion(status, now) }))
    }

    /// The final status of a request and its answer: 408 where none came, 503 where it could not be sent.
    private static func finalStatus(to completion: @escaping (Int, Message?, Instant) -> Void) -> (ClientOutcome, Instant) -> Void {
        { outcome, now in
            switch outcome {
            case .response(let response, _): if let status = response.status, status >= 200 { completion(status, response, now) }
            case .timedOut: completion(408, nil, now)
            case .transportFailed: completion(503, nil, now)
            case .terminated: break
            }
        }
    }

    private func repeatRefusal(_ word: LastWord, after intervals: [Duration], at now: Instant) {
        network.send(word.message, over: word.flow)
        guard let next = intervals.first, !word.flow.transport.isReliable else { return }
        let alarm = Alarm { [unowned self] now in repeatRefusal(word, after: Array(intervals.dropFirst()), at: now) }
        alarms.set(alarm, to: now + next)
    }
}
