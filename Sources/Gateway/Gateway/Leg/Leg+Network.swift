import CallKit
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// What the network did with a leg, as provider reports.
extension Leg: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, let isRetransmission): scribe.trace(message, direction, isRetransmission, over: way, at: now)
        case .cancelled(let reasons): cancelled(reasons)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout: endOutOfBand(.failed, cause: .answerTimeout, tellsPeer: true)
        case .provisional(let response): progressed(response)
        case .looking(let target): scribe.write(.redirectionLookup, at: now, [.on: true, .remote: .init(target.text)])
        case .foundNobody: scribe.write(.redirectionLookup, at: now, [.on: false])
        case .accepted(let response): accepted(response)
        case .rejected(let status, let response): rejected(status, response)
        case .ended(let reasons, let message):
            gateway.passHeaders(of: message, from: self)
            farEndHungUp(reasons)
        case .offered(let offer): offered(offer)
        case .reanswered(let response): reanswered(response)
        case .refused(let status): refused(status)
        case .retryDue: offerWhenPossible()
        case .info(let request): informed(request)
        case .offerWithdrawn: negotiation.rollback()
        case .provisionalTimeout: endOutOfBand(.failed, cause: .unacknowledgedProvisional, tellsPeer: true)
        case .refreshDue: refresh()
        case .expired: endOutOfBand(.failed, cause: .sessionExpired, tellsPeer: true)
        case .transferRequested(let request): gateway.transfer(request, by: self)
        case .transferProgress(let status): referred(status)
        case .dialogLost: endOutOfBand(.failed, cause: .dialogLost, tellsPeer: true)
        case .byeCompleted: break
        }
    }

    // MARK: Incoming

    private func cancelled(_ reasons: [Reason]) {
        guard direction == .incoming, state != .ended else { return }
        let cause = EndCause(status: 487, reasons: reasons)
        endOutOfBand(StatusTable.endedReason(cancel: reasons), cause: cause, tellsPeer: false)
    }

    /// The ACK of our 200; with a late offer it brings the answer.
    private func acknowledged(_ body: [UInt8]?) {
        defer { offerWhenPossible() }
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        guard let body else {
            // An offer of ours that the far end asked for and did not answer changes nothing of a session that stands.
            return negotiated == nil ? endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true) : negotiation.rollback()
        }
        do throws(NegotiationError) {
            let audio = try negotiation.receive(answer: body)
            if negotiated == nil { agreeLate(audio) } else { adopt(audio) }
            startMedia()
        } catch .refused where negotiated != nil {
            audioWasRemoved()   // port 0 is an answer, too (RFC 3264 §6)
        } catch {
            endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true)
        }
    }

    // MARK: Outgoing

    private func progressed(_ response: Message) {
        guard state == .calling || state == .early, let status = response.status else { return }
        if status == 199 { return forgetFork(response.to.tag) }
        gateway.passHeaders(of: response, from: self)
        gateway.rings(self, response)
        if state == .calling {
            state = .early
            gateway.tellTransferor(ofTarget: self, status)
            line.provider.reportOutgoingCall(with: uuid, startedConnectingAt: nil)
        }
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(status)])
        guard let tag = response.to.tag?.detached, response.contentType == "application/sdp", earlyAnswers.count < Self.maximumEarlyAnswers else { return }
        earlyAnswers[tag] = response.body
        guard response.reliableSequence != nil, earlyNegotiations[tag] == nil else { return }
        var fork = negotiation
        if (try? fork.receive(answer: response.body)) != nil { earlyNegotiations[tag] = fork }
    }

    /// A fork of the far end rings no more (RFC 6228 §4).
    private func forgetFork(_ tag: Text?) {
        guard let tag else { return }
        (earlyAnswers[tag], earlyNegotiations[tag]) = (nil, nil)
    }

    /// A new offer in an early dialog whose first exchange is complete (RFC 3311 §5.2). It is agreed, and opens nothing.
    private func offeredEarly(_ offer: OfferRequest, _ session: InviteSession) {
        guard let tag = offer.message.from.tag, let body = offer.body, var fork = earlyNegotiations[tag] else {
            return session.answer(offer, status: 500, at: now)
        }
        do throws(NegotiationError) {
            try fork.receive(offer: body)
            gateway.prepareAnswer(&fork, over: flow)
            let codec = known(of: fork.remoteOffer?.codecs ?? [], agreed: fork.audio)
            let (answer, _) = try fork.answer(codecs: codec.map { [$0] }, direction: .sendrecv)
            earlyNegotiations[tag.detached] = fork
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
        } catch {
            session.answer(offer, status: error.status, headers: [(.warning, error.warning(by: gateway.configuration.domain))], at: now)
        }
    }

    private static var maximumEarlyAnswers: Int { 16 }

    /// The answer of a 2xx, which a callee may have given in a provisional response before and leave out here (RFC 3261 §13.2.1).
    private func answer(in response: Message) -> [UInt8] {
        guard response.body.isEmpty, let tag = response.to.tag else { return response.body }
        return earlyAnswers[tag] ?? []
    }

    /// What a reliable response agreed stands, and a 2xx can only repeat it (RFC 3262 §5).
    private func agreement(in response: Message) -> NegotiatedAudio? {
        guard let tag = response.to.tag, let fork = earlyNegotiations[tag] else { return receiveAnswer(answer(in: response)) }
        negotiation = fork
        return fork.audio
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early else {
            session.acknowledge(at: now)
            session.bye(reasons: endCause?.reasons ?? [], at: now)
            return
        }
        guard let audio = agreement(in: response) else { return fail(session, .notAcceptable) }
        (earlyAnswers, earlyNegotiations) = ([:], [:])
        gateway.passHeaders(of: response, from: self)
        negotiated = audio
        isHeldByRemote = audio.remoteHold != .none
        let isElsewhere: Bool
        do throws(MediaError) { isElsewhere = try media.openSomewhere(plan(for: audio), near: nil, at: now) } catch {
            return fail(session, mediaRefused(error))
        }
        listenOnReservation()
        session.acknowledge(at: now)
        connected()
        // The far end was told of a port that another program has.
        if isElsewhere { renegotiate() }
        line.provider.reportOutgoingCall(with: uuid, connectedAt: nil)
        gateway.connected(self)
        tellFirstHold()
        startMedia()
    }

    private func fail(_ session: InviteSession, _ cause: EndCause) {
        session.acknowledge(at: now)
        state = .connected
        endOutOfBand(.failed, cause: cause, tellsPeer: true)
    }

    private func rejected(_ status: Int, _ response: Message?) {
        guard state != .ended else { return }
        let sawProvisional = state == .early
        let cause = EndCause.passing(status: status, response, isDevice: destination?.value.isDevice ?? false)
        if status == 408, response == nil, !hasFarEndSpoken { gateway.contactIsDead(self) }
        // What else a device says over one of its flows it has said (RFC 5626 §7), and so has whoever it sent the call on to.
        if status == 430 && gateway.lineReached(by: self) != nil || response == nil && !hasFarEndSpoken { gateway.callOverNextFlow(insteadOf: self) }
        endOutOfBand(StatusTable.endedReason(status: status, sawProvisional: sawProvisional), cause: cause, tellsPeer: false)
    }

    /// As long as another server is waited for (RFC 3263 §4.3), where there is one.
    static var longestSilence: Duration { .seconds(4) }

    /// The device is called over another of its flows, where it has one; this one may be broken without anybody knowing. Where it was silent before it is not
    /// called any longer.
    func deviceIsSilent() {
        guard state == .calling, !hasFarEndSpoken, let destination else { return }
        let hasOtherFlow = !destination.value.otherFlows.isEmpty
        if !hasOtherFlow, !isSilent { return gateway.calleeIsSilent(self) }
        scribe.write(.inviteUnanswered, at: now, [.status: .init(408), .remote: .init(flow.remote.description)])
        gateway.calleeIsSilent(self)
        if hasOtherFlow { gateway.callOverNextFlow(insteadOf: self) }
        endOutOfBand(.failed, cause: .subscriberAbsent, tellsPeer: true)
    }

    /// A response came from where it calls.
    func farEndSpoke() {
        hasFarEndSpoken = true
        if isSilent { gateway.calleeIsBack(self) }
    }

    // MARK: Confirmed

    private func farEndHungUp(_ reasons: [Reason]) {
        let passed = reasons.isEmpty ? EndCause.normalClearing : EndCause(status: 480, reasons: reasons)
        endOutOfBand(StatusTable.endedReason(bye: reasons), cause: passed, tellsPeer: false)
    }

    private func offered(_ offer: OfferRequest) {
        guard let session else { return }
        guard state == .connected else { return offeredEarly(offer, session) }
        guard let body = offer.body else { return answerWithoutOffer(offer, session) }
        do throws(NegotiationError) {
            try negotiation.receive(offer: body)
            gateway.prepareAnswer(&negotiation, over: flow)
            negotiation.local.comfortNoise = gateway.mayUseComfortNoise(self)
            let (answer, audio) = try negotiation.answer(codecs: answeredCodecs, direction: wantedDirection, passingTo: bridgedAudio)
            // Nothing leaves behind a 200 that agrees to silence.
            if let audio, audio.remoteHold != .none { media.update(plan(for: audio), at: now) }
            if audio == nil { media.stop(at: now) }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            if let audio { adopt(audio) } else { audioWasRemoved() }
        } catch {
            negotiation.rollback()
            session.answer(offer, status: error.status, headers: [(.warning, error.warning(by: gateway.configuration.domain))], at: now)
        }
        offerWhenPossible()
    }

    /// A re-INVITE without a description asks for ours, and the ACK answers it; an UPDATE without one only refreshes.
    private func answerWithoutOffer(_ offer: OfferRequest, _ session: InviteSession) {
        let body = offer.message.method == .invite ? makeOffer(direction: wantedDirection).serialized() : []
        session.answer(offer, status: 200, body: body, at: now)
    }

    private func reanswered(_ response: Message) {
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        let audio: NegotiatedAudio
        do throws(NegotiationError) { audio = try negotiation.receive(answer: response.body) } catch { return reanswerFailed(error) }
        // Asked for while a hold was under way: that one is answered now, and the resume goes out next.
        if let action = resume, !needsOffer {
            resume = nil
            isHeld = false
            adopt(audio)
            resumeAttempts = 0
            action.fulfill()
        } else {
            adopt(audio)
        }
        session?.acknowledge(at: now)
        offerWhenPossible()
    }

    /// A 2xx whose answer cannot be used leaves the session as it was; one with our stream at port 0 has taken the stream away, and one in the
    /// clear, where that may not be, ends the call as the first answer would.
    private func reanswerFailed(_ error: NegotiationError) {
        session?.acknowledge(at: now)
        if error == .securityRequired || error == .noCommonSecurity {
            resume?.fail()
            resume = nil
            return endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true)
        }
        if error == .refused {
            audioWasRemoved()
            resume.map(resumeWithoutSound)
        } else if resume != nil {
            resumeFailed()
        }
        offerWhenPossible()
    }

    /// Where the dialog is not gone the session stays as it was.
    private func refused(_ status: Int) {
        negotiation.rollback()
        // An offer of the far end's came first, which refreshes the session, too.
        if status == 491 { return isRefreshing ? () : renegotiate() }
        if InviteSession.endsDialog(status) { return endOutOfBand(.failed, cause: .refreshFailed, tellsPeer: true) }
        if resume != nil { resumeFailed() }
    }

    /// The far end called whom we asked it to call, and needs us no more; or it could not.
    private func referred(_ status: Int) {
        scribe.write(status < 300 ? .transferred : .transferFailed, at: now, [.status: .init(status)])
        if (200..<300).contains(status) { gateway.end(self, .transferred) }
    }

    /// A key that INFO tells is the same event as one in the media (RFC 4733), as long as it says, and goes on as that where the other end knows it.
    private func informed(_ request: Message) {
        guard state == .connected else { return }
        let press = KeyPress(request), digit = press.flatMap { DTMFDigit(Character(Unicode.Scalar($0.key))) }
        if let digit { note(digit) }
        guard let peer = gateway.peer(of: self), digit.map({ peer.send($0, lasting: press?.duration.map(Duration.milliseconds)) }) != true else { return }
        peer.passInfo(request)
    }

    /// False where it is to be told by INFO.
    private func send(_ digit: DTMFDigit, lasting length: Duration?) -> Bool { !keysBySignalling && media.send([digit], lasting: length, at: now) }

    private func passInfo(_ request: Message) {
        guard state == .connected, let contentType = request.headers[.contentType] else { return }
        session?.info(contentType: contentType.printable, body: request.body, at: now)
    }

    private func receiveAnswer(_ body: [UInt8]) -> NegotiatedAudio? {
        try? negotiation.receive(answer: body)
    }
}
