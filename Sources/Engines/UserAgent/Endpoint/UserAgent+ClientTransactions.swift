import Primitives
import SIP

/// A response at hand, and the way that it came.
private struct IncomingResponse {
    let message: Message
    let flow: Flow
}

extension UserAgent {
    /// Sends a request that has our Via on top. Every outcome goes to the handler, the last one is `.terminated`.
    /// - Parameters:
    ///   - bytes: the request as it is sent; nil serialises it here.
    ///   - isRepeated: it was sent before another way, where nobody took it.
    @discardableResult
    func transact(
        _ sent: Boxed<Message>, bytes: [UInt8]? = nil, isRepeated: Bool = false, over flow: Flow, session: InviteSession?, at now: Instant,
        handler: @escaping (ClientOutcome, Instant) -> Void
    ) -> ClientTransaction {
        let request = sent.value
        let id = ClientTransactionID(branch: (request.via.branch ?? .empty).detached, isCancel: request.method == .cancel)
        clientSerial += 1
        let transaction = ClientTransaction(
            id: id, serial: clientSerial, request: sent, bytes: bytes ?? request.serialized(), flow: flow, session: session,
            timers: configuration.timers, handler: handler)
        transaction.wasSent = isRepeated
        transaction.alarm.ring = { [unowned self, unowned transaction] now in self.advance(transaction, to: now) }
        clientTransactions[id] = transaction
        step(transaction, response: nil, at: now) {
            $0.start(at: now)
        } other: {
            $0.start(at: now)
        }
        if transaction.isTooLong { limit(transaction, to: now) }
        return transaction
    }

    func receiveResponse(_ response: Message, over flow: Flow, at now: Instant) {
        guard let branch = response.via.branch, let status = response.status else { return }
        let id = ClientTransactionID(branch: branch, isCancel: response.method == .cancel)
        guard let transaction = clientTransactions[id], transaction.sent.value.isAnswered(by: response) else { return }
        let isRepeated = noteRepeated(response, status, transaction)
        if isRepeated == nil { return }
        transaction.session?.trace(.received, response, retransmission: isRepeated == true, at: now)
        step(transaction, response: IncomingResponse(message: response, flow: flow), at: now) {
            $0.receive(status: status, at: now)
        } other: {
            $0.receive(status: status, at: now)
        }
    }

    /// Whether this final response came before; nil when it is one fork too many.
    private func noteRepeated(_ response: Message, _ status: Int, _ transaction: ClientTransaction) -> Bool? {
        guard status >= 200 else { return false }
        guard response.method == .invite, status < 300 else { return transaction.hasFinalResponse }
        let tag = response.to.tag ?? .empty
        if transaction.acceptedTags.contains(tag) { return true }
        guard transaction.acceptedTags.count < ClientTransaction.maximumForks else {
            refusals.forks += 1
            return nil
        }
        transaction.acceptedTags.append(tag.detached)
        return false
    }

    /// Gives a request up at this time if there is no final response by then (RFC 3261 §9.1, RFC 3263 §4.3).
    func limit(_ transaction: ClientTransaction, to due: Instant) {
        guard clientTransactions[transaction.id] === transaction, !transaction.hasFinalResponse else { return }
        transaction.timeout = due
        alarms.set(transaction.alarm, to: transaction.deadline)
    }

    func transportFailed(_ transaction: ClientTransaction, at now: Instant) {
        step(transaction, response: nil, at: now) {
            $0.transportFailed()
        } other: {
            $0.transportFailed()
        }
    }

    private func advance(_ transaction: ClientTransaction, to now: Instant) {
        if let timeout = transaction.timeout, now >= timeout {
            transaction.timeout = nil
            if transaction.isTooLong { return transportFailed(transaction, at: now) }
            if !transaction.hasFinalResponse { return giveUp(transaction, at: now) }
        }
        step(transaction, response: nil, at: now) {
            $0.advance(to: now)
        } other: {
            $0.advance(to: now)
        }
    }

    /// Nobody waits any longer. Who has said nothing to an INVITE that makes a call may have taken it all the same, and is told then that
    /// it has ended.
    private func giveUp(_ transaction: ClientTransaction, at now: Instant) {
        guard case .invite(var machine) = transaction.machine, machine.state == .calling, let session = transaction.session,
            transaction.request.to.tag == nil
        else {
            return step(transaction, response: nil, at: now) {
                [.timedOut] + $0.abandon()
            } other: {
                [.timedOut] + $0.abandon()
            }
        }
        machine.passOver()
        transaction.machine = .invite(machine)
        alarms.set(transaction.alarm, to: transaction.deadline)
        let handler = transaction.handler
        transaction.handler = { [unowned transaction] outcome, now in session.receiveLate(outcome, of: transaction, at: now) }
        handler?(.timedOut, now)
        handler?(.terminated, now)
    }

