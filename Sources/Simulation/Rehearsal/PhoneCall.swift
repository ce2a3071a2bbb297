import Primitives
import SDP
import SIP
import UserAgent

/// One call of a scripted phone, on either side.
final class PhoneCall: InviteSessionDelegate {
    private enum Script {
        case caller(CallerScript)
        case callee(CalleeScript)
    }

    private let script: Script
    private unowned let phone: Phone
    private var session: InviteSession?
    private var negotiation: OfferAnswer
    private var hasGivenUp = false
    private var hasSentBye = false
    private var hasReferred = false
    private var isTalking = false
    private var voice: Voice?
    private var talkingSince: Instant?

    init(caller script: CallerScript, phone: Phone, local: LocalMedia, sessionID: UInt64) {
        (self.script, self.phone) = (.caller(script), phone)
        negotiation = OfferAnswer(local: local, sessionID: sessionID)
    }

    init(callee script: CalleeScript, phone: Phone, local: LocalMedia, sessionID: UInt64) {
        (self.script, self.phone) = (.callee(script), phone)
        negotiation = OfferAnswer(local: local, sessionID: sessionID)
    }

    private var now: Instant { phone.world.now }

    private func after(_ delay: Duration, _ work: @escaping (PhoneCall) -> Void) {
        phone.world.after(delay) { [weak self] in self.map(work) }
    }

    /// The body of a caller's INVITE.
    func firstOffer() -> [UInt8] {
        guard case .caller(let script) = script, !script.isLateOffer else { return [] }
        return negotiation.offer().serialized()
    }

