import Primitives
import SIP
import UserAgent

/// MESSAGE from one line to another (RFC 3428): to every device that is registered, and good where one of them takes it. In a call: to the
/// other end of it. Lives on the signalling lane.
final class MessageRelay {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let admission: Admission
    private let userAgent: UserAgent

    init(_ context: GatewayContext, _ table: CallTable, _ router: Router, _ admission: Admission, _ userAgent: UserAgent) {
        (self.context, self.table, self.router) = (context, table, router)
        (self.admission, self.userAgent) = (admission, userAgent)
    }

    private var now: Instant { context.now }

    func pass(_ request: Message, over flow: Flow, _ transaction: ServerTransactionID) {
        if let ours = request.to.tag, let theirs = request.from.tag {
            return pass(request, in: DialogIdentifier(callID: request.callID, localTag: ours, remoteTag: theirs), transaction)
        }
        if let trunk = router.trunks.sender(over: flow) {
            let caller = admission.identity(in: request, from: flow.remote.address)
            return pass(request, from: caller, to: router.trunks.number(dialledBy: request, from: trunk), trunk: trunk, transaction)
        }
        switch admission.admission(of: request, from: flow.remote.address) {
        case .admitted(let caller, _):
            pass(request, from: caller, to: request.requestURI.flatMap(router.lines.routing.dialledNumber), trunk: nil, transaction)
        case .challenged(let headers): userAgent.respond(to: transaction, status: 401, headers: headers, at: now)
        case .forbidden: userAgent.respond(to: transaction, status: 403, at: now)
        }
    }

    /// A peer of a dialog has proved its identity. Applications, and devices that still ring, read no messages.
    private func pass(_ request: Message, in dialog: DialogIdentifier, _ transaction: ServerTransactionID) {
        guard let session = table.leg(of: userAgent.session(dialog)).flatMap(table.peer(of:))?.session else {
            userAgent.respond(to: transaction, status: 480, at: now)
            return
        }
        session.message(headers: request.passedWithText, body: request.body, at: now) { [unowned self] status, response, _ in
            answer(transaction, status, response)
        }
    }

    private func pass(
        _ request: Message, from caller: CallerIdentity, to dialled: Text?, trunk origin: Trunk?, _ transaction: ServerTransactionID
    ) {
        guard let dialled, let line = router.lines.line(for: dialled, host: request.requestURI?.host) else {
            userAgent.respond(to: transaction, status: 404, at: now)
            return
        }
        guard !router.trunks.isReturning(origin, to: line) else {
            userAgent.respond(to: transaction, status: 482, at: now)
            return
        }
        // Over every flow of a device: a text is not called again, and twice is better than not at all.
        let receivers = router.destinations(of: line, dialled: dialled, caller: caller, after: request).flatMap { [$0] + $0.otherFlows }
        guard !receivers.isEmpty else {
            userAgent.respond(to: transaction, status: 480, headers: router.warnings(whereNobodyIsThereFor: request), at: now)
            return
        }
        var waiting = receivers.count
        for receiver in receivers {
            userAgent.message(outgoing(request, to: receiver), at: now) { [unowned self] status, response, _ in
                waiting -= 1
                // One that took it is enough; who answers later has no effect.
                guard status < 300 || waiting == 0 else { return }
                answer(transaction, status, response, isDevice: receiver.isDevice)
            }
        }
    }

    /// Answers a text with the reader's response. The types that the reader takes are not our affair: the text comes through as it is.
    private func answer(_ transaction: ServerTransactionID, _ status: Int, _ response: Message?, isDevice: Bool = false) {
        guard status >= 300 else { return _ = userAgent.respond(to: transaction, status: status, at: now) }
        if status == 415, let response {
            let accepted = [HeaderName.accept, "Accept-Encoding", "Accept-Language"].flatMap { name in
                response.headers.all(name).map { (name, $0.printable) }
            }
            return _ = userAgent.respond(to: transaction, status: 415, headers: accepted, at: now)
        }
        // Texts are not for that device, and that is so of the address that was asked for (RFC 3261 §21.4.6).
        if status == 405, isDevice {
            let allowed = response?.headers.all(.allow).map { (HeaderName.allow, $0.printable) } ?? []
            return _ = userAgent.respond(
                to: transaction, status: 405, headers: allowed.isEmpty ? [(.allow, "INVITE, ACK, CANCEL, BYE, OPTIONS")] : allowed, at: now)
        }
        // A 408 has no place here (RFC 4320 §4.2).
        let passed = EndCause.passing(status: status, response, isDevice: isDevice).status
        userAgent.respond(to: transaction, status: passed == 408 ? 480 : passed, at: now)
    }

    private func outgoing(_ request: Message, to receiver: Destination) -> OutgoingMessage {
        let from =
            receiver.caller.isPrivate
            ? CallerIdentity.anonymousName : receiver.caller.name(towards: receiver.trunk, domain: context.configuration.domain)
        var message = OutgoingMessage(
            target: receiver.target, flow: receiver.flow, from: from, to: NameAddress(uri: receiver.addressOfRecord))
        (message.routes, message.credentials, message.maxForwards) = (receiver.routes, receiver.credentials, receiver.maxForwards)
        (message.headers, message.body) = (request.passedWithText, request.body)
        (message.alternatives, message.onHop) = (receiver.alternatives, receiver.onHop)
        return message
    }
}

extension Message {
    /// Headers that tell the type of a text, how long it is worth something and since when (RFC 3428 §4, §8).
    fileprivate var passedWithText: [(HeaderName, Text)] {
        let names: [HeaderName] = [.contentDisposition, "Content-Language", .subject, "Priority", .date, .expires]
        let type: [(HeaderName, Text)] =
            content.isEmpty && headers[.contentType] == nil ? [] : [(.contentType, headers[.contentType]?.printable ?? "text/plain")]
        return type + names.flatMap { name in headers.all(name).map { (name, $0.printable) } }
    }
}
