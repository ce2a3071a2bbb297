import Primitives
import SIP

extension InviteSession {
    /// A request in the dialog, other than ACK and CANCEL, that nothing general is wrong with.
    func receive(_ request: Message, _ transaction: ServerTransaction, over flow: Flow, at now: Instant) {
        guard state != .ended, state != .ending || request.method == .bye, let inOrder = admit(request) else {
            return agent.respond(transaction, Refusal(481), at: now)
        }
        guard inOrder else { return agent.respond(transaction, Refusal(500, reason: "Out Of Order"), at: now) }
        if isMove(request, to: flow) { self.flow = flow }
        switch request.method {
        case .bye: receiveBye(request, transaction, at: now)
        case .invite: receiveInvite(request, transaction, at: now)
        case .update: receiveUpdate(request, transaction, at: now)
        case .prack: receivePrack(request, transaction, at: now)
        case .refer where state == .confirmed || state == .answered: receiveRefer(request, transaction, at: now)
        // Only whoever is in a call may have it transferred.
        case .refer: agent.respond(transaction, Refusal(403), at: now)
        case .notify: receiveNotify(request, transaction, at: now)
        // A REFER's own subscription is not refreshed, and a call has no other.
        case .subscribe: agent.respond(transaction, agent.refusalOfEvent, at: now)
        case .options: agent.respond(transaction, Refusal(200, headers: agent.capabilities), at: now)
        case .info where request.headers.contains("Info-Package"):
            // RFC 6086 §4.2.2: we know no package.
            agent.respond(transaction, Refusal(469, headers: [("Recv-Info", "")]), at: now)
        case .info:
            agent.respond(transaction, Refusal(200), at: now)
            emit(.info(request), at: now)
        default: handOver(request, transaction, over: flow, at: now)
        }
    }

    /// A request too long for a datagram comes over a connection that may close at once (RFC 3261 §18.1.1): whose Contact is not of TCP is
    /// still to be had over UDP.
    private func isMove(_ request: Message, to way: Flow) -> Bool {
        guard flow.transport == .udp, way.transport == .tcp else { return true }
        return (request.contact?.uri ?? dialog?.nextHop)?.transport == way.transport.text
    }

    /// A connection is gone: what is sent from now on needs another one.
    func lost(_ connection: UInt64) {
        if flow.connection == connection { flow.connection = 0 }
        callee.transaction?.lost(connection)
        incomingOffer?.lost(connection)
        for response in unacknowledged { response.transaction.lost(connection) }
    }

    /// Whether the request is in order in its dialog; nil when there is no such dialog.
    private func admit(_ request: Message) -> Bool? {
        if dialog?.matches(request) == true { return dialog?.admit(request) }
        guard let index = caller.earlyDialogs.firstIndex(where: { $0.dialog.matches(request) }) else { return nil }
        return caller.earlyDialogs[index].dialog.admit(request)
    }

    private func handOver(_ request: Message, _ transaction: ServerTransaction, over flow: Flow, at now: Instant) {
        let isHandled = agent.delegate?.userAgent(agent, handle: request, over: flow, transaction: transaction.id, at: now) == true
        if !isHandled { agent.respond(transaction, Refusal(405, headers: [(.allow, agent.allowed)]), at: now) }
    }

    /// §15.1.2. A caller may end an early dialog with BYE; a callee may not.
    private func receiveBye(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        if role == .caller, state == .inviting { return agent.respond(transaction, Refusal(481), at: now) }
        agent.respond(transaction, Refusal(200), at: now)
        // Both sides said BYE: ours goes on until its own answer.
        if state == .ending { return }
        if let invite = callee.transaction {
            callee.transaction = nil
            agent.respond(invite, Refusal(487), at: now)
        }
        finish(at: now)
        emit(.ended(request.reasons, request), at: now)
    }

    func sendBye(_ reasons: [Reason], at now: Instant) {
        guard
            let exchange = makeExchange(
                .bye, at: now,
                {
                    $0.add(reasons)
                    for (name, value) in byeHeaders { $0.headers.append(name, value) }
                })
        else { return }
        (state, callee.ringing, unacknowledged) = (.ending, nil, [])
        withdrawOffers(at: now)
        refreshAlarm()
        let wentOverConnection = exchange.flow.connection != 0
        exchange.start(at: now) { [self] outcome, now in
            switch outcome {
            case .response(let response, _): if let status = response.status, status >= 200 { completeBye(status, at: now) }
            case .timedOut: completeBye(408, at: now)
            // It may have been lost with its connection, and the peer would stay in the call: once more, over a new one.
            case .transportFailed: if wentOverConnection, state == .ending { sendBye(reasons, at: now) } else { completeBye(503, at: now) }
            case .terminated: break
            }
        }
    }

