import Primitives
import SIP
import UserAgent

/// The settings that a telephone of ours needs.
struct TortureSetting {
    /// The callee.
    var target: URI
    var flow: Flow
    var mediaPort: UInt16
    var network: any SignallingNetwork
    /// Answers challenges; nil: a challenge is an answer like any other.
    var credentials: DigestClient?
}

/// One of our two telephones in one case: a call, and every request of it. It sends what it is told to, right or wrong.
final class TorturePhone {
    let setting: TortureSetting
    private(set) var callID: Text
    let localTag: Text
    private(set) var local: NameAddress
    private(set) var remote: NameAddress
    /// The target's Contact.
    private(set) var remoteTarget: URI
    private(set) var routes: [NameAddress] = []
    private var sequence: UInt32 = 100
    private(set) var sent: [TortureExchange] = []
    var received: [TortureArrival] = []
    /// Our own 2xx that waits for its ACK.
    private(set) var unacknowledged: (bytes: [UInt8], flow: Flow, due: Instant)?
    private(set) var lastDescription: [UInt8]?
    private(set) var previousDescription: [UInt8]?
    private(set) var allowed: [Text] = []
    /// Tags of the 2xx responses that we sent to an INVITE: our own tag, or another one that the callee answers with.
    private var answeredTags: Set<Text> = []
    private var version = 0
    private var random: any RandomNumberGenerator

    init(_ setting: TortureSetting, user: Text, random: any RandomNumberGenerator) {
        (self.setting, self.random) = (setting, random)
        callID = Text("torture-\(String(self.random.next(), radix: 36))")
        localTag = Text(String(self.random.next(), radix: 36))
        let flow = setting.flow
        local = NameAddress(uri: URI(user: user, host: Text("\(flow.local.address)")))
        local.tag = localTag
        (remote, remoteTarget) = (NameAddress(uri: setting.target), setting.target)
    }

    /// Whether a request of the target belongs here.
    func owns(_ request: Message) -> Bool { request.callID == callID }

    func last(_ method: Method) -> TortureExchange? { sent.last { $0.method == method } }

    // MARK: What is sent

    func send(_ request: TortureRequest, at now: Instant) {
        switch request.kind {
        case .prepared: if let exchange = last(.invite), !exchange.isSent { transmit(exchange, at: now) }
        case .repeated: if let exchange = last(request.method) { setting.network.send(exchange.bytes, over: way) }
        case .regular where request.method == .ack: acknowledge(request.body, at: now)
        default: transmit(prepare(request), at: now)
        }
    }

    @discardableResult
    func prepare(_ plan: TortureRequest) -> TortureExchange {
        let exchange = TortureExchange(make(plan))
        sent.append(exchange)
        return exchange
    }

    /// Bytes that may be anything.
    func send(bytes: [UInt8], callID: Text?, at now: Instant) {
        let exchange = TortureExchange(bytes: bytes, callID: callID)
        sent.append(exchange)
        transmit(exchange, at: now)
        exchange.rests()
    }

    private func transmit(_ exchange: TortureExchange, at now: Instant) {
        exchange.sent(at: now, isReliable: setting.flow.transport.isReliable)
        setting.network.send(exchange.bytes, over: way)
    }

    /// To the target's Contact inside of a call, where that can be reached.
    private var way: Flow { setting.flow.towards(routes.first?.uri ?? remoteTarget, unless: setting.target) }

    private func make(_ plan: TortureRequest) -> Message {
        if plan.method == .cancel, let invite = last(.invite)?.request { return Self.sibling(of: invite, .cancel, to: invite.to) }
        if plan.kind == .merged, var copy = last(.invite)?.request {
            copy.via = makeVia()
            return copy
        }
        if plan.kind != .stale { sequence += 1 }
        var to = remote
        if plan.kind == .stray { to.tag = "nobody-has-this-tag" }
        var request = Message.request(
            plan.method, uri: remoteTarget, via: makeVia(), from: local, to: to, callID: callID,
            cseq: plan.kind == .stale ? sequence - 1 : sequence,
            maxForwards: plan.maxForwards, routes: routes, contact: contact)
        request.headers.append(.allow, "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE")
        for (name, value) in plan.headers { request.headers.append(name, value) }
        write(plan.body, into: &request)
        return request
    }

    private var contact: NameAddress {
        let parameters: Parameters = setting.flow.transport == .tcp ? ["transport": "tcp"] : [:]
        return NameAddress(uri: URI(user: local.uri.user, address: setting.flow.local, parameters: parameters))
    }

