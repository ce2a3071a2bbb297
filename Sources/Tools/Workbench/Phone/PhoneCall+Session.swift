import Media
import Primitives
import SDP
import SIP
import UserAgent

extension PhoneCall: InviteSessionDelegate {
    /// Caller: sends the INVITE, with an offer.
    func start(_ target: URI, headers: [(HeaderName, Text)], at now: Instant) {
        var invite = OutgoingInvite(target: target, flow: identity.flow, from: identity.address, to: NameAddress(uri: target))
        (invite.credentials, invite.headers) = (identity.credentials, headers)
        // A telephone passes nothing on: what comes back to it a proxy has led back, and that is no loop.
        invite.isToOurselves = true
        invite.body = negotiation.offer().serialized()
        invite.offerAfterRefusal = { [weak self] in self?.negotiation.offerSecurely()?.serialized() }
        let session = phone.agent.invite(invite, delegate: self, at: now)
        (self.session, record.callID) = (session, session.callID)
    }

    public func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        self.session = session
        switch event {
        case .traced(let direction, let message, let retransmission):
            if direction == .received { noteReceived(message) }
            if retransmission { record.retransmissions += 1 }
            report(.traced(direction, message, retransmission: retransmission), at: now)
        case .provisional(let response): receiveProvisional(response, at: now)
        case .accepted(let response): receiveAcceptance(response, at: now)
        case .rejected(let status, let response):
            note(response?.reasons)
            (record.status, record.reason, record.isUnheard) = (status, response?.explanation ?? .empty, response == nil)
            if state != .ending { record.endedBy = response == nil ? .nobody : .them }
            close(at: now)
        case .cancelled(let reasons):
            note(reasons)
            (record.status, record.reason, record.endedBy) = (487, "Request Terminated", .them)
            close(at: now)
        case .acknowledged(let body): receiveAcknowledgement(body, at: now)
        case .acknowledgeTimeout: if state != .ending { fail("no ACK", at: now) }
        case .ended(let reasons, _):
            note(reasons)
            if state != .ending { record.endedBy = .them }
            record.disconnected = now
            close(at: now)
        case .byeCompleted(let status):
            // Both have hung up at once, and to the other side the call was over when ours came (RFC 5407 §3.2.1).
            let isCrossed = status == 481 && hasBye
            if (200..<300).contains(status) || isCrossed { record.disconnected = record.disconnected ?? now }
            close(at: now)
        case .offered(let offer): receive(offer, at: now)
        case .offerWithdrawn: negotiation.rollback()
        case .reanswered(let response): receiveReanswer(response, at: now)
        case .refused(let status): receiveRefusal(status, at: now)
        case .provisionalTimeout: refuse(504, headers: [], at: now)
        case .refreshDue: refresh(at: now)
        case .expired: if state != .ending { fail("the session was not refreshed", at: now) }
        case .dialogLost: if state != .ending { fail("the dialog is gone", at: now) }
        case .transferProgress(let status): report(.transferProgress(status: status), at: now)
        case .looking, .foundNobody, .transferRequested, .info, .retryDue: break
        }
    }

    private func note(_ reasons: [Reason]?) { record.cause = record.cause ?? reasons?.first(where: \.isQ850) }

    private func noteReceived(_ message: Message) {
        hasResponse = true
        guard message.method == .bye else { return }
        if let status = message.status { record.byeStatus = status } else { hasBye = true }
    }

    private func receiveProvisional(_ response: Message, at now: Instant) {
        guard let status = response.status else { return }
        record.ringing = record.ringing ?? now
        if !response.content.isEmpty { note(early: response) }
        report(.ringing(status: status), at: now)
    }

    /// A description in a 18x opens nothing. It is the answer where the 2xx has none (RFC 3261 §13.2.1).
    private func note(early response: Message) {
        record.earlyMediaIgnored = true
        guard let tag = response.to.tag, response.contentType == "application/sdp", earlyAnswers.count < 16 else { return }
        earlyAnswers[tag.detached] = response.body
    }

    private func receiveAcceptance(_ response: Message, at now: Instant) {
        (record.status, record.reason) = (response.status ?? 200, response.reasonPhrase?.printable ?? .empty)
        guard state == .inviting, let session else { return session?.bye(at: now) ?? () }   // it crossed our CANCEL
        record.answered = now
        let early = response.to.tag.flatMap { earlyAnswers.removeValue(forKey: $0) } ?? []
        earlyAnswers = [:]
        do {
            let audio = try negotiation.receive(answer: response.body.isEmpty ? early : response.body)
            try open(audio, at: now)
        } catch {
            record.endedBy = .us
            return fail(MediaFault(error, in: "200", body: response.body).text, at: now)
        }
        session.acknowledge(at: now)
        connect(at: now)
    }

    private func receiveAcknowledgement(_ body: [UInt8]?, at now: Instant) {
        guard state == .answered || state == .connected else { return }
        // An offer of ours that the other side asked for and did not answer changes nothing of a session that stands.
        if body == nil, state == .connected, negotiation.state == .haveLocalOffer, wishesHold == nil { return negotiation.rollback() }
        do {
            if negotiation.state == .haveLocalOffer, wishesHold == nil {
                let audio = try negotiation.receive(answer: body ?? [])
                if state == .answered { try open(audio, at: now) } else { try apply(audio, at: now) }
            }
        } catch {
            record.endedBy = .us
            return fail(MediaFault(error, in: "ACK", body: body ?? []).text, at: now)
        }
        if state == .answered { connect(at: now) }
    }
}

