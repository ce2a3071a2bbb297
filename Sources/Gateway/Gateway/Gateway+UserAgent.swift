import Primitives
import SIP
import UserAgent

// Events of the user agent, by `AgentListener`.
extension Gateway {
    func userAgent(_ agent: UserAgent, admits request: Message, over flow: Flow, at now: Instant) -> UserAgent.Admission {
        admission.admits(request, over: flow)
    }

    func userAgent(_ agent: UserAgent, answersMalformedOver flow: Flow, at now: Instant) -> Bool { admission.answersMalformed(over: flow) }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) { incomingCalls.receive(session) }

    func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        switch request.method {
        case .register:
            register(request, over: flow, transaction)
            return true
        case .message:
            messages.pass(request, over: flow, transaction)
            return true
        case .subscribe:
            recorder.mailboxes.waiting?.subscribe(request, over: flow, transaction)
            return true
        case .options where isDraining:
            agent.respond(to: transaction, status: 503, headers: [(.retryAfter, Text(configuration.limits.retryAfter))], at: now)
            return true
        default: return false
        }
    }

    private func register(_ request: Message, over flow: Flow, _ transaction: ServerTransactionID) {
        guard isResponsible(for: request) else {
            userAgent.respond(to: transaction, status: 404, at: now)
            return log.refused(register: request, over: flow, status: 404, .unknownDomain)
        }
        var response = registrar.handle(request, over: flow, at: now)
        if response.status == 200 {
            // Telephones set their clocks by it (RFC 3261 §10.3 item 8).
            response.headers.append(.date, context.date.header)
            if let capability = ringing.wakeUps.capability(for: request) { response.headers.append("Feature-Caps", capability) }
            // We answer what keeps a flow open, and ask for no interval (RFC 6223 §4.4).
            if request.via.parameters["keep"]?.isEmpty == true { response.via.parameters["keep"] = "30" }
        }
        userAgent.respond(to: transaction, with: response, at: now)
        let contacts = request.to.uri.decodedUser.map { registrar.contacts(of: $0, at: now).count } ?? 0
        log.answered(request, with: response, over: flow, contacts: contacts)
        if response.status == 200 { ringing.wakeUps.registered(request) }
    }

    /// A registrar answers for its own domains (RFC 3261 §10.3 items 1 and 5). A telephone that is configured by address passes: we do not
    /// know each address that leads to us, such as that of a NAT before us.
    private func isResponsible(for register: Message) -> Bool {
        guard let aliases = configuration.aliases else { return true }
        let names = [configuration.domain, "localhost"] + aliases
        return [register.requestURI, register.to.uri].compactMap { $0?.host }.allSatisfy { host in
            names.contains(where: host.equalsIgnoringCase) || IPAddress(host.withoutBrackets) != nil
        }
    }
}
