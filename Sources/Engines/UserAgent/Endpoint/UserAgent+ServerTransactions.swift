import Primitives
import SIP

extension UserAgent {
    /// - Parameter key: of a request outside of dialogs.
    func begin(
        _ received: Boxed<Message>, _ id: ServerTransactionID, _ key: MergeKey?, over flow: Flow, session: InviteSession?, at now: Instant
    ) -> ServerTransaction {
        let request = received.value
        let toTag = session?.localTag ?? request.to.tag?.detached ?? makeTag()
        let transaction = ServerTransaction(
            id: id, request: received, flow: flow, toTag: toTag, session: session, among: unanswered, timers: configuration.timers)
        transaction.alarm.ring = { [unowned self, unowned transaction] now in self.advance(transaction, to: now) }
        serverTransactions[id] = transaction
        if let key, unmerged[key] == nil { (transaction.mergeKey, unmerged[key]) = (key, id) }
        return transaction
    }

    /// Sends a response through its transaction; what may not be sent any more is not.
    func respond(_ response: Message, to transaction: ServerTransaction, at now: Instant) {
        guard let status = response.status else { preconditionFailure("a request is no response") }
        if status >= 200 { transaction.close() }
        // A proxy that was refused goes on to its next target, which may be ours as well (RFC 3261 §8.2.2.2: merged is what is under way).
        if status >= 300, let key = transaction.mergeKey { (transaction.mergeKey, unmerged[key]) = (nil, nil) }
        switch transaction.machine {
        case .invite(var machine):
            let outputs = machine.respond(status: status, at: now)
            transaction.machine = .invite(machine)
            perform(outputs, of: transaction, response: response, at: now)
        case .other(var machine):
            let outputs = machine.respond(status: status, at: now)
            transaction.machine = .other(machine)
            perform(outputs.compactMap(\.inviteOutput), of: transaction, response: response, at: now)
        }
    }

    /// The request of a transaction came again, or its ACK came.
    func receiveAgain(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        switch transaction.machine {
        case .invite(var machine):
            let wasConfirmed = machine.state == .confirmed || machine.state == .accepted
            let outputs = request.method == .ack ? machine.receiveAcknowledgement(at: now) : machine.receiveInvite()
            transaction.machine = .invite(machine)
            if !outputs.contains(.deliverAcknowledgement) {
                transaction.session?.trace(.received, request, retransmission: request.method != .ack || wasConfirmed, at: now)
            }
            perform(outputs, of: transaction, response: nil, at: now)
            if machine.state == .accepted, request.method == .invite { acceptAgain(transaction, at: now) }
            if outputs.contains(.deliverAcknowledgement) { transaction.session?.receiveAcknowledgement(request, at: now) }
        case .other(let machine):
            transaction.session?.trace(.received, request, retransmission: true, at: now)
            perform(machine.receiveRequest().compactMap(\.inviteOutput), of: transaction, response: nil, at: now)
        }
    }

    /// The caller asks again, also after its ACK: as long as the call is up it hears again that it was answered (RFC 6026 §7.1 leaves that
    /// to the user).
    private func acceptAgain(_ transaction: ServerTransaction, at now: Instant) {
        guard let session = transaction.session, session.state == .answered || session.state == .confirmed else { return }
        session.traceAgain(transaction.lastResponse, at: now)
        network.send(transaction.lastResponse, over: transaction.responseFlow)
    }

    /// Whoever has the request answers it later.
    func awaitUser(_ transaction: ServerTransaction, at now: Instant) {
        guard case .other(var machine) = transaction.machine, transaction.isOpen else { return }
        machine.awaitUser(at: now)
        transaction.machine = .other(machine)
        alarms.set(transaction.alarm, to: transaction.deadline)
    }

    private func advance(_ transaction: ServerTransaction, to now: Instant) {
        switch transaction.machine {
        case .invite(var machine):
            let outputs = machine.advance(to: now)
            transaction.machine = .invite(machine)
            perform(outputs, of: transaction, response: nil, at: now)
        case .other(var machine):
            let outputs = machine.advance(to: now)
            transaction.machine = .other(machine)
            if outputs == [.sendTrying] { return respond(transaction, Refusal(100), at: now) }
            perform(outputs.compactMap(\.inviteOutput), of: transaction, response: nil, at: now)
        }
    }

    private func perform(
        _ outputs: [InviteServerTransaction.Output], of transaction: ServerTransaction, response: Message?, at now: Instant
    ) {
        alarms.set(transaction.alarm, to: transaction.deadline)
        for output in outputs {
            switch output {
            case .sendResponse:
                guard let response else { preconditionFailure("a response is sent that is not there") }
                transaction.lastResponse = response.serialized()
                transaction.session?.trace(.sent, response, retransmission: false, at: now)
                network.send(transaction.lastResponse, over: transaction.responseFlow)
            case .resend:
                transaction.session?.traceAgain(transaction.lastResponse, at: now)
                network.send(transaction.lastResponse, over: transaction.responseFlow)
            case .terminated:
                remove(transaction)
            case .deliverAcknowledgement, .timedOut, .transportFailed:
                // A missing ACK of a refusal changes nothing for anybody; the dialog's ACK is the caller's to deliver.
                break
            }
        }
    }

    func remove(_ transaction: ServerTransaction) {
        alarms.set(transaction.alarm, to: nil)
        transaction.close()
        serverTransactions[transaction.id] = nil
        if let key = transaction.mergeKey { unmerged[key] = nil }
    }
}

extension NonInviteServerTransaction.Output {
    /// Nil for what an INVITE does not have.
    var inviteOutput: InviteServerTransaction.Output? {
        switch self {
        case .sendTrying: nil
        case .sendResponse: .sendResponse
        case .resend: .resend
        case .transportFailed: .transportFailed
        case .terminated: .terminated
        }
    }
}