    private func makeVia() -> Via {
        let flow = setting.flow
        return Via(
            transport: flow.transport == .tcp ? "TCP" : "UDP", host: Text("\(flow.local.address)"), port: flow.local.port,
            branch: Text("z9hG4bK" + String(random.next(), radix: 36)))
    }

    func write(_ body: TortureBody, into message: inout Message) {
        switch body {
        case .none: return
        case .other(let type, let text):
            message.headers.append(.contentType, type)
            message.body = Array(text.utf8)
        case .description(let description):
            message.headers.append(.contentType, "application/sdp")
            message.body = Array(nextText(of: description).utf8)
        case .severalParts(let description):
            message.headers.append(.contentType, "multipart/mixed; boundary=\"part-of-it\"")
            let parts = [
                "Content-Type: application/x-nobody\r\nContent-Disposition: render;handling=optional\r\n\r\n<audio/>\r\n",
                "Content-Type: application/sdp\r\n\r\n" + nextText(of: description),
            ]
            message.body = Array((parts.map { "--part-of-it\r\n" + $0 + "\r\n" }.joined() + "--part-of-it--\r\n").utf8)
        }
    }

    private func nextText(of description: TortureDescription) -> String {
        version += 1
        return description.text(address: setting.flow.local.address, port: setting.mediaPort, session: 4_475, version: version)
    }

    /// ACK of a refusal, or CANCEL: what the INVITE has that they must have too (RFC 3261 §9.1, §17.1.1.3).
    private static func sibling(of invite: Message, _ method: Method, to: NameAddress) -> Message {
        var request = Message.request(
            method, uri: invite.requestURI ?? to.uri, via: invite.via, from: invite.from, to: to, callID: invite.callID,
            cseq: invite.cseq.number)
        for route in invite.routes { request.headers.append(.route, route.text) }
        return request
    }

    /// The ACK of the oldest 2xx that has none.
    private func acknowledge(_ body: TortureBody, at now: Instant) {
        guard let exchange = sent.first(where: { $0.method == .invite && $0.acceptance != nil && !$0.isAcknowledged }),
            let response = exchange.acceptance
        else { return }
        exchange.isAcknowledged = true
        var ack = Message.request(
            .ack, uri: response.contact?.uri ?? remoteTarget, via: makeVia(), from: response.from, to: response.to, callID: response.callID,
            cseq: response.cseq.number, routes: routes)
        write(body, into: &ack)
        let made = TortureExchange(ack)
        sent.append(made)
        transmit(made, at: now)
    }

    /// Acknowledges every 2xx that is still waiting, with an answer where it held an offer.
    func acknowledgeAll(at now: Instant) {
        while let open = sent.first(where: { $0.method == .invite && $0.acceptance != nil && !$0.isAcknowledged }) {
            acknowledge(open.request?.content.isEmpty == true ? .offer : .none, at: now)
        }
    }

    // MARK: What comes

    /// - Returns: false when it answers nothing of ours.
    func receive(_ response: Message?, status: Int, bytes: [UInt8], at now: Instant) -> Bool {
        guard let exchange = sent.last(where: { $0.isSent && $0.takes(response, bytes) }) else { return false }
        if let response, answersChallenge(response, of: exchange, at: now) { return true }
        exchange.note(status, response)
        guard exchange.method == .invite || exchange.request == nil, status >= 200 else {
            if let response, (200..<300).contains(status) { learn(from: response, exchange) }
            if let response, exchange.method == .invite, exchange.request?.to.tag == nil, response.to.tag != nil { remote = response.to }
            return true
        }
        if let response, status >= 300 {
            let uri = exchange.request?.requestURI ?? setting.target
            let invite = exchange.request
            let ack = Message.request(
                .ack, uri: uri, via: invite?.via ?? response.via, from: response.from, to: response.to, callID: response.callID,
                cseq: response.cseq.number,
                routes: invite?.routes ?? [])
            if response.cseq.method == .invite { setting.network.send(ack.serialized(), over: setting.flow) }
        } else if let response {
            let isAgain = exchange.finals.count > 1
            learn(from: response, exchange)
            if isAgain, exchange.isAcknowledged,
                let ack = sent.last(where: { $0.method == .ack && $0.request?.cseq.number == response.cseq.number })
            {
                setting.network.send(ack.bytes, over: way)
            }
        }
        return true
    }

