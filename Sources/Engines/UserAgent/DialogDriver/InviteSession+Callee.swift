import Primitives
import SIP

/// The last 101–199 that we sent, repeated so that proxies do not give up (RFC 3261 §13.3.1.1).
struct RepeatedProvisional {
    var due: Instant
    let response: WaitingResponse
}

/// A 2xx of ours that is repeated until its ACK (RFC 3261 §13.3.1.4).
struct UnacknowledgedResponse {
    let sequence: UInt32
    /// Knows its bytes, and where they go.
    let transaction: ServerTransaction
    /// It answers the INVITE that made the session.
    let isFirst: Bool
    /// It holds the offer, and so the ACK holds the answer.
    let holdsOffer: Bool
    var interval: Duration
    var due: Instant
    let limit: Instant
}

extension InviteSession {
    /// Nil when the INVITE has no Contact.
    convenience init?(incoming invite: Boxed<Message>, over flow: Flow, agent: UserAgent) {
        let request = invite.value
        let tag = agent.makeTag()
        let isSecure = flow.transport.isSecure
        guard let dialog = Dialog(callee: request, localTag: tag, sequence: agent.makeSequence(), overTLS: isSecure) else { return nil }
        let asksForSecurity = request.requestURI?.scheme == .sips || request.recordRoutes.first?.uri.scheme == .sips
        let contact = agent.makeContact(user: request.requestURI?.user, over: flow, isSecure: asksForSecurity)
        self.init(role: .callee, invite: invite, localTag: tag, flow: flow, contact: contact, authentication: nil, agent: agent)
        self.dialog = dialog
    }

    /// Callee: answers the INVITE. A 2xx is repeated until its ACK; 300–699 ends the session.
    ///
    /// 101–199 and 2xx carry our Contact and the Record-Route of the INVITE, 2xx also Allow and Supported.
    /// - Returns: false when the INVITE has its final answer already: another response, a CANCEL, or the end.
    @discardableResult
    public func respond(
        status: Int, reason: Text? = nil, headers: [(HeaderName, Text)] = [], body: [UInt8] = [], at now: Instant
    ) -> Bool {
        guard state == .inviting, let transaction = callee.transaction, transaction.isOpen else { return false }
        if (200..<300).contains(status), callee.unpracked?.holdsDescription == true {
            // RFC 3262 §3, §5: the 2xx must not overtake a description that the peer may not have.
            callee.waitingAcceptance = WaitingResponse(status: status, reason: reason, headers: headers, body: body)
            return true
        }
        if status >= 200 {
            agent.answers.add(status, after: now - callee.arrival)
            (callee.transaction, callee.ringing, callee.waitingProvisional) = (nil, nil, nil)
            // Not repeated any more, but its PRACK may be on the way (RFC 3262 §3).
            callee.unpracked?.due = nil
        }
        switch status {
        case 100: send(status, reason, headers, body, over: transaction, at: now)
        case 101..<200:
            let response = WaitingResponse(status: status, reason: reason, headers: headers, body: body)
            callee.ringing = RepeatedProvisional(due: now + agent.configuration.provisionalInterval, response: response)
            if ringsReliably {
                sendReliably(response, over: transaction, at: now)
            } else {
                send(status, reason, headers, body, over: transaction, at: now)
            }
        case 200..<300:
            state = .answered
            dialog?.confirm()
            send(status, reason, headers, body, over: transaction, at: now)
            let holdsOffer = request.content.isEmpty && !callee.isEarlyAgreed && !body.isEmpty
            expectAcknowledgement(transaction, sequence: request.cseq.number, isFirst: true, holdsOffer: holdsOffer, at: now)
        default:
            send(status, reason, headers, body, over: transaction, at: now)
            finish(at: now)
        }
        refreshAlarm()
        return true
    }

    /// The INVITE came now; the invitation lasts as long as its Expires says, if it says anything (RFC 3261 §13.3.1).
    func noteArrival(at now: Instant) {
        callee.arrival = now
        guard let seconds = request.expires else { return }
        callee.expiry = now + .seconds(Int64(seconds))
        refreshAlarm()
    }

    /// Nobody answered in the time that the caller gave. An answer that waits for a PRACK is one.
    func expire(at now: Instant) {
        guard let due = callee.expiry, now >= due else { return }
        callee.expiry = nil
        guard state == .inviting, callee.waitingAcceptance == nil else { return }
        emit(.cancelled([Reason(protocol: "Q.850", cause: 102, text: "Invitation expired")]), at: now)
        respond(status: 487, at: now)
    }

