import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// What the network did with a leg, as provider reports.
extension Leg: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, let isRetransmission): scribe.trace(message, direction, isRetransmission, flow: flow, at: now)
        case .cancelled(let reasons): cancelled(reasons)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout: endOutOfBand(.failed, cause: .answerTimeout, tellsPeer: true)
        case .provisional(let response): progressed(response)
        case .accepted(let response): accepted(response)
        case .rejected(let status, let response): rejected(status, response)
        case .ended(let reasons, _): farEndHungUp(reasons)
        case .offered(let offer): offered(offer)
        case .reanswered(let response): reanswered(response)
        case .refused(let status): refused(status)
        case .info(let request): gateway.peer(of: self)?.passInfo(request)
        case .offerWithdrawn: negotiation.rollback()
        case .byeCompleted: break
        }
    }

    // MARK: Incoming

    private func cancelled(_ reasons: [Reason]) {
        guard state == .new || state == .ringing else { return }
        let cause = EndCause(status: 487, reasons: reasons)
        endOutOfBand(StatusTable.endedReason(cancel: reasons), cause: cause, tellsPeer: false)
    }

    /// The ACK of our 200; with a late offer it brings the answer.
    private func acknowledged(_ body: [UInt8]?) {
        defer { offerWhenPossible() }
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        guard let body, let audio = receiveAnswer(body) else {
            return endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true)
        }
        adopt(audio)
        startMedia()
    }

    // MARK: Outgoing

    private func progressed(_ response: Message) {
        guard state == .calling || state == .early else { return }
        if state == .calling {
            state = .early
            line.provider.reportOutgoingCall(with: uuid, startedConnectingAt: nil)
        }
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(response.status ?? 0)])
        guard let tag = response.to.tag, response.contentType == "application/sdp", earlyAnswers.count < Self.maximumEarlyAnswers else { return }
        earlyAnswers[tag.detached] = response.body
    }

    private static var maximumEarlyAnswers: Int { 16 }

    /// The answer of a 2xx, which a callee may have given in a provisional response before and leave out here (RFC 3261 §13.2.1).
    private func answer(in response: Message) -> [UInt8] {
        guard response.body.isEmpty, let tag = response.to.tag else { return response.body }
        return earlyAnswers[tag] ?? []
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early else {
            session.acknowledge(at: now)
            session.bye(reasons: endCause?.reasons ?? [], at: now)
            return
        }
        guard let audio = receiveAnswer(answer(in: response)) else { return fail(session, .notAcceptable) }
        earlyAnswers = [:]
        negotiated = audio
        isHeldByRemote = audio.remoteHold != .none
        do { try media.open(plan(for: audio), near: nil, at: now) } catch {
            scribe.write(.mediaRefused, at: now, [.cause: "bind"])
            return fail(session, .mediaFailed)
        }
        session.acknowledge(at: now)
        state = .connected
        gateway.disarmRing(self)
        line.provider.reportOutgoingCall(with: uuid, connectedAt: nil)
        gateway.connected(self)
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
        let cause = EndCause.passing(status: status, phrase: response?.reasonPhrase, reasons: response?.reasons ?? [])
        if status == 408, response == nil, !sawProvisional { gateway.contactIsDead(self) }
        endOutOfBand(StatusTable.endedReason(status: status, sawProvisional: sawProvisional), cause: cause, tellsPeer: false)
    }

    // MARK: Confirmed

    private func farEndHungUp(_ reasons: [Reason]) {
        let passed = reasons.isEmpty ? EndCause.normalClearing : EndCause(status: 480, reasons: reasons)
        endOutOfBand(StatusTable.endedReason(bye: reasons), cause: passed, tellsPeer: false)
    }

    private func offered(_ offer: OfferRequest) {
        guard let session else { return }
        guard state == .connected else { return session.answer(offer, status: 481, at: now) }
        guard let body = offer.body else { return answerWithoutOffer(offer, session) }
        do throws(NegotiationError) {
            try negotiation.receive(offer: body)
            if negotiation.remoteOffer?.removesAudio == true { throw .noAudio }
            let (answer, audio) = try negotiation.answer(codecs: bridgedCodecs ?? negotiated.map { [$0.primary.codec] }, direction: wantedDirection)
            guard let audio else { throw .noAudio }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            adopt(audio)
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
        guard state == .connected, let audio = receiveAnswer(response.body) else { return }
        // Asked for while a hold was under way: that one is answered now, and the resume goes out next.
        if let action = resume, !needsOffer {
            resume = nil
            isHeld = false
            adopt(audio)
            action.fulfill()
        } else {
            adopt(audio)
        }
        session?.acknowledge(at: now)
        offerWhenPossible()
    }

    /// 408 and 481 mean that the dialog is gone (RFC 3261 §12.2.1.2); anything else leaves the session as it was.
    private func refused(_ status: Int) {
        negotiation.rollback()
        if status == 491 { return renegotiate() }
        resume?.fail()
        resume = nil
        if status == 408 || status == 481 { endOutOfBand(.failed, cause: .refreshFailed, tellsPeer: true) }
    }

    private func passInfo(_ request: Message) {
        guard state == .connected, let contentType = request.contentType else { return }
        session?.info(contentType: contentType, body: request.body, at: now)
    }

    private func receiveAnswer(_ body: [UInt8]) -> NegotiatedAudio? {
        try? negotiation.receive(answer: body)
    }
}