// Callee.
extension PhoneCall {
    /// Takes an INVITE: checks its offer and lets it ring.
    /// - Parameter delay: nil leaves it ringing.
    func ring(_ session: InviteSession, answeringAfter delay: Duration?, at now: Instant) {
        accept(session)
        do throws(NegotiationError) {
            if !session.request.content.isEmpty { try negotiation.receive(offer: session.request.body) }
        } catch {
            let warning = Text("\(error.warningCode) hookswitch \"") + error.text + "\""
            return refuse(error.status, headers: [("Warning", warning)], at: now)
        }
        session.respond(status: 180, at: now)
        record.ringing = now
        report(.ringing(status: 180), at: now)
        answersAt = delay.map { now + $0 }
    }

    /// Refuses the INVITE.
    func refuse(_ session: InviteSession, status: Int, headers: [(HeaderName, Text)] = [], at now: Instant) {
        accept(session)
        refuse(status, headers: headers, at: now)
    }

    private func accept(_ session: InviteSession) {
        self.session = session
        session.delegate = self
        record.callID = session.callID
    }

    func refuse(_ status: Int, headers: [(HeaderName, Text)], at now: Instant) {
        (record.status, record.endedBy) = (status, .us)
        session?.respond(status: status, headers: headers, at: now)
        close(at: now)
    }

    /// Lifts the receiver: sockets are bound, then the 200 leaves. Where the INVITE had no offer, ours is in the 200 and sockets wait for the ACK.
    public func answer(at now: Instant) {
        guard state == .inviting, let session, session.role == .callee else { return }
        answersAt = nil
        var body: [UInt8] = []
        if negotiation.state == .haveRemoteOffer {
            do {
                let (description, audio) = try negotiation.answer()
                body = description.serialized()
                if let audio { try open(audio, at: now) }
            } catch {
                record.failure = MediaFault(error, in: "INVITE", body: session.request.body).text
                return refuse((error as? NegotiationError)?.status ?? 503, headers: [], at: now)
            }
        } else {
            body = negotiation.offer().serialized()
        }
        (state, record.answered, record.status, record.reason) = (.answered, now, 200, "OK")
        session.respond(status: 200, body: body, at: now)
    }
}

