import Primitives
import SIP
import UserAgent

/// MESSAGE from one line to another (RFC 3428): to every device that is registered, and good where one of them takes it. In a call: to the other end of it.
extension Gateway {
    func pass(_ request: Message, over flow: Flow, _ transaction: ServerTransactionID) {
        if let ours = request.to.tag, let theirs = request.from.tag {
            return pass(request, in: DialogIdentifier(callID: request.callID, localTag: ours, remoteTag: theirs), transaction)
        }
        switch admission(of: request, from: flow.remote.address) {
        case .admitted(let caller, _): pass(request, from: caller, transaction)
        case .challenged(let headers): userAgent.respond(to: transaction, status: 401, headers: headers, at: now)
        case .forbidden: userAgent.respond(to: transaction, status: 403, at: now)
        }
    }

    /// Who is in the dialog has proved who it is. Applications, and devices that ring yet, read nothing.
    private func pass(_ request: Message, in dialog: DialogIdentifier, _ transaction: ServerTransactionID) {
        guard let session = leg(in: dialog).flatMap(peer(of:))?.session else {
            userAgent.respond(to: transaction, status: 480, at: now)
            return
        }
        let contentType = request.headers[.contentType] ?? "text/plain"
        session.message(contentType: contentType, body: request.body, at: now) { [unowned self] status, now in
            userAgent.respond(to: transaction, status: status < 300 ? status : StatusTable.passedStatus(status), at: now)
        }
    }

    private func pass(_ request: Message, from caller: CallerIdentity, _ transaction: ServerTransactionID) {
        guard let target = request.requestURI, let dialled = routing.dialledNumber(target), let index = routing.line(for: dialled, host: target.host) else {
            userAgent.respond(to: transaction, status: 404, at: now)
            return
        }
        let receivers = destinations(of: lines[index], dialled: dialled, caller: caller, maxForwards: (request.maxForwards ?? 70) - 1)
        guard !receivers.isEmpty else {
            userAgent.respond(to: transaction, status: 480, at: now)
            return
        }
        var waiting = receivers.count
        for receiver in receivers {
            userAgent.message(outgoing(request, to: receiver), at: now) { [unowned self] status, response, now in
                waiting -= 1
                // One that took it is enough; who answers later has no effect.
                guard status < 300 || waiting == 0 else { return }
                userAgent.respond(to: transaction, status: status < 300 ? 200 : EndCause.passing(status: status, response, isDevice: receiver.isDevice).status, at: now)
            }
        }
    }

    private func outgoing(_ request: Message, to receiver: Destination) -> OutgoingMessage {
        let caller = receiver.caller
        let from = caller.isPrivate ? Self.anonymous : NameAddress(displayName: caller.displayName, uri: URI(user: caller.user, host: configuration.domain))
        var message = OutgoingMessage(target: receiver.target, flow: receiver.flow, from: from, to: NameAddress(uri: receiver.addressOfRecord))
        (message.routes, message.credentials, message.maxForwards) = (receiver.routes, receiver.credentials, receiver.maxForwards)
        (message.contentType, message.body) = (request.headers[.contentType] ?? "text/plain", request.body)
        return message
    }
}
