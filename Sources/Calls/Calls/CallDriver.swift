import CallJournal
import CallKit
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Has a dialog, its call and its media: takes what the dialog tells to the call, and does what the call answers.
///
/// The rules stand in `CallSession`; what a gateway's leg and the call of an app's line do alike with its answers stands here.
package protocol CallDriver: AnyObject, CallDescriber {
    var session: InviteSession? { get }
    var call: CallSession { get set }
    var media: LegMedia { get set }
    var scribe: LegJournal { get }
    var now: Instant { get }
    /// Offers before the answer are taken (RFC 3311 §5.2); otherwise they wait until the call is up.
    var takesEarlyOffers: Bool { get }

    /// The plan of the media by what was agreed.
    func plan(for audio: NegotiatedAudio) -> MediaPlan
    /// Starts media where everything that it needs is there.
    func startMedia()
    /// Takes over what was agreed anew.
    func adopt(_ audio: NegotiatedAudio)
    /// The first description has us held already.
    func tellFirstHold()
    /// The far end has taken its audio away: media stops.
    func stopRemovedAudio()
    /// It has, and the other side is to know.
    func audioIsGone()
    /// Our offer is agreed to, and so is the resume that was wanted.
    func resumeIsDone()
    /// Our offer is answered with what is no agreement.
    func notAgreed(_ agreement: CallSession.Agreement)
    /// Headers of the refusal of an offer that cannot be used.
    func headers(refusing error: NegotiationError) -> [(HeaderName, Text)]
    /// The far end's answer cannot be used: the call ends as failed, and the far end is told.
    func failed(_ cause: EndCause)
}

extension CallDriver {
    /// Hears of the reserved ports from now on.
    package func listenOnReservation() {
        guard let ports = media.reservation else { return }
        (call.negotiation.local.port, call.negotiation.local.rtcpPort) = (ports.rtp, ports.rtcp)
    }

    // MARK: Offers of ours

    /// A re-INVITE with what is wanted now; it waits while an offer of either side is under way.
    package func renegotiate() {
        call.renegotiate()
        offerWhenPossible()
    }

    /// A re-INVITE with what is wanted now, once no other offer is under way.
    package func offerWhenPossible() {
        guard let session, let offer = call.nextOffer(canOffer: session.canOffer, self) else { return }
        session.reinvite(body: offer.serialized(), at: now)
    }

    /// The 200 to our re-INVITE.
    package func reanswered(_ response: Message) {
        let agreement = call.reanswered(response)
        switch agreement {
        case .nothing: return
        case .agreed(let audio, let endsResume):
            adopt(audio)
            session?.acknowledge(at: now)
            if endsResume { resumeIsDone() }
        case .audioRemoved, .unusable, .insecure:
            session?.acknowledge(at: now)
            notAgreed(agreement)
        }
        offerWhenPossible()
    }

    // MARK: Offers of the far end

    /// The ACK of our 200; with a late offer it brings the answer.
    package func acknowledged(_ body: [UInt8]?) {
        defer { offerWhenPossible() }
        switch call.acknowledged(body) {
        case .nothing: break
        case .first(let audio):
            media.update(plan(for: audio), at: now)
            tellFirstHold()
            startMedia()
        case .again(let audio):
            adopt(audio)
            startMedia()
        case .audioRemoved: audioWasRemoved()
        case .unusable: failed(.notAcceptable)
        }
    }

    /// A re-INVITE or UPDATE of the far end.
    package func offered(_ offer: OfferRequest) {
        guard let session else { return }
        guard takesEarlyOffers || call.state == .connected else { return refuseForNow(offer, session) }
        do throws(NegotiationError) { answer(offer, try call.receive(offer.message, self), session) } catch {
            session.answer(offer, status: error.status, headers: headers(refusing: error), at: now)
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
            stopRemovedAudio()
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            audioWasRemoved()
        case .offer(let own), .early(let own): session.answer(offer, status: 200, body: own.serialized(), at: now)
        case .refresh: session.answer(offer, status: 200, body: [], at: now)
        case .tooEarly: refuseForNow(offer, session)
        }
    }

    private func refuseForNow(_ offer: OfferRequest, _ session: InviteSession) {
        session.answer(offer, status: 500, headers: [(.retryAfter, "5")], at: now)
    }

    /// The far end took the stream away (port 0, RFC 3264 §8.2). The call goes on without sound, and an offer may bring the stream back.
    package func audioWasRemoved() {
        guard call.removeAudio() else { return }
        stopRemovedAudio()
        // An offer that brings the stream back brings a new one (RFC 3264 §8.1), whose handshake is a new one too.
        if var gone = call.agreed, case .dtls = gone.security {
            gone.security = .none
            media.update(plan(for: gone), at: now)
        }
        scribe.write(.mediaUpdated, at: now, [.codec: "none"])
        audioIsGone()
    }
}