    private func completeBye(_ status: Int, at now: Instant) {
        guard state == .ending else { return }
        finish(at: now)
        emit(.byeCompleted(status: status), at: now)
    }

    /// Sends an INFO. Nothing is sent without a dialog.
    /// - Parameter contentType: such as `application/dtmf-relay`.
    public func info(contentType: Text, body: [UInt8], at now: Instant) {
        guard state == .confirmed || state == .answered else { return }
        let exchange = makeExchange(.info, at: now) {
            $0.headers.append(.contentType, contentType)
            $0.body = body
        }
        exchange?.start(at: now) { [self] outcome, now in loseDialog(by: outcome, at: now) }
    }

    /// Sends a MESSAGE (RFC 3428).
    /// - Parameters:
    ///   - headers: Content-Type and what else is said of the text.
    ///   - completion: gets the final status and its response; without one 481 (there is no dialog), 408 (nobody answered) or 503 (it could
    /// not be sent).
    public func message(
        headers: [(HeaderName, Text)], body: [UInt8], at now: Instant, completion: @escaping (Int, Message?, Instant) -> Void
    ) {
        guard state == .confirmed || state == .answered else { return completion(481, nil, now) }
        let exchange = makeExchange(.message, at: now) {
            for (name, value) in headers { $0.headers.append(name, value) }
            $0.body = body
        }
        exchange?.start(at: now) { [self] outcome, now in
            switch outcome {
            case .response(let response, _): if let status = response.status, status >= 200 { completion(status, response, now) }
            case .timedOut: completion(408, nil, now)
            case .transportFailed: completion(503, nil, now)
            case .terminated: break
            }
            loseDialog(by: outcome, at: now)
        }
    }

    /// 481 and 408 to any request of ours, and no answer at all, mean that the peer has no such dialog (RFC 3261 §12.2.1.2).
    func loseDialog(by outcome: ClientOutcome, at now: Instant) {
        guard state == .confirmed || state == .answered else { return }
        switch outcome {
        case .response(let response, _):
            if response.status == 481 || response.status == 408 { emit(.dialogLost(status: response.status ?? 481), at: now) }
        case .timedOut: emit(.dialogLost(status: 408), at: now)
        case .transportFailed, .terminated: break
        }
    }

    /// A request of ours in the dialog, or in the early one with this tag, ready to be started; nil when there is no such dialog.
    func makeExchange(_ method: Method, early tag: Text? = nil, at now: Instant, _ complete: (inout Message) -> Void) -> ClientRequest? {
        guard let dialog = dialog(early: tag) else { return nil }
        let flow = nextHop(of: dialog)
        let sequence = takeSequence(early: tag) ?? 1
        let carriesContact = method == .invite || method == .update || method == .refer || method == .notify
        var request = dialog.request(
            method, sequence: sequence, via: agent.makeVia(for: dialog.nextHop, over: flow), contact: carriesContact ? contact : nil)
        agent.addProduct(to: &request)
        complete(&request)
        // Whoever never acknowledged our 2xx may be nobody, who put another's address under an INVITE to have us answer a challenge of its
        // own.
        let authentication = callee.acknowledgementIsOverdue ? nil : authentication
        return ClientRequest(request, over: flow, authentication: authentication, session: self, agent: agent) { [self] in
            self.takeSequence(early: tag) ?? sequence + 1
        }
    }

    private func dialog(early tag: Text?) -> Dialog? {
        if let tag, let early = caller.earlyDialogs.first(where: { $0.dialog.remoteTag == tag }) { return early.dialog }
        return tag == nil || dialog?.remoteTag == tag ? dialog : nil
    }

    private func takeSequence(early tag: Text?) -> UInt32? {
        guard let tag, let index = caller.earlyDialogs.firstIndex(where: { $0.dialog.remoteTag == tag }) else {
            return dialog?.takeSequence()
        }
        return caller.earlyDialogs[index].dialog.takeSequence()
    }

    /// A target refresh of the peer, in whichever of the dialogs it came.
    func refreshTarget(by request: Message) {
        if let index = caller.earlyDialogs.firstIndex(where: { $0.dialog.matches(request) }) {
            caller.earlyDialogs[index].dialog.refreshTarget(by: request)
        } else {
            dialog?.refreshTarget(by: request)
        }
    }
}
