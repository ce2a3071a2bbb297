import CallKit
import Foundation
import CallJournal
import Calls
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// What the network did with a call.
extension AppCall: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        self.session = session
        switch event {
        case .traced(let direction, let message, let isRetransmission): trace(direction, message, isRetransmission)
        case .cancelled(let reasons): cancelled(reasons)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout: endOutOfBand(.failed, cause: .answerTimeout, tellsPeer: true)
        case .provisional(let response): progressed(response)
        case .looking(let target): scribe.write(.redirectionLookup, at: now, [.on: true, .remote: .init(target.text)])
        case .foundNobody: scribe.write(.redirectionLookup, at: now, [.on: false])
        case .accepted(let response): accepted(response)
        case .rejected(let status, let response): rejected(status, response)
        case .ended(let reasons, _): hungUp(reasons)
        case .offered(let offer): offered(offer)
        case .reanswered(let response): reanswered(response)
        case .refused(let status): refused(status)
        case .retryDue: offerWhenPossible()
        case .dialogLost(let status): refused(status)
        case .provisionalTimeout: endOutOfBand(.failed, cause: .unacknowledgedProvisional, tellsPeer: true)
        case .offerWithdrawn: negotiation.rollback()
        case .transferRequested(let request): transferRequested(request)
        case .transferProgress(let status): line.tell(.transferProgress(status: status), of: self)
        case .info(let request): informed(request)
        case .byeCompleted, .refreshDue, .expired: break   // the line has no session timer
        }
    }

    private func trace(_ direction: SessionEvent.Direction, _ message: Message, _ isRetransmission: Bool) {
        let scribe = isBeingMoved ? line.scribe(of: self, forDialogWith: message, direction) : scribe
        scribe.trace(message, direction, isRetransmission, over: Way(flow), at: now)
    }

    /// Whoever hands the call on may go before it is known whether somebody takes it (RFC 5589 §6.1): the call waits for that.
    private func hungUp(_ reasons: [Reason]) {
        guard !isBeingMoved else { return stopMedia(holding: true) }
        endOutOfBand(StatusTable.endedReason(bye: reasons), cause: .normalClearing, tellsPeer: false)
    }

    /// A key that INFO tells is heard as one in the media is.
    private func informed(_ request: Message) {
        if let digit = KeyPress(request).flatMap({ DTMFDigit(Character(Unicode.Scalar($0.key))) }) { heard(.digit(digit)) }
    }

    // MARK: Incoming

    private func cancelled(_ reasons: [Reason]) {
        guard state == .new || state == .ringing else { return }
        endOutOfBand(StatusTable.endedReason(cancel: reasons), cause: EndCause(status: 487, reasons: reasons), tellsPeer: false)
    }

    /// The ACK of our 200; with a late offer it brings the answer.
    private func acknowledged(_ body: [UInt8]?) {
        defer { offerWhenPossible() }
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        // An offer of ours that the far end asked for and did not answer changes nothing of a session that stands.
        if body == nil, negotiated != nil { return negotiation.rollback() }
        guard let body, let audio = try? negotiation.receive(answer: body) else {
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
            line.tell(.connecting(uuid))
        }
        line.tell(.progress(status: response.status ?? 0), of: self)
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(response.status ?? 0)])
        guard let tag = response.to.tag, response.contentType == "application/sdp", earlyAnswers.count < 16 else { return }
        earlyAnswers[tag.detached] = response.body
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early, networkEnd == nil else {
            session.acknowledge(at: now)
            session.bye(reasons: (endCause ?? .normalClearing).reasons, at: now)
            return
        }
        let early = response.to.tag.flatMap { earlyAnswers[$0] } ?? []
        guard let audio = try? negotiation.receive(answer: response.body.isEmpty ? early : response.body) else { return fail(session, .notAcceptable) }
        earlyAnswers = [:]
        negotiated = audio
        isHeldByRemote = audio.remoteHold != .none
        guard open(audio) else { return fail(session, .mediaFailed) }
        session.acknowledge(at: now)
        state = .connected
        line.tell(.connected(uuid))
        if standing == .known { line.system.reportConnected(uuid) }
        startMedia()
        offerWhenPossible()
    }

    private func fail(_ session: InviteSession, _ cause: EndCause) {
        session.acknowledge(at: now)
        state = .connected
        endOutOfBand(.failed, cause: cause, tellsPeer: true)
    }

    private func rejected(_ status: Int, _ response: Message?) {
        guard state != .ended else { return }
        let reason = StatusTable.endedReason(status: status, sawProvisional: state == .early)
        endOutOfBand(reason, cause: .passing(status: status, response), tellsPeer: false)
    }

    // MARK: Confirmed

    /// Before the answer nothing is agreed anew: whoever calls us waits for that, and whom we call tells it then (RFC 3311 §5.2).
    private func offered(_ offer: OfferRequest) {
        guard let session else { return }
        guard state == .connected else { return session.answer(offer, status: 500, headers: [(.retryAfter, "5")], at: now) }
        guard let body = offer.body else {
            let own = offer.message.method == .invite ? negotiation.offer(direction: wantedDirection).serialized() : []
            return session.answer(offer, status: 200, body: own, at: now)
        }
        do throws(NegotiationError) {
            try negotiation.receive(offer: body)
            if negotiation.remoteOffer?.removesAudio == true { throw .noAudio }
            let (answer, audio) = try negotiation.answer(codecs: answeredCodecs, direction: wantedDirection)
            guard let audio else { throw .noAudio }
            // Nothing leaves behind a 200 that agrees to silence.
            if audio.remoteHold != .none { media.update(plan(for: audio), at: now) }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            adopt(audio)
        } catch {
            negotiation.rollback()
            session.answer(offer, status: error.status, at: now)
        }
        offerWhenPossible()
    }

    /// The codec in use where the far end offers it again, else its favourite of ours (RFC 3264 §8.3.2). Whom two calls join by relay they need the one
    /// that they have in common.
    private var answeredCodecs: [Codec]? {
        guard let present = negotiated?.primary.codec else { return nil }
        let known = partner == nil ? offeredCodecs : []
        return [known.contains { $0.matches(present) } ? present : known.first ?? present]
    }

    private func reanswered(_ response: Message) {
        guard state == .connected, negotiation.state == .haveLocalOffer else { return }
        let audio: NegotiatedAudio
        do throws(NegotiationError) { audio = try negotiation.receive(answer: response.body) } catch { return reanswerFailed(error) }
        let isBack = resume != nil && !needsOffer
        if isBack { isHeld = false }
        adopt(audio)
        session?.acknowledge(at: now)
        if isBack {
            endResume(true)
            startMedia()
        }
        offerWhenPossible()
    }

    /// A 2xx whose answer cannot be used leaves the session as it was; one in the clear, where that may not be, ends the call as the first answer would.
    private func reanswerFailed(_ error: NegotiationError) {
        session?.acknowledge(at: now)
        guard error != .securityRequired, error != .noCommonSecurity else { return endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true) }
        // A resume that was asked for since is offered next.
        if !needsOffer { endResume(false) }
        offerWhenPossible()
    }

    /// Where the dialog is not gone the session stays as it was.
    private func refused(_ status: Int) {
        negotiation.rollback()
        if status == 491 { return renegotiate() }
        endResume(false)
        if InviteSession.endsDialog(status) { endOutOfBand(.failed, cause: .refreshFailed, tellsPeer: true) }
    }

    func adopt(_ audio: NegotiatedAudio) {
        negotiated = audio
        refreshPlan()
        let wasHeld = isHeldByRemote
        isHeldByRemote = audio.remoteHold != .none
        guard wasHeld != isHeldByRemote else { return }
        scribe.write(.remoteHold, at: now, [.on: .init(isHeldByRemote), .onHold: .init(line.system.call(uuid)?.isOnHold ?? false)])
        line.tell(.remoteHold(isHeldByRemote), of: self)
    }
}