// Hold, from either side.
extension PhoneCall {
    /// Holds the other side, or takes it back: packets stop before the re-INVITE leaves, and start again after its answer.
    ///
    /// - Returns: false when there is nothing to change, or another offer is under way: try again later.
    @discardableResult
    public func setHold(_ hold: Bool, at now: Instant) -> Bool {
        guard state == .connected, hold != isHolding, wishesHold == nil, let session, session.canOffer, negotiation.state == .stable else { return false }
        wishesHold = hold
        if hold { stopMedia(at: now) }
        return session.reinvite(body: negotiation.offer(direction: hold ? .sendonly : .sendrecv).serialized(), at: now)
    }

    /// The same description again, for the session's timer.
    private func refresh(at now: Instant) {
        guard state == .connected, wishesHold == nil, let session, session.canOffer, negotiation.state == .stable else { return }
        session.reinvite(body: negotiation.offer(direction: direction).serialized(), at: now)
    }

    private func receiveReanswer(_ response: Message, at now: Instant) {
        guard let hold = wishesHold, state == .connected else { return keepOn(response, at: now) }
        wishesHold = nil
        do {
            let audio = try negotiation.receive(answer: response.body)
            session?.acknowledge(at: now)
            isHolding = hold
            try apply(audio, at: now)
            if !hold { try startMedia(at: now) }
        } catch {
            return fail(Text("hold: ") + MediaFault(error, in: "200", body: response.body).text, at: now)
        }
        record.offersAgreed += 1
        report(.holdChanged(isHolding: hold), at: now)
        offerSettled(at: now)
    }

    /// The answer to a refresh, which changes nothing.
    private func keepOn(_ response: Message, at now: Instant) {
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        if let audio = try? negotiation.receive(answer: response.body) { try? apply(audio, at: now) }
    }

    private func receiveRefusal(_ status: Int, at now: Instant) {
        guard wishesHold != nil, state == .connected else { return negotiation.rollback() }
        wishesHold = nil
        record.offerRefusal = status
        negotiation.rollback()
        if InviteSession.endsDialog(status) { return fail("the dialog is gone", at: now) }
        if !isHolding {
            do throws(MediaError) { try startMedia(at: now) } catch { return fail(Text("media cannot start: ") + Text(error), at: now) }
        }
        report(.holdRefused(status: status), at: now)
        offerSettled(at: now)
    }

    private func receive(_ offer: OfferRequest, at now: Instant) {
        guard let session else { return }
        guard let body = offer.body else {
            let isUpdate = offer.message.method == .update
            return session.answer(offer, status: 200, body: isUpdate ? [] : negotiation.offer(direction: direction).serialized(), at: now)
        }
        do throws(NegotiationError) {
            try negotiation.receive(offer: body)
            let (description, audio) = try negotiation.answer(direction: direction)
            do throws(MediaError) {
                if let audio { try apply(audio, at: now) } else { stopMedia(at: now) }
            } catch {
                return fail(Text("media cannot change: ") + Text(error), at: now)
            }
            session.answer(offer, status: 200, body: description.serialized(), at: now)
        } catch {
            negotiation.rollback()
            session.answer(offer, status: error.status, at: now)
        }
    }

    private var direction: Direction { isHolding ? .sendonly : .sendrecv }

    /// A new agreement for media that is open.
    private func apply(_ audio: NegotiatedAudio, at now: Instant) throws(MediaError) {
        note(audio)
        try media.update(plan(audio), at: now)
        let held = audio.remoteHold != .none
        guard held != isHeld else { return }
        isHeld = held
        if held { record.timesHeld += 1 }
        report(held ? .held : .resumed, at: now)
    }
}

extension Message {
    /// The phrase of a response, and what its Warning says to people (RFC 3261 §20.43).
    fileprivate var explanation: Text {
        let phrase = reasonPhrase ?? .empty, words = headers[.warning].map { $0.bytes.split(separator: 0x22, maxSplits: 2, omittingEmptySubsequences: false) } ?? []
        return words.count == 3 && !words[1].isEmpty ? (phrase + " (" + Text(Array(words[1])) + ")").printable : phrase.printable
    }
}
