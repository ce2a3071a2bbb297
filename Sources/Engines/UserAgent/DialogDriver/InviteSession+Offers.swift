import Primitives
import SIP

/// A re-INVITE or UPDATE of ours. An object, for hardly a session has one at a time, and sessions of a kilobyte and more cost malloc its
/// slow ways.
final class OutgoingOffer {
    enum State {
        /// Sent; no final response yet.
        case sent
        /// Refused with 491, and due again at this time (RFC 3261 §14.1).
        case waiting(Instant)
    }

    enum Purpose {
        /// The delegate wants another session.
        case change
        /// Only refreshes the session: nobody but the timer waits for its answer.
        case refresh
        /// The first request in a dialog that another user agent had: its 2xx is the answer of the call, as its delegate sees it.
        case adoption
    }

    let method: Method
    let body: [UInt8]
    let purpose: Purpose
    var state = State.sent
    var exchange: ClientRequest?
    /// The number of times that it was sent.
    var attempts = 0
    static let maximumAttempts = 8

    init(method: Method, body: [UInt8], for purpose: Purpose = .change) { (self.method, self.body, self.purpose) = (method, body, purpose) }

    var isRefresh: Bool { purpose == .refresh }
}

extension InviteSession {
    /// Whether a refusal of our re-INVITE or UPDATE says that the dialog is gone: the peer does not know it (RFC 3261 §12.2.1.2), or what
    /// is sent in it does not reach the peer and never will (RFC 5057 §5.1). Anything else, as 480 or 503, leaves the dialog as it was.
    public static func endsDialog(_ status: Int) -> Bool {
        switch status {
        case 404, 408, 410, 416, 481...485, 502, 604: true
        default: false
        }
    }

    /// Whether `reinvite` and `update` may be called: the dialog is confirmed and nobody's offer is under way (RFC 3261 §14.1).
    public var canOffer: Bool {
        state == .confirmed && offer == nil && incomingOffer == nil && unacknowledged.isEmpty && awaitedSequence == nil
    }

    /// Sends a re-INVITE with an offer, or (empty) one that asks for an offer.
    ///
    /// `.reanswered` or `.refused` follows; after 64·T1 without a final response `.refused(408)`.
    /// - Returns: false when `canOffer` is false; nothing was sent then, and `.reanswered`, `.refused`, `.acknowledged` or the
    ///   delegate's own answer tell when to try again.
    @discardableResult
    public func reinvite(body: [UInt8], at now: Instant) -> Bool { makeOffer(OutgoingOffer(method: .invite, body: body), at: now) }

    /// Sends an UPDATE (RFC 3311) with an offer, or (empty) one that refreshes the target alone. As `reinvite`.
    @discardableResult
    public func update(body: [UInt8], at now: Instant) -> Bool { makeOffer(OutgoingOffer(method: .update, body: body), at: now) }

    /// The dialog is another user agent's until the peer has answered our first request in it.
    var isAdopting: Bool { offer?.purpose == .adoption }

    /// The first re-INVITE in the dialog of another user agent: `.accepted` or `.rejected` follows.
    func adopt(offering body: [UInt8], at now: Instant) { send(OutgoingOffer(method: .invite, body: body, for: .adoption), at: now) }

    /// In T1. A peer that is in the call answers at once, and whom it talks with hears nothing meanwhile: long enough for five copies.
    private static var adoptionPatience: Int { 16 }

    /// An UPDATE that only refreshes the session (RFC 4028 §7.4).
    func sendRefresh(at now: Instant) { send(OutgoingOffer(method: .update, body: [], for: .refresh), at: now) }

    private func makeOffer(_ offer: OutgoingOffer, at now: Instant) -> Bool {
        guard canOffer else { return false }
        send(offer, at: now)
        return true
    }

