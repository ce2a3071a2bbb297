import Primitives
import SIP

/// A cancellation that the delegate wants.
struct Cancellation {
    var reasons: [Reason]
    /// Sent once a provisional response was received (RFC 3261 §9.1).
    var isSent = false
}

/// An ACK of ours for a 2xx, sent again whenever that comes again (RFC 3261 §13.2.2.4).
struct SentAcknowledgement {
    let sequence: UInt32
    let remoteTag: Text
    let nextHop: URI
    var bytes: [UInt8]
    var flow: Flow
}

extension InviteSession {
    convenience init(outgoing invite: OutgoingInvite, agent: UserAgent) {
        let tag = agent.makeTag()
        var from = invite.from
        from.tag = tag
        let contact = agent.makeContact(
            user: invite.contactUser ?? from.uri.user, over: invite.flow, isSecure: invite.target.scheme == .sips)
        var request = Message.request(
            .invite, uri: invite.target, via: agent.makeVia(for: invite.target, over: invite.flow), from: from, to: invite.to,
            callID: invite.callID ?? agent.makeCallID(), cseq: agent.makeSequence(), maxForwards: invite.maxForwards, routes: invite.routes,
            contact: contact)
        request.append(.allow, agent.allowed)
        request.append(.supported, agent.supported)
        if let policy = agent.configuration.sessionTimer {
            for (name, value) in SessionTimer(policy: policy).requestHeaders { request.append(name, value) }
        }
        agent.addProduct(to: &request)
        for (name, value) in invite.headers { request.append(name, value) }
        if let identity = invite.identityOver?(invite.flow) { request.append(.pAssertedIdentity, identity) }
        request.setOffer(invite.body)
        self.init(
            role: .caller, invite: Boxed(request), localTag: tag, flow: invite.flow, contact: contact,
            authentication: agent.makeAuthentication(invite.credentials), agent: agent)
    }

    /// A session in the dialog of another user agent. In the place of the INVITE that made it there is one with what is known of that.
    convenience init(adopting adopted: AdoptedDialog, agent: UserAgent) {
        let dialog = adopted.dialog, isCaller = adopted.role == .caller
        let user = adopted.contactUser ?? dialog.local.uri.user
        let contact = agent.makeContact(user: user, over: adopted.flow, isSecure: dialog.isSecure)
        let invite = Message.request(
            .invite, uri: isCaller ? dialog.remoteTarget : contact.uri, via: agent.makeVia(for: dialog.nextHop, over: adopted.flow),
            from: isCaller ? dialog.local : dialog.remote, to: isCaller ? dialog.remote : dialog.local, callID: dialog.callID,
            cseq: dialog.localSequence)
        self.init(
            role: adopted.role, invite: Boxed(invite), localTag: dialog.localTag, flow: adopted.flow, contact: contact,
            authentication: agent.makeAuthentication(adopted.credentials), agent: agent)
        (self.dialog, state) = (dialog, .confirmed)
    }

    /// Sends what the session was made of.
    func start(_ invite: OutgoingInvite, at now: Instant) {
        var sequence = request.cseq.number
        let exchange = ClientRequest(request, over: flow, authentication: authentication, session: self, agent: agent) {
            sequence += 1
            return sequence
        }
        exchange.followsRedirections = true
        exchange.confidential = invite.confidential
        (exchange.otherHops, exchange.onHop, exchange.bodyOver, exchange.identityOver) = (
            invite.alternatives, invite.onHop, invite.offerOver, invite.identityOver
        )
        exchange.bodyAfterRefusal = invite.offerAfterRefusal
        exchange.onTooBrief = raiseInterval
        caller.invitation = exchange
        exchange.start(at: now) { outcome, now in self.receive(outcome, of: exchange, at: now) }
    }

    /// Raises the interval after a 422 (RFC 4028 §7.1), and returns the headers for the next request; nil when the 422 is final.
    func raiseInterval(_ response: Message) -> [(HeaderName, Text)]? { timer?.raise(by: response) == true ? timerRequestHeaders : nil }

    private func receive(_ outcome: ClientOutcome, of exchange: ClientRequest, at now: Instant) {
        invite = exchange.sent
        contact = request.contact ?? contact
        switch outcome {
        case .response(let response, let flow):
            if state == .inviting { self.flow = flow.transport.isReliable ? flow : exchange.flow }
            receive(response, at: now)
        case .timedOut: reject(408, nil, at: now)
        case .transportFailed: reject(503, nil, at: now)
        case .terminated:
            acknowledgements = acknowledgements.filter { $0.sequence != request.cseq.number }
            caller.invitation = nil
        }
    }