    private func learn(from response: Message, _ exchange: TortureExchange) {
        let methods = response.headers.elements(.allow)
        if !methods.isEmpty { allowed = methods }
        guard let method = exchange.method, method == .invite || method == .update else { return }
        if method == .invite, exchange.finals.count == 1 {
            if let from = exchange.request?.from { local = from }
            (callID, remote, sequence) = (response.callID.detached, response.to, max(sequence, response.cseq.number))
            if let contact = response.contact { remoteTarget = contact.uri.detached }
            routes = response.recordRoutes.reversed()
        }
        if exchange.finals.count == 1, !response.content.isEmpty {
            (previousDescription, lastDescription) = (lastDescription, response.body)
        }
    }

    /// A challenge is answered once for a request, with a new CSeq and branch (RFC 3261 §22.2).
    private func answersChallenge(_ response: Message, of exchange: TortureExchange, at now: Instant) -> Bool {
        guard response.status == 401 || response.status == 407, !exchange.wasChallenged, var client = setting.credentials,
            var next = exchange.request,
            exchange.method == .invite || exchange.method == .register, next.callID == callID
        else { return false }
        let isRegister = next.method == .register
        if !isRegister {
            setting.network.send(
                Message.request(
                    .ack, uri: next.requestURI ?? setting.target, via: next.via, from: next.from, to: response.to, callID: callID,
                    cseq: next.cseq.number
                )
                .serialized(), over: setting.flow)
        }
        sequence += 1
        (next.cseq, next.via) = (CSeq(number: sequence, method: next.method), makeVia())
        do throws(DigestClient.Refusal) {
            try client.answer(response, in: &next, clientNonce: Text(String(random.next(), radix: 36)))
        } catch { return false }
        exchange.replace(by: next)
        transmit(exchange, at: now)
        return true
    }

    /// Becomes whom the address names.
    func identify(as address: NameAddress) {
        (local, remote) = (address, address)
        local.tag = localTag
    }

    /// Takes the target's INVITE as the one of this party's call.
    func adopt(_ invite: Message) {
        callID = invite.callID.detached
        local = invite.to
        local.tag = localTag
        (remote, remoteTarget) = (invite.from, invite.contact?.uri.detached ?? invite.from.uri)
        routes = invite.recordRoutes
    }

    /// - Returns: false when there is no request of that method to be answered.
    func answer(_ method: Method, _ status: Int, _ body: TortureBody, tag: Text?, at now: Instant) -> Bool {
        guard let index = received.lastIndex(where: { $0.message.method == method }) else { return false }
        let arrival = received[index]
        var response = Message.response(to: arrival.message, status: status, toTag: tag ?? localTag)
        if method == .invite, status < 300 { response.headers.append(.contact, contact.text) }
        let repeats = method == .invite && status >= 200 && status < 300 && tag == nil && answeredTags.contains(localTag)
        if repeats, let old = arrival.answer {
            setting.network.send(old, over: arrival.flow)
            return true
        }
        write(body, into: &response)
        let bytes = response.serialized()
        setting.network.send(bytes, over: arrival.flow)
        if tag == nil { received[index].answer = bytes }
        if method == .invite, (200..<300).contains(status) {
            answeredTags.insert(tag ?? localTag)
            unacknowledged = (bytes, arrival.flow, now + .milliseconds(500))
        }
        return true
    }

    func wasAcknowledged() { unacknowledged = nil }

    // MARK: Time

    var deadline: Instant? {
        let repeats = sent.compactMap(\.resend?.due) + [unacknowledged?.due].compactMap(\.self)
        return repeats.min()
    }

    /// Sends again what was not answered.
    func advance(to now: Instant) {
        for exchange in sent {
            guard let due = exchange.resend?.due, due <= now else { continue }
            exchange.resent(at: now)
            setting.network.send(exchange.bytes, over: way)
        }
        guard let open = unacknowledged, open.due <= now else { return }
        unacknowledged?.due = now + .milliseconds(1_000)
        setting.network.send(open.bytes, over: open.flow)
    }

    /// Nothing is sent again any more.
    func rest() {
        for exchange in sent { exchange.rests() }
        unacknowledged = nil
    }
}

extension Flow {
    /// Gives the flow of a request in a call: before it has an answer everything goes to the server itself.
    fileprivate func towards(_ uri: URI, unless target: URI) -> Flow { uri == target ? self : towards(uri) }
}