    private func send(_ offer: OutgoingOffer, at now: Instant) {
        let exchange = makeExchange(offer.method, at: now) {
            $0.headers.append(.allow, agent.allowed)
            $0.headers.append(.supported, agent.supportedInDialog)
            for (name, value) in timerRequestHeaders { $0.headers.append(name, value) }
            $0.setOffer(offer.body)
        }
        guard let exchange else { return }
        (offer.exchange, offer.state) = (exchange, .sent)
        offer.attempts += 1
        self.offer = offer
        exchange.onTooBrief = raiseInterval
        let timers = agent.configuration.timers
        exchange.timeout = isAdopting ? timers.t1 * Self.adoptionPatience : timers.timeout
        exchange.start(at: now) { [self] outcome, now in receive(outcome, of: exchange, offer.method, at: now) }
    }

    private func receive(_ outcome: ClientOutcome, of exchange: ClientRequest, _ method: Method, at now: Instant) {
        switch outcome {
        case .response(let response, _):
            guard let status = response.status, status >= 200 else { return }
            if status < 300 {
                receiveAnswer(response, of: exchange, method, at: now)
            } else if offer?.exchange === exchange {
                refuseOffer(status, response, at: now)
            }
        case .timedOut: if offer?.exchange === exchange { refuseOffer(408, at: now) }
        case .transportFailed: if offer?.exchange === exchange { refuseOffer(503, wasAnswered: false, at: now) }
        case .terminated: acknowledgements.removeAll { $0.sequence == exchange.request.cseq.number && method == .invite }
        }
    }

    /// A 2xx to our re-INVITE or UPDATE. A re-INVITE is acknowledged in any case, after the end of the session too.
    private func receiveAnswer(_ response: Message, of exchange: ClientRequest, _ method: Method, at now: Instant) {
        let sequence = response.cseq.number
        if method == .invite, let index = acknowledgements.firstIndex(where: { $0.sequence == sequence }) {
            return acknowledgeAgain(index, at: now)
        }
        if awaitedSequence == sequence { return }
        dialog?.refreshTarget(by: response)
        refreshTimer(by: response, at: now)
        if method == .invite { awaitedSequence = sequence }
        guard let offer, offer.exchange === exchange else { return acknowledge(exchange.request, at: now) }
        // A re-INVITE's goes with the ACK, which repeats what it said of us.
        if method != .invite { self.offer = nil }
        if offer.isRefresh { return }
        emit(offer.purpose == .adoption ? .accepted(response) : .reanswered(response), at: now)
        // Whoever offered in the INVITE has the answer now; otherwise the delegate owes it, and gets no second chance.
        if awaitedSequence == sequence { acknowledge(exchange.request, at: now) }
    }

    /// 491 is tried again after 2.1–4 s by the owner of the Call-ID, after 0–2 s by the other side (§14.1).
    private func refuseOffer(_ status: Int, _ response: Message? = nil, wasAnswered: Bool = true, at now: Instant) {
        guard let offer else { return }
        if status == 491, state == .confirmed, offer.attempts < OutgoingOffer.maximumAttempts {
            let delay = agent.randomDelay(role == .caller ? 2_100...4_000 : 0...2_000)
            (offer.state, offer.exchange) = (.waiting(now + delay), nil)
            return refreshAlarm()
        }
        if offer.purpose == .adoption {
            offer.exchange = nil
            return emit(.rejected(status: status, response), at: now)
        }
        self.offer = nil
        if !offer.isRefresh {
            if timer?.isRefreshing == true { timer?.refreshFailed(wasAnswered: wasAnswered, at: now) }
            emit(.refused(status: status), at: now)
        } else if Self.endsDialog(status) {
            emit(.dialogLost(status: status), at: now)
        } else {
            refreshWasRefused(status, wasAnswered: wasAnswered, at: now)
        }
        refreshAlarm()
    }

    /// As it was, unless the delegate wants something else by now and offers that.
    func retryOffer(at now: Instant) {
        guard let offer, case .waiting(let due) = offer.state, now >= due else { return }
        if offer.purpose == .change {
            self.offer = nil
            emit(.retryDue, at: now)
            guard self.offer == nil, state == .confirmed else { return }
        }
        send(offer, at: now)
    }
}

