import Calls
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
        invite.body = signalling.invite(self).serialized()
        signalling.enter(.calling)
        invite.offerAfterRefusal = { [weak self] in self?.signalling.negotiation.offerSecurely()?.serialized() }
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
            (record.status, record.reason) = (status, response?.explanation ?? .empty)
            if response == nil { noteUnanswered(status, at: now) }
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
        case .offerWithdrawn: signalling.withdrawOffer()
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

    /// Nobody sent that status.
    func noteUnanswered(_ status: Int, at now: Instant) {
        (record.status, record.isUnheard) = (status, true)
        let words = phone.unanswered(status, over: identity.flow, waited: now - record.began).words
        record.failure = record.failure ?? (hasResponse ? "no final response: " + words : words)
    }

    private func noteReceived(_ message: Message) {
        hasResponse = true
        guard message.method == .bye else { return }
        if let status = message.status { record.byeStatus = status } else { hasBye = true }
    }

    private func receiveProvisional(_ response: Message, at now: Instant) {
        guard let status = response.status else { return }
        record.ringing = record.ringing ?? now
        if !response.content.isEmpty { record.earlyMediaIgnored = true }
        signalling.note(provisional: response)
        report(.ringing(status: status), at: now)
    }

    private func receiveAcceptance(_ response: Message, at now: Instant) {
        (record.status, record.reason) = (response.status ?? 200, response.reasonPhrase?.printable ?? .empty)
        guard state == .inviting, let session else { return session?.bye(at: now) ?? () }   // it crossed our CANCEL
        record.answered = now
        do {
            let audio = try signalling.accept(response)
            try open(audio, at: now)
        } catch {
            record.endedBy = .us
            return fail(MediaFault(error, in: "200", body: response.body).text, at: now)
        }
        session.acknowledge(at: now)
        signalling.enter(.connected)
        connect(at: now)
    }

    private func receiveAcknowledgement(_ body: [UInt8]?, at now: Instant) {
        guard state == .answered || state == .connected else { return }
        do {
            // While an offer of our own is open the ACK answers none.
            switch wishesHold == nil ? signalling.acknowledged(body) : .nothing {
            case .nothing: break
            case .first(let audio): try open(audio, at: now)
            case .again(let audio): try apply(audio, at: now)
            case .audioRemoved: removeAudio(at: now)
            case .unusable(let error): throw error
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
            try signalling.take(offer: session.request.content, self)
        } catch {
            let warning = Text("\(error.warningCode) hookswitch \"") + error.text + "\""
            return refuse(error.status, headers: [("Warning", warning)], at: now)
        }
        session.respond(status: 180, at: now)
        signalling.enter(.ringing)
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

    /// Lifts the receiver: sockets are bound, then the 200 leaves. Where the INVITE had no offer, ours is in the 200 and sockets wait for
    /// the ACK.
    public func answer(at now: Instant) {
        guard state == .inviting, let session, session.role == .callee else { return }
        answersAt = nil
        let description: SessionDescription
        do {
            description = try signalling.describe(self)
            if let audio = signalling.agreed { try open(audio, at: now) }
        } catch {
            record.failure = MediaFault(error, in: "INVITE", body: session.request.body).text
            return refuse((error as? NegotiationError)?.status ?? 503, headers: [], at: now)
        }
        signalling.enter(.connected)
        (state, record.answered, record.status, record.reason) = (.answered, now, 200, "OK")
        session.respond(status: 200, body: description.serialized(), at: now)
    }
}

// Hold, from either side.
extension PhoneCall {
    /// Holds the other side, or takes it back: packets stop before the re-INVITE leaves, and start again after its answer.
    ///
    /// - Returns: false when there is nothing to change, or another offer is under way: try again later.
    @discardableResult
    public func setHold(_ hold: Bool, at now: Instant) -> Bool {
        guard state == .connected, hold != isHolding, wishesHold == nil, let session, session.canOffer,
            signalling.negotiation.state == .stable
        else { return false }
        wishesHold = hold
        if hold {
            stopMedia(at: now)
            signalling.hold()
        } else {
            _ = signalling.resume()
        }
        return offer(over: session, at: now)
    }

    /// The offer that is due.
    func offer(over session: InviteSession, at now: Instant) -> Bool {
        guard let offer = signalling.nextOffer(canOffer: session.canOffer, self) else { return false }
        if wishesHold != nil { record.offers.pending = now }
        return session.reinvite(body: offer.serialized(), at: now)
    }

    /// The same description again, for the session's timer.
    private func refresh(at now: Instant) {
        guard state == .connected, wishesHold == nil, let session, session.canOffer, signalling.negotiation.state == .stable else { return }
        if let offer = signalling.refreshingOffer(self) { session.reinvite(body: offer.serialized(), at: now) }
    }

    private func receiveReanswer(_ response: Message, at now: Instant) {
        guard state == .connected else { return }
        let agreement = signalling.reanswered(response)
        guard let hold = wishesHold else { return keepOn(agreement, at: now) }
        (wishesHold, record.offers.pending) = (nil, nil)
        switch agreement {
        case .nothing: break
        case .agreed(let audio, _):
            session?.acknowledge(at: now)
            isHolding = hold
            do throws(MediaError) { try settle(audio, startsMedia: !hold, at: now) } catch {
                return fail(Text("hold: ") + Text(error), at: now)
            }
            record.offers.agreed += 1
            report(.holdChanged(isHolding: hold), at: now)
            offerSettled(at: now)
        case .audioRemoved: failHold(.refused, response, at: now)
        case .unusable(let error, _), .insecure(let error): failHold(error, response, at: now)
        }
    }

    private func settle(_ audio: NegotiatedAudio, startsMedia: Bool, at now: Instant) throws(MediaError) {
        try apply(audio, at: now)
        if startsMedia { try startMedia(at: now) }
    }

    private func failHold(_ error: NegotiationError, _ response: Message, at now: Instant) {
        fail(Text("hold: ") + MediaFault(error, in: "200", body: response.body).text, at: now)
    }

    /// The answer to a refresh, which changes nothing.
    private func keepOn(_ agreement: CallSession.Agreement, at now: Instant) {
        if case .agreed(let audio, _) = agreement { try? apply(audio, at: now) }
    }

    private func receiveRefusal(_ status: Int, at now: Instant) {
        let refusal = signalling.refused(status)
        signalling.forgetOffer()
        guard let hold = wishesHold, state == .connected else { return }
        (wishesHold, record.offers.pending) = (nil, nil)
        record.offers.refusal = status
        if case .dialogGone = refusal { return fail("the dialog is gone", at: now) }
        if hold, !isHolding { signalling.cancelHold() } else { signalling.giveUpResume() }
        if !isHolding {
            do throws(MediaError) { try startMedia(at: now) } catch { return fail(Text("media cannot start: ") + Text(error), at: now) }
        }
        report(.holdRefused(status: status), at: now)
        offerSettled(at: now)
    }

    private func receive(_ offer: OfferRequest, at now: Instant) {
        guard let session else { return }
        do throws(NegotiationError) { try answer(offer, signalling.receive(offer.message, self), session, at: now) } catch {
            session.answer(offer, status: error.status, at: now)
        }
    }

    private func answer(_ offer: OfferRequest, _ reply: CallSession.Reply, _ session: InviteSession, at now: Instant) {
        switch reply {
        case .agreed(let answer, let audio):
            do throws(MediaError) { try apply(audio, at: now) } catch { return fail(Text("media cannot change: ") + Text(error), at: now) }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
        case .audioRemoved(let answer):
            removeAudio(at: now)
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
        case .offer(let own), .early(let own): session.answer(offer, status: 200, body: own.serialized(), at: now)
        case .refresh: session.answer(offer, status: 200, body: [], at: now)
        case .tooEarly: session.answer(offer, status: 500, headers: [(.retryAfter, "5")], at: now)
        }
    }

    /// The other side has taken the sound away (port 0).
    private func removeAudio(at now: Instant) { if signalling.removeAudio() { stopMedia(at: now) } }

    /// A new agreement for media that is open.
    private func apply(_ audio: NegotiatedAudio, at now: Instant) throws(MediaError) {
        note(audio)
        let (wasHeld, wasMissing) = (signalling.isHeldByRemote, signalling.hasNoAudio)
        signalling.adopt(audio)
        try media.update(plan(audio), at: now)
        if wasMissing, !isHolding { try startMedia(at: now) }
        noteSoundDue(at: now)
        let held = signalling.isHeldByRemote
        guard held != wasHeld else { return }
        if held { record.timesHeld += 1 }
        report(held ? .held : .resumed, at: now)
    }
}

/// Its descriptions have all that it speaks.
extension PhoneCall: CallDescriber {
    package func received(offerIn negotiation: inout OfferAnswer) {}
    package func prepareAnswer(_ negotiation: inout OfferAnswer) {}
    package func prepareOffer(_ negotiation: inout OfferAnswer, agreed: NegotiatedAudio?) {}
    package func codecs(answering offer: OfferAnswer.RemoteOffer, ours: [Codec], agreed: NegotiatedAudio?) -> [Codec]? { nil }
    package var relayed: NegotiatedAudio? { nil }
}

extension Message {
    /// The phrase of a response, and what its Warning says to people (RFC 3261 §20.43).
    fileprivate var explanation: Text {
        let phrase = reasonPhrase ?? .empty,
            words = headers[.warning].map { $0.bytes.split(separator: 0x22, maxSplits: 2, omittingEmptySubsequences: false) } ?? []
        return words.count == 3 && !words[1].isEmpty ? (phrase + " (" + Text(Array(words[1])) + ")").printable : phrase.printable
    }
}