    private func receive(_ response: Message, at now: Instant) {
        switch response.status ?? 0 {
        case 100: sendCancel(at: now)
        case 101..<200: receiveProvisional(response, at: now)
        case 200..<300: receiveAcceptance(response, at: now)
        default: reject(response.status ?? 500, response, at: now)
        }
    }

    private func reject(_ status: Int, _ response: Message?, at now: Instant) {
        guard state == .inviting else { return }
        caller.earlyDialogs = []
        finish(at: now)
        emit(.rejected(status: status, response), at: now)
    }

    private func receiveProvisional(_ response: Message, at now: Instant) {
        guard state == .inviting else { return }
        noteEarlyDialog(response)
        guard takesInOrder(response) else { return }
        sendCancel(at: now)
        emit(.provisional(response), at: now)
        acknowledgeProvisional(at: now)
        if response.status == 199 { caller.earlyDialogs.removeAll { $0.dialog.remoteTag == response.to.tag } }
    }

    /// Several forks may ring; 199 ends one of them (RFC 6228).
    private func noteEarlyDialog(_ response: Message) {
        guard let tag = response.to.tag else { return }
        if let known = caller.earlyDialogs.firstIndex(where: { $0.dialog.remoteTag == tag }) {
            // Its PRACK goes where this response says (RFC 3262 §4); an earlier one may have said nothing.
            if response.reliableSequence != nil { caller.earlyDialogs[known].dialog.renew(by: response) }
            return
        }
        guard caller.earlyDialogs.count < ClientTransaction.maximumForks else { return agent.refusals.forks += 1 }
        caller.earlyDialogs.append(EarlyDialog(Dialog(caller: request, response: response, overTLS: flow.transport.isSecure)))
    }

    /// A 2xx: the first one makes the call, a repeated one gets its ACK again, and those of other forks are ended at once.
    private func receiveAcceptance(_ response: Message, at now: Instant) {
        let tag = response.to.tag ?? .empty
        let sequence = response.cseq.number
        if let index = acknowledgements.firstIndex(where: { $0.remoteTag == tag && $0.sequence == sequence }) {
            acknowledgeAgain(index, at: now)
        } else if state == .inviting {
            let early = caller.earlyDialogs.first { $0.dialog.remoteTag == tag }
            var dialog = early?.dialog ?? Dialog(caller: request, response: response, overTLS: flow.transport.isSecure)
            dialog.confirm(by: response)
            (self.dialog, caller.earlyDialogs, state, awaitedSequence) = (dialog, [], .answered, sequence)
            caller.invitation?.forgetBody()
            if let invitation = caller.invitation { invite = invitation.sent }
            // The one read before is a slice of what the exchange has forgotten.
            contact = request.contact ?? contact
            refreshTimer(by: response, at: now)
            emit(.accepted(response), at: now)
        } else if dialog?.remoteTag != tag {
            endFork(response, of: request, over: flow, at: now)
        }
    }

    /// RFC 3261 §13.2.2.4: a fork that is not wanted is acknowledged and ended.
    private func endFork(_ response: Message, of invite: Message, over flow: Flow, at now: Instant) {
        var fork = Dialog(caller: invite, response: response, overTLS: flow.transport.isSecure)
        let way = nextHop(of: fork, over: flow)
        acknowledge(fork, invite: invite, sequence: response.cseq.number, body: [], over: way, at: now)
        let sequence = fork.takeSequence()
        let bye = fork.request(.bye, sequence: sequence, via: agent.makeVia(for: fork.nextHop, over: way))
        let exchange = ClientRequest(bye, over: way, authentication: authentication, session: self, agent: agent) { fork.takeSequence() }
        exchange.start(at: now) { _, _ in }
    }

    /// A server that was passed over because it said nothing answers after all: the call goes on elsewhere, or has ended (RFC 3261 §9.1,
    /// §13.2.2.4).
    func receiveLate(_ outcome: ClientOutcome, of transaction: ClientTransaction, at now: Instant) {
        switch outcome {
        case .response(let response, let flow) where response.status.map { $0 >= 200 && $0 < 300 } == true:
            let known = acknowledgements.firstIndex { $0.remoteTag == response.to.tag ?? .empty && $0.sequence == response.cseq.number }
            if let known { acknowledgeAgain(known, at: now) } else { endFork(response, of: transaction.request, over: flow, at: now) }
        case .response(let response, _):
            if response.status.map({ $0 < 200 }) == true, transaction.timeout == nil {
                cancel(transaction, caller.cancellation?.reasons ?? [], at: now)
            }
        case .terminated: acknowledgements.removeAll { $0.sequence == transaction.request.cseq.number }
        case .timedOut, .transportFailed: break
        }
    }