extension InviteSession {
    func receiveInvite(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        if let refusal = refusalOfSecondInvite ?? refusalOfOffer(in: request) { return agent.respond(transaction, refusal, at: now) }
        deliver(request, transaction, at: now)
        // The delegate took time to think: the peer need not repeat itself.
        if incomingOffer === transaction, transaction.lastResponse.isEmpty { agent.respond(transaction, Refusal(100), at: now) }
    }

    /// RFC 3261 §14.2: none while the first INVITE has no final response, whatever was agreed on in reliable ones; that is what UPDATE is
    /// for.
    private var refusalOfSecondInvite: Refusal? {
        guard state == .inviting else { return nil }
        return role == .caller ? Refusal(491) : Refusal(500, headers: [(.retryAfter, agent.makeRetryAfter())])
    }

    /// RFC 3311 §5.2. Without an offer it only tells where the peer is now.
    func receiveUpdate(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        if request.content.isEmpty {
            refreshTarget(by: request)
            let headers = agent.capabilities + timerAnswerHeaders(to: request, at: now)
            return agent.respond(transaction, status: 200, headers: headers, contact: contact, at: now)
        }
        receiveOffer(request, transaction, at: now)
    }

    /// An UPDATE or PRACK with an offer.
    func receiveOffer(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        if let refusal = refusalOfOffer(in: request) { return agent.respond(transaction, refusal, at: now) }
        deliver(request, transaction, at: now)
    }

    /// Glare (§14.2, RFC 3311 §5.2): 491 while an offer of ours is open, 500 while one of theirs is. That of the INVITE is open until a
    /// reliable response or the 2xx answers it.
    private func refusalOfOffer(in request: Message) -> Refusal? {
        let isTheirsOpen =
            incomingOffer != nil || (role == .callee && state == .inviting && !callee.isEarlyAgreed && callee.unpracked?.holdsOffer != true)
        if isTheirsOpen { return Refusal(500, headers: [(.retryAfter, agent.makeRetryAfter())]) }
        var isOursOpen = awaitedSequence != nil || callee.unpracked?.holdsOffer == true
        if role == .caller, state == .inviting { isOursOpen = caller.earlyDialogs.first { $0.dialog.matches(request) }?.isAgreed != true }
        if case .sent = offer?.state { isOursOpen = true }
        // A far end that has not been told yet where we are is answered when it has been.
        if isAdopting { isOursOpen = true }
        return isOursOpen || unacknowledged.contains { $0.holdsOffer } ? Refusal(491) : nil
    }

    private func deliver(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        incomingOffer = transaction
        if offer != nil {
            // Ours waits after a 491; what it says is outdated by theirs.
            let isRefresh = offer?.isRefresh == true
            offer = nil
            // Theirs refreshes the session, too, unless it is refused.
            if isRefresh { timer?.postpone(at: now) } else { emit(.refused(status: 491), at: now) }
            refreshAlarm()
        }
        emit(.offered(OfferRequest(message: request, transaction: transaction.id)), at: now)
    }

    /// Answers a re-INVITE or UPDATE. A 2xx to a re-INVITE is repeated until its ACK (`.acknowledged`, `.acknowledgeTimeout`), and
    /// moves the dialog's target. Without effect when the offer was withdrawn or answered.
    public func answer(
        _ offer: OfferRequest, status: Int, reason: Text? = nil, headers: [(HeaderName, Text)] = [], body: [UInt8] = [], at now: Instant
    ) {
        guard let transaction = incomingOffer, transaction.id == offer.transaction else { return }
        if status >= 200 { incomingOffer = nil }
        if (200..<300).contains(status) { refreshTarget(by: offer.message) }
        send(status, reason, headers, body, over: transaction, at: now)
        guard (200..<300).contains(status), offer.message.method == .invite else { return }
        expectAcknowledgement(
            transaction, sequence: offer.message.cseq.number, isFirst: false, holdsOffer: offer.message.content.isEmpty && !body.isEmpty,
            at: now)
    }
}
