import CallJournal
import CallKit
import Calls
import Foundation
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
        case .offerWithdrawn: signalling.withdrawOffer()
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
        switch signalling.acknowledged(body) {
        case .nothing: break
        case .first:
            refreshPlan()
            if signalling.isHeldByRemote { tellRemoteHold() }
            startMedia()
        case .again(let audio):
            adopt(audio)
            startMedia()
        case .audioRemoved: audioWasRemoved()
        case .unusable: endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true)
        }
    }

    // MARK: Outgoing

    private func progressed(_ response: Message) {
        guard state == .calling || state == .early else { return }
        if state == .calling {
            signalling.enter(.early)
            line.tell(.connecting(uuid))
        }
        line.tell(.progress(status: response.status ?? 0), of: self)
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(response.status ?? 0)])
        signalling.note(provisional: response)
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early, networkEnd == nil else {
            session.acknowledge(at: now)
            session.bye(reasons: (endCause ?? .normalClearing).reasons, at: now)
            return
        }
        guard let audio = try? signalling.accept(response) else { return fail(session, .notAcceptable) }
        guard let isElsewhere = open(audio) else { return fail(session, .mediaFailed) }
        session.acknowledge(at: now)
        signalling.enter(.connected)
        if isElsewhere { signalling.renegotiate() }
        line.tell(.connected(uuid))
        if standing == .known { line.system.reportConnected(uuid) }
        startMedia()
        offerWhenPossible()
    }

    private func fail(_ session: InviteSession, _ cause: EndCause) {
        session.acknowledge(at: now)
        signalling.enter(.connected)
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
        do throws(NegotiationError) { answer(offer, try signalling.receive(offer.message, self), session) } catch {
            session.answer(offer, status: error.status, at: now)
        }
        offerWhenPossible()
    }

    private func answer(_ offer: OfferRequest, _ reply: CallSession.Reply, _ session: InviteSession) {
        switch reply {
        case .agreed(let answer, let audio):
            // Nothing leaves behind a 200 that agrees to silence.
            if audio.remoteHold != .none { media.update(plan(for: audio), at: now) }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            adopt(audio)
        case .audioRemoved(let answer):
            stopMedia(holding: true)
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            audioWasRemoved()
        case .offer(let own), .early(let own): session.answer(offer, status: 200, body: own.serialized(), at: now)
        case .refresh: session.answer(offer, status: 200, body: [], at: now)
        case .tooEarly: session.answer(offer, status: 500, headers: [(.retryAfter, "5")], at: now)
        }
    }

    private func reanswered(_ response: Message) {
        let agreement = signalling.reanswered(response)
        switch agreement {
        case .nothing: return
        case .agreed(let audio, let endsResume):
            adopt(audio)
            session?.acknowledge(at: now)
            if endsResume { resumed() }
        case .audioRemoved, .unusable, .insecure:
            session?.acknowledge(at: now)
            notAgreed(agreement)
        }
        offerWhenPossible()
    }

    private func resumed() {
        endResume(true)
        startMedia()
    }

    /// A 2xx whose answer cannot be used leaves the session as it was; one in the clear, where that may not be, ends the call as the first
    /// answer would.
    /// An app is told that its resume has failed where it brings no sound.
    private func notAgreed(_ agreement: CallSession.Agreement) {
        switch agreement {
        case .nothing, .agreed: break
        case .audioRemoved(let refusesResume), .unusable(_, let refusesResume): if refusesResume { endResume(false) }
        case .insecure: endOutOfBand(.failed, cause: .notAcceptable, tellsPeer: true)
        }
    }

    private func refused(_ status: Int) {
        switch signalling.refused(status) {
        case .nothing: break
        case .again: offerWhenPossible()
        case .resumeRefused: endResume(false)
        case .dialogGone:
            endResume(false)
            endOutOfBand(.failed, cause: .refreshFailed, tellsPeer: true)
        }
    }

    func adopt(_ audio: NegotiatedAudio) {
        let (wasHeld, wasMissing) = (signalling.isHeldByRemote, signalling.hasNoAudio)
        signalling.adopt(audio)
        refreshPlan()
        if wasMissing { startMedia() }
        if signalling.isHeldByRemote != (wasHeld || wasMissing) { tellRemoteHold() }
    }

    private func tellRemoteHold() {
        let isHeld = signalling.isHeldByRemote
        scribe.write(.remoteHold, at: now, [.on: .init(isHeld), .onHold: .init(line.system.call(uuid)?.isOnHold ?? false)])
        line.tell(.remoteHold(isHeld), of: self)
    }

    /// The far end took the stream away (port 0, RFC 3264 §8.2). The call goes on without sound, and an offer may bring the stream back.
    private func audioWasRemoved() {
        guard signalling.removeAudio() else { return }
        stopMedia(holding: true)
        // The stream that comes back is a new one (RFC 3264 §8.1), and its handshake is new, too.
        if var gone = signalling.agreed, case .dtls = gone.security {
            gone.security = .none
            media.update(plan(for: gone), at: now)
        }
        scribe.write(.mediaUpdated, at: now, [.codec: "none"])
        line.tell(.remoteHold(true), of: self)
    }
}