    /// Gives the call up: CANCEL, as soon as a provisional response allows it (RFC 3261 §9.1). A 2xx that crosses it is delivered as
    /// `.accepted`, and `bye` ends it. Without a final response the INVITE is given up after 64·T1 and rejected with 408.
    /// In the dialog of another user agent, whose peer has not accepted us yet, BYE takes its place.
    public func cancel(reasons: [Reason] = [], at now: Instant) {
        if isAdopting { return bye(reasons: reasons, at: now) }
        guard role == .caller, state == .inviting, caller.cancellation == nil, let invitation = caller.invitation else { return }
        caller.cancellation = Cancellation(reasons: reasons)
        invitation.mayRetry = false
        if invitation.transaction?.hasProvisionalResponse == true { sendCancel(at: now) }
    }

    private func sendCancel(at now: Instant) {
        guard var cancellation = caller.cancellation, !cancellation.isSent, let transaction = caller.invitation?.transaction else { return }
        cancellation.isSent = true
        caller.cancellation = cancellation
        cancel(transaction, cancellation.reasons, at: now)
    }

    private func cancel(_ transaction: ClientTransaction, _ reasons: [Reason], at now: Instant) {
        // A peer that has closed its side of a connection reads no CANCEL from it, long before we are told of the connection's end.
        if agent.living(transaction.flow) != transaction.flow { transaction.lost(transaction.flow.connection) }
        agent.transact(Boxed(transaction.cancellation(reasons)), over: transaction.flow, session: self, at: now) { _, _ in }
        agent.limit(transaction, to: now + agent.configuration.timers.timeout)
    }

    /// Acknowledges the 2xx that was delivered last (`.accepted`, `.reanswered`), with the answer when the 2xx had the offer.
    ///
    /// Once; what comes again is acknowledged again below. Without effect when nothing waits for it.
    public func acknowledge(body: [UInt8] = [], at now: Instant) {
        var invite = request
        if let sent = offer?.exchange?.request, sent.cseq.number == awaitedSequence { invite = sent }
        acknowledge(invite, body: body, at: now)
    }

    /// - Parameter invite: what was accepted.
    func acknowledge(_ invite: Message, body: [UInt8] = [], at now: Instant) {
        guard let sequence = awaitedSequence, let dialog else { return }
        awaitedSequence = nil
        if offer?.exchange?.request.cseq.number == sequence { offer = nil }
        if state == .answered { state = .confirmed }
        acknowledge(dialog, invite: invite, sequence: sequence, body: body, over: nextHop(of: dialog, over: flow), at: now)
    }

    /// The credentials of the INVITE go into the ACK (RFC 3261 §13.2.2.4, §22.1).
    private func acknowledge(_ dialog: Dialog, invite: Message, sequence: UInt32, body: [UInt8], over flow: Flow, at now: Instant) {
        var acknowledgement = dialog.request(.ack, sequence: sequence, via: agent.makeVia(for: dialog.nextHop, over: flow))
        for name in [HeaderName.authorization, .proxyAuthorization] {
            for value in invite.headers.all(name) { acknowledgement.append(name, value) }
        }
        acknowledgement.setOffer(body)
        let bytes = acknowledgement.serialized()
        acknowledgements.append(
            SentAcknowledgement(sequence: sequence, remoteTag: dialog.remoteTag, nextHop: dialog.nextHop, bytes: bytes, flow: flow))
        trace(.sent, acknowledgement, retransmission: false, at: now)
        agent.network.send(bytes, over: flow)
    }

    /// Its 2xx came again. Where its connection takes no requests any more, it goes where the next ones in the dialog go.
    func acknowledgeAgain(_ index: Int, at now: Instant) {
        var sent = acknowledgements[index]
        let flow = agent.living(sent.flow)
        if flow != sent.flow, var message = try? Message(parsing: sent.bytes) {
            sent.flow = agent.way(over: flow, to: sent.nextHop)
            message.via = agent.makeVia(for: sent.nextHop, over: sent.flow)
            sent.bytes = message.serialized()
            acknowledgements[index] = sent
        }
        traceAgain(sent.bytes, at: now)
        agent.network.send(sent.bytes, over: sent.flow)
    }
}

extension Message {
    mutating func add(_ reasons: [Reason]) {
        for reason in reasons { append(.reason, reason.value) }
    }

    mutating func setOffer(_ offer: [UInt8]) {
        guard !offer.isEmpty else { return }
        append(.contentType, .sdp)
        body = offer
    }
}