    func begin(_ session: InviteSession) {
        self.session = session
        switch script {
        case .caller(let script): if let delay = script.cancelAfter { after(delay) { $0.giveUp() } }
        case .callee(let script): ring(script)
        }
    }

    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, _): notice(direction, message)
        case .transferProgress(let status):
            if status >= 200 { status < 300 ? (phone.tally.transfers += 1) : (phone.tally.failedTransfers += 1) }
        case .provisional, .looking, .foundNobody, .info, .transferRequested, .retryDue: break
        case .accepted(let response): accepted(response, session)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout:
            phone.tally.neverAcknowledged += 1
            session.bye(at: now)
        case .offered(let offer): offered(offer, session)
        case .offerWithdrawn: negotiation.rollback()
        case .reanswered(let response):
            if negotiation.state == .haveLocalOffer, (try? negotiation.receive(answer: response.body)) == nil { negotiation.rollback() }
        case .refused(let status):
            negotiation.rollback()
            if InviteSession.endsDialog(status) { session.bye(at: now) }
        case .provisionalTimeout:
            phone.tally.unacknowledgedProvisionals += 1
            session.respond(status: 504, at: now)
            finish()
        case .refreshDue: offer(.sendrecv, over: session.reinvite)
        case .expired:
            phone.tally.expired += 1
            session.bye(at: now)
        case .dialogLost: session.bye(at: now)
        case .rejected:
            phone.tally.rejected += 1
            finish()
        case .cancelled, .byeCompleted: finish()
        case .ended: finish()
        }
    }

    private func finish() {
        isTalking = false
        voice = nil
        if case .caller = script, let begin = talkingSince.take() { phone.tally.talked += now - begin }
        session = nil
        phone.forget(self)
    }

    private func notice(_ direction: SessionEvent.Direction, _ message: Message) {
        if direction == .received, message.isRequest, message.method == .bye, hasSentBye { phone.tally.crossedByes += 1 }
        if direction == .received, message.status == 491 {
            phone.tally.glares += 1
            if message.method == .update { phone.tally.updateGlares += 1 }
        }
    }

    /// The call ends after a while, if nothing ends it before: its party hears silence, and hangs up.
    func hangUpSoon() {
        after(.seconds(40)) { call in
            guard let session = call.session else { return }
            if case .caller = call.script, session.state == .inviting { call.hasGivenUp = true }
            session.bye(at: call.now)
            if session.state == .ended { call.finish() }
        }
    }

    // MARK: Caller

    private func giveUp() {
        guard let session, session.state == .inviting else { return }
        hasGivenUp = true
        phone.tally.cancelled += 1
        session.cancel(at: now)
    }

    private func accepted(_ response: Message, _ session: InviteSession) {
        guard case .caller(let script) = script else { return }
        phone.tally.connected += 1
        if hasGivenUp {
            phone.tally.answeredAfterCancel += 1
            return session.bye(at: now)
        }
        guard script.acknowledges else { return phone.tally.unacknowledged += 1 }
        if negotiation.state == .haveLocalOffer {
            guard (try? negotiation.receive(answer: response.body)) != nil else { return session.bye(at: now) }
            session.acknowledge(at: now)
        } else {
            guard (try? negotiation.receive(offer: response.body)) != nil, let (answer, _) = try? negotiation.answer() else {
                return session.bye(at: now)
            }
            session.acknowledge(body: answer.serialized(), at: now)
        }
        talk(script.steps[...])
    }

    // MARK: Callee

    private func ring(_ script: CalleeScript) {
        // A phone whose INVITE nobody cancels, as that of a fork after another one's refusal, stops by itself.
        after(.seconds(120)) { call in
            guard let session = call.session, session.state == .inviting else { return }
            session.respond(status: 480, at: call.now)
            call.finish()
        }
        if case .silent = script.decision { return }
        after(script.ringsAfter) { call in
            guard let session = call.session, session.state == .inviting else { return }
            // The early answer is the answer (RFC 3261 §13.2.1): the 200 says the same.
            let body = script.hasEarlyMedia ? call.description(for: session) : []
            session.respond(status: script.hasEarlyMedia ? 183 : 180, body: body, at: call.now)
        }
        after(script.decidesAfter) { $0.decide(script) }
    }

    private func decide(_ script: CalleeScript) {
        guard let session, session.state == .inviting else { return }
        switch script.decision {
        case .ring, .silent: break
        case .reject(let status):
            session.respond(status: status, at: now)
            finish()
        case .answer:
            let body = description(for: session)
            guard !body.isEmpty else {
                session.respond(status: 488, at: now)
                return finish()
            }
            phone.tally.answered += 1
            session.respond(status: 200, body: body, at: now)
            talk(script.steps[...])
        }
    }

    private var described: [UInt8]?

    /// The answer to the INVITE's offer, or an offer where it has none; the same each time. Empty when there is no common codec.
    private func description(for session: InviteSession) -> [UInt8] {
        if let described { return described }
        var body: [UInt8] = []
        if session.request.body.isEmpty {
            body = negotiation.offer().serialized()
        } else if (try? negotiation.receive(offer: session.request.body)) != nil, let (answer, audio) = try? negotiation.answer(),
            audio != nil
        {
            body = answer.serialized()
        }
        described = body
        return body
    }

    private func acknowledged(_ body: [UInt8]?) {
        guard negotiation.state == .haveLocalOffer, let body else { return }
        if (try? negotiation.receive(answer: body)) == nil { negotiation.rollback() }
    }

    // MARK: Either

    private func offered(_ offer: OfferRequest, _ session: InviteSession) {
        guard let body = offer.body else {
            guard negotiation.state != .haveRemoteOffer else { return session.answer(offer, status: 500, at: now) }
            return session.answer(offer, status: 200, body: negotiation.offer().serialized(), at: now)
        }
        if case .callee(let script) = script, !script.takesOffers { return session.answer(offer, status: 488, at: now) }
        guard (try? negotiation.receive(offer: body)) != nil, let (answer, _) = try? negotiation.answer() else {
            negotiation.rollback()
            return session.answer(offer, status: 488, at: now)
        }
        session.answer(offer, status: 200, body: answer.serialized(), at: now)
    }

    private func talk(_ steps: ArraySlice<TalkStep>) {
        if !isTalking { beginTalking() }
        guard let step = steps.first else { return }
        after(step.delay) { call in
            guard call.isTalking, let session = call.session else { return }
            call.take(step.action, session)
            call.talk(steps.dropFirst())
        }
    }

    private func beginTalking() {
        (isTalking, talkingSince, voice) = (true, now, phone.makeVoice())
        let address = phone.address.address, port = negotiation.local.port
        voice?.speak(
            from: SocketAddress(address, port: port), agreed: { [weak self] in self.flatMap { $0.isTalking ? $0.negotiation.audio : nil } })
    }

    private func take(_ action: TalkStep.Action, _ session: InviteSession) {
        switch action {
        case .hold: offer(.sendonly, over: session.reinvite)
        case .resume: offer(.sendrecv, over: session.reinvite)
        case .update: offer(.sendrecv, over: session.update)
        case .recode:
            if negotiation.state == .stable { negotiation.local.codecs = phone.someCodecs() }
            offer(.sendrecv, over: session.reinvite)
        case .info: session.info(contentType: "application/dtmf-relay", body: Array("Signal=5\r\nDuration=160\r\n".utf8), at: now)
        case .refer(let number): if session.refer(to: URI(user: number, host: Cast.domain), at: now) { hasReferred = true }
        case .vanish:
            phone.tally.vanished += 1
            session.vanish(at: now)
            finish()
        case .bye:
            hasSentBye = true
            if hasReferred { phone.tally.byesAfterRefers += 1 }
            if negotiation.state == .haveLocalOffer { phone.tally.byesOverOffers += 1 }
            session.bye(at: now)
            // Its 200 still waited for a PRACK: refused, and over.
            if session.state == .ended { finish() }
        }
    }

    private func offer(_ direction: Direction, over send: (_ body: [UInt8], _ now: Instant) -> Bool) {
        guard let session, session.canOffer, negotiation.state == .stable else { return }
        phone.tally.offers += 1
        if !send(negotiation.offer(direction: direction).serialized(), now) { negotiation.rollback() }
    }
}
