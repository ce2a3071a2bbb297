import Primitives
import Runtime
import SDP
import SIP
import UserAgent

@testable import Rehearsal

/// Everybody that the app can talk with: a peer that does what the test says.
final class FarPhone: Inhabitant, UserAgentDelegate {
    static let address = SocketAddress(IPAddress(v4: 0xC000_0202), port: 5060)

    let agent: UserAgent
    private unowned let stage: Stage
    private(set) var calls: [FarCall] = []
    /// What it does with an INVITE; rings and leaves it there by default.
    var onInvite: (FarCall) -> Void = { $0.ring() }
    /// After an app has registered with it.
    var onRegister: () -> Void = {}
    /// Nothing reaches it any more.
    var isDeaf = false

    init(_ stage: Stage) {
        self.stage = stage
        agent = UserAgent(
            configuration: Self.configuration, network: stage.network, random: SeededRandom(seed: 7),
            hash: OpenSSLDigest.sip)
        agent.delegate = self
    }

    private static var configuration: UserAgentConfiguration {
        var configuration = UserAgentConfiguration(contactAddress: { _ in address })
        configuration.allowedMethods += [.register, .refer, .notify]
        return configuration
    }

    var now: Instant { stage.now }
    var deadline: Instant? { isDeaf ? nil : agent.deadline }
    func advance(to now: Instant) { agent.advance(to: now) }
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { if !isDeaf { agent.receive(bytes, over: flow, at: now) } }
    func failed(_ flow: Flow, at now: Instant) { agent.failed(flow, at: now) }

    /// Calls the app.
    @discardableResult
    func call(
        from user: Text = "2001", name: Text? = nil, codecs: [Codec] = Codec.catalogue, offers: Bool = true,
        headers: [(HeaderName, Text)] = [], edit: (inout String) -> Void = { _ in }
    ) -> FarCall {
        let call = FarCall(self, codecs: codecs)
        let target = URI(user: "1001", address: Stage.address)
        let from = NameAddress(displayName: name, uri: URI(user: user, host: "far.test"))
        var invite = OutgoingInvite(
            target: target, flow: Flow(transport: .udp, local: Self.address, remote: Stage.address), from: from,
            to: NameAddress(uri: target))
        invite.headers = headers
        if offers {
            var body = String(decoding: call.negotiation.offer(direction: .sendrecv).serialized(), as: UTF8.self)
            edit(&body)
            invite.body = Array(body.utf8)
        }
        calls.append(call)
        call.session = agent.invite(invite, delegate: call, at: now)
        return call
    }

    /// It is the app's registrar, too, and takes everybody.
    func userAgent(_ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant) -> Bool
    {
        guard request.method == .register else { return false }
        agent.respond(to: transaction, status: 200, headers: request.headers.all(.contact).map { (.contact, $0 + ";expires=600") }, at: now)
        onRegister()
        return true
    }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        let call = FarCall(self, codecs: Codec.catalogue)
        call.session = session
        session.delegate = call
        try? call.negotiation.receive(offer: session.request.body)
        calls.append(call)
        onInvite(call)
    }
}

/// One call of the far end.
final class FarCall: InviteSessionDelegate {
    var session: InviteSession?
    var negotiation: OfferAnswer
    private unowned let phone: FarPhone
    /// Final and provisional responses to its INVITE.
    private(set) var statuses: [Int] = []
    private(set) var isOver = false
    /// What it makes of the app's re-INVITEs: the status; nil leaves them unanswered.
    var offerStatus: Int? = 200
    /// Of the descriptions by which it answers them.
    var editAnswer: (inout String) -> Void = { _ in }
    private(set) var openOffer: OfferRequest?
    private(set) var isHeld = false

    init(_ phone: FarPhone, codecs: [Codec]) {
        self.phone = phone
        let port = 40_000 + 4 * UInt16(phone.calls.count)
        let local = LocalMedia(address: FarPhone.address.address, port: port, rtcpPort: port + 1, codecs: codecs)
        negotiation = OfferAnswer(local: local.withoutMux, sessionID: 77)
    }

    func ring(_ status: Int = 180, body: [UInt8] = []) { session?.respond(status: status, body: body, at: phone.now) }

    func answer() {
        guard let (description, _) = try? negotiation.answer(codecs: nil, direction: .sendrecv) else { return }
        session?.respond(status: 200, body: description.serialized(), at: phone.now)
    }

    func refuse(_ status: Int, reasons: [Reason] = []) {
        session?.respond(status: status, headers: reasons.map { (.reason, $0.value) }, at: phone.now)
        isOver = true
    }

    func bye(_ reasons: [Reason] = []) { session?.bye(reasons: reasons, at: phone.now) }
    func cancel(_ reasons: [Reason] = []) { session?.cancel(reasons: reasons, at: phone.now) }

    func hold(_ direction: SDP.Direction) {
        session?.reinvite(body: negotiation.offer(direction: direction).serialized(), at: phone.now)
    }

    /// Answers a re-INVITE that was left open.
    func answerOffer() {
        guard let offer = openOffer else { return }
        openOffer = nil
        take(offer, 200)
    }

    private func take(_ offer: OfferRequest, _ status: Int) {
        guard status == 200, let body = offer.body, (try? negotiation.receive(offer: body)) != nil,
            let (answer, audio) = try? negotiation.answer(codecs: nil, direction: .sendrecv)
        else {
            negotiation.rollback()
            session?.answer(offer, status: status == 200 ? 488 : status, at: phone.now)
            return
        }
        isHeld = (audio?.remoteHold ?? .none) != .none
        var text = String(decoding: answer.serialized(), as: UTF8.self)
        editAnswer(&text)
        session?.answer(offer, status: 200, body: Array(text.utf8), at: phone.now)
    }

    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .provisional(let response): statuses.append(response.status ?? 0)
        case .accepted(let response):
            statuses.append(response.status ?? 0)
            if negotiation.state == .haveLocalOffer {
                _ = try? negotiation.receive(answer: response.body)
                session.acknowledge(at: now)
            } else if (try? negotiation.receive(offer: response.body)) != nil,
                let (answer, _) = try? negotiation.answer(codecs: nil, direction: .sendrecv)
            {
                session.acknowledge(body: answer.serialized(), at: now)
            }
        case .rejected(let status, _):
            statuses.append(status)
            isOver = true
        case .cancelled, .ended, .byeCompleted: isOver = true
        case .offered(let offer): if let status = offerStatus { take(offer, status) } else { openOffer = offer }
        case .reanswered(let response): _ = try? negotiation.receive(answer: response.body)
        case .refused: negotiation.rollback()
        default: break
        }
    }
}

extension LocalMedia {
    /// Each call of the stage takes two ports, so that a pool of one pair is a pool of one call.
    fileprivate var withoutMux: LocalMedia {
        var local = self
        local.offersMux = false
        return local
    }
}