    private func step(
        _ transaction: ClientTransaction, response: IncomingResponse?, at now: Instant,
        invite: (inout InviteClientTransaction) -> [InviteClientTransaction.Output],
        other: (inout NonInviteClientTransaction) -> [NonInviteClientTransaction.Output]
    ) {
        let outputs: [InviteClientTransaction.Output]
        switch transaction.machine {
        case .invite(var machine):
            outputs = invite(&machine)
            transaction.machine = .invite(machine)
        case .other(var machine):
            outputs = other(&machine).map(\.inviteOutput)
            transaction.machine = .other(machine)
        }
        alarms.set(transaction.alarm, to: transaction.deadline)
        if transaction.hasFinalResponse { transaction.bytes = [] }
        for output in outputs { perform(output, of: transaction, response: response, at: now) }
    }

    private func perform(
        _ output: InviteClientTransaction.Output, of transaction: ClientTransaction, response: IncomingResponse?, at now: Instant
    ) {
        switch output {
        case .sendRequest:
            transaction.session?.trace(.sent, transaction.request, retransmission: transaction.wasSent, at: now)
            transaction.wasSent = true
            network.send(transaction.bytes, over: transaction.flow)
            transaction.carrier = network.carrier(of: transaction.flow)
            noteUse(by: transaction)
        case .sendAcknowledgement:
            acknowledge(response?.message, transaction, at: now)
        case .deliver:
            if let response { transaction.handler?(.response(response.message, over: response.flow), now) }
        case .timedOut:
            transaction.handler?(.timedOut, now)
        case .transportFailed:
            transaction.handler?(.transportFailed, now)
        case .terminated:
            remove(transaction, at: now)
        }
    }

    /// The ACK of a 300–699: RFC 3261 §17.1.1.3.
    private func acknowledge(_ response: Message?, _ transaction: ClientTransaction, at now: Instant) {
        if let response, transaction.acknowledgement.isEmpty {
            let acknowledgement = Self.sibling(of: transaction.request, method: .ack, to: response.to)
            transaction.acknowledgement = acknowledgement.serialized()
            transaction.session?.trace(.sent, acknowledgement, retransmission: false, at: now)
        } else {
            transaction.session?.traceAgain(transaction.acknowledgement, at: now)
        }
        network.send(transaction.acknowledgement, over: transaction.flow)
    }

    /// The ACK or CANCEL of an INVITE: its Request-URI, top Via, From, Call-ID, CSeq number and Route (§9.1, §17.1.1.3).
    static func sibling(of invite: Message, method: Method, to: NameAddress) -> Message {
        guard let uri = invite.requestURI else { preconditionFailure("a response has no siblings") }
        return Message.request(
            method, uri: uri, via: invite.via, from: invite.from, to: to, callID: invite.callID, cseq: invite.cseq.number,
            routes: invite.routes)
    }

    private func remove(_ transaction: ClientTransaction, at now: Instant) {
        alarms.set(transaction.alarm, to: nil)
        noteEnd(of: transaction)
        // A request that failed on its way may have been sent again under the same identifier.
        if clientTransactions[transaction.id] === transaction { clientTransactions[transaction.id] = nil }
        let handler = transaction.handler
        transaction.handler = nil
        handler?(.terminated, now)
    }
}

extension Message {
    /// Whether a response with the branch of this request of ours is meant for it: of the same CSeq, with our Via and no other (RFC 3261
    /// §8.1.3.3, §18.1.2).
    fileprivate func isAnswered(by response: Message) -> Bool {
        response.method == method && response.cseq.number == cseq.number && response.hasSingleVia && response.via.hasSentBy(of: via)
    }
}

extension NonInviteClientTransaction.Output {
    var inviteOutput: InviteClientTransaction.Output {
        switch self {
        case .sendRequest: .sendRequest
        case .deliver: .deliver
        case .timedOut: .timedOut
        case .transportFailed: .transportFailed
        case .terminated: .terminated
        }
    }
}

// Long requests to who is spoken to over UDP (RFC 3261 §18.1.1).
extension UserAgent {
    private static let connectionRest: Duration = .seconds(300)
    private static let mostWithoutConnections = 256

    /// False where a connection was tried in vain a short time ago: a call would wait for each of its long requests.
    func mayConnect(to peer: SocketAddress, at now: Instant) -> Bool { withoutConnections[peer].map { $0 <= now } ?? true }

    func noteNoConnection(to peer: SocketAddress, at now: Instant) {
        if withoutConnections.count >= Self.mostWithoutConnections { withoutConnections = withoutConnections.filter { $0.value > now } }
        // Beyond that all are tried once more.
        if withoutConnections.count >= Self.mostWithoutConnections { withoutConnections = [:] }
        withoutConnections[peer] = now + Self.connectionRest
    }
}