    func send(
        _ status: Int, _ reason: Text?, _ headers: [(HeaderName, Text)], _ body: [UInt8], over transaction: ServerTransaction,
        at now: Instant
    ) {
        var headers = headers
        if (200..<300).contains(status) {
            let timing = transaction.request.map { timerAnswerHeaders(to: $0, at: now) } ?? []
            headers = [(.allow, agent.allowed), (.supported, agent.supported)] + timing + headers
        }
        let makesDialog = (101..<300).contains(status)
        agent.respond(
            transaction, status: status, reason: reason, headers: headers, contact: makesDialog ? contact : nil, body: body, at: now)
    }

    /// Repeats a 2xx that was just sent until its ACK comes.
    func expectAcknowledgement(_ transaction: ServerTransaction, sequence: UInt32, isFirst: Bool, holdsOffer: Bool, at now: Instant) {
        let timers = agent.configuration.timers
        unacknowledged.append(
            UnacknowledgedResponse(
                sequence: sequence, transaction: transaction, isFirst: isFirst, holdsOffer: holdsOffer, interval: timers.t1,
                due: now + timers.t1, limit: now + timers.timeout))
        refreshAlarm()
    }

    func repeatProvisional(at now: Instant) {
        guard let due = callee.ringing?.due, now >= due, let transaction = callee.transaction else { return }
        callee.ringing?.due = now + agent.configuration.provisionalInterval
        if ringsReliably, let response = callee.ringing?.response {
            // The media was described before; this response is only to be heard.
            return sendReliably(
                WaitingResponse(status: response.status, reason: response.reason, headers: response.headers, body: []), over: transaction,
                at: now)
        }
        traceAgain(transaction.lastResponse, at: now)
        agent.network.send(transaction.lastResponse, over: transaction.responseFlow)
    }

    func repeatUnacknowledged(at now: Instant) {
        for response in unacknowledged where now >= min(response.due, response.limit) {
            guard let index = unacknowledged.firstIndex(where: { $0.sequence == response.sequence }) else { continue }
            guard now < response.limit else { giveUp(index, at: now); continue }
            unacknowledged[index].interval = agent.configuration.timers.next(after: response.interval)
            unacknowledged[index].due = now + unacknowledged[index].interval
            traceAgain(response.transaction.lastResponse, at: now)
            agent.network.send(response.transaction.lastResponse, over: response.transaction.responseFlow)
        }
    }

    private func giveUp(_ index: Int, at now: Instant) {
        if unacknowledged.remove(at: index).isFirst { callee.acknowledgementIsOverdue = true }
        emit(.acknowledgeTimeout, at: now)
        sendQueuedBye(at: now)
    }

    private func sendQueuedBye(at now: Instant) {
        guard let reasons = queuedBye, state == .confirmed || callee.acknowledgementIsOverdue else { return }
        queuedBye = nil
        sendBye(reasons, at: now)
    }

    /// An ACK with our tag. What acknowledges nothing is traced and dropped.
    func receiveAcknowledgement(_ request: Message, at now: Instant) {
        let sequence = request.cseq.number
        let index = dialog?.matches(request) == true ? unacknowledged.firstIndex { $0.sequence == sequence } : nil
        trace(.received, request, retransmission: index == nil, at: now)
        guard let index else { return }
        if unacknowledged.remove(at: index).isFirst, state == .answered { state = .confirmed }
        if unacknowledged.isEmpty { unacknowledged = [] }   // its memory, too: a call is long
        refreshAlarm()
        emit(.acknowledged(body: request.content.isEmpty ? nil : request.body), at: now)
        sendQueuedBye(at: now)
    }

    /// A CANCEL of the INVITE or of a re-INVITE that has no final response yet. Its 200 was sent.
    func receiveCancel(of transaction: ServerTransaction, _ reasons: [Reason], at now: Instant) {
        if transaction === callee.transaction {
            callee.transaction = nil
            agent.respond(transaction, Refusal(487), at: now)
            finish(at: now)
            emit(.cancelled(reasons), at: now)
        } else if transaction === incomingOffer, let request = transaction.request {
            incomingOffer = nil
            agent.respond(transaction, Refusal(487), at: now)
            emit(.offerWithdrawn(OfferRequest(message: request, transaction: transaction.id)), at: now)
        }
    }
}
