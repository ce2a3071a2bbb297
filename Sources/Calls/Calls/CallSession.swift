import Primitives
import SDP
import SIP
import UserAgent

/// A call asks this of its owner while it describes itself. No requirement may look at the call: it is being changed.
package protocol CallDescriber {
    /// The far end has made an offer: credentials for new connectivity checks, and who begins a handshake.
    func received(offerIn negotiation: inout OfferAnswer)
    /// An answer of ours is about to be made.
    func prepareAnswer(_ negotiation: inout OfferAnswer)
    /// An offer of ours is about to be made.
    func prepareOffer(_ negotiation: inout OfferAnswer, agreed: NegotiatedAudio?)
    /// The only codecs to agree to, in their order; nil: all of ours, in the order of the offer.
    func codecs(answering offer: OfferAnswer.RemoteOffer, ours: [Codec], agreed: NegotiatedAudio?) -> [Codec]?
    /// The agreement of the other leg of a bridge: packets go there as they come.
    var relayed: NegotiatedAudio? { get }
}

/// One call in SIP's terms: how far its dialog has come, what was agreed, who holds whom, and whether an offer of ours is due.
///
/// Sans-I/O: what came goes in, what is to be sent and done comes out, in order; its owner does it. The same for an incoming and an
/// outgoing call, and for everybody who has calls: the gateway's legs, the lines of apps, the telephones of the workbench.
package struct CallSession {
    /// States of the dialog.
    package enum State: Equatable, Sendable {
        /// An INVITE came in, or one is about to leave. Next: `ringing`, `calling`, `connected`, `ended`.
        case new
        /// Incoming, accepted by its owner. Next: `connected` (the 200 left), `ended`.
        case ringing
        /// Outgoing, the INVITE left. Next: `early` on 101–199, `connected` on 2xx, `ended`.
        case calling
        case early
        /// A 2xx left or was acknowledged. Next: `ended`.
        case connected
        /// Absorbing.
        case ended
    }

    /// The state of the dialog.
    package private(set) var state = State.new
    /// The local side of our descriptions, and the open exchange.
    package var negotiation: OfferAnswer
    /// The agreement of the last finished exchange; also while the far end has taken the sound away.
    package private(set) var agreed: NegotiatedAudio?
    /// Held by us.
    package private(set) var isHeld = false
    /// A resume is wanted and not agreed yet.
    package private(set) var isResuming = false
    /// Held by the far end, as its last description says.
    package private(set) var isHeldByRemote = false
    /// The far end set our stream to port 0; what was agreed before stays on record.
    package private(set) var hasNoAudio = false
    /// An offer of ours is due, as soon as the dialog allows it.
    package private(set) var isOfferDue = false
    /// The last offer of ours changed nothing.
    private var isRefreshing = false
    private var early = EarlyAnswers()

    package init(_ negotiation: OfferAnswer) { self.negotiation = negotiation }

    /// - Precondition: one that may follow.
    package mutating func enter(_ next: State) {
        assert(Self.mayFollow(next, state), "a call cannot be \(next) after \(state)")
        state = next
    }

    private static func mayFollow(_ next: State, _ state: State) -> Bool {
        switch (state, next) {
        case (.new, .ringing), (.new, .calling), (.new, .connected), (.ringing, .connected): true
        case (.calling, .early), (.calling, .connected), (.early, .connected): true
        case (_, .ended): true
        default: false
        }
    }

    // MARK: The first exchange

    /// Takes the offer of an INVITE; nothing where it has none.
    /// - Throws: what its refusal says.
    package mutating func take(offer: Text, _ describer: some CallDescriber) throws(NegotiationError) {
        guard !offer.isEmpty else { return }
        try negotiation.receive(offer: offer)
        describer.received(offerIn: &negotiation)
        if negotiation.remoteOffer?.removesAudio == true { throw .noCommonCodec }
    }

    /// The body of our 200: the answer to the caller's offer, or our own offer where it made none (RFC 3261 §13.2.1).
    package mutating func describe(_ describer: some CallDescriber) throws(NegotiationError) -> SessionDescription {
        guard let offer = negotiation.remoteOffer else { return makeOffer(direction: .sendrecv, describer) }
        describer.prepareAnswer(&negotiation)
        let codecs = describer.codecs(answering: offer, ours: negotiation.local.codecs, agreed: agreed)
        let (answer, audio) = try negotiation.answer(codecs: codecs, direction: .sendrecv, passingTo: describer.relayed)
        guard let audio else { throw .noAudio }
        (agreed, isHeldByRemote) = (audio, audio.remoteHold != .none)
        return answer
    }

    /// Media is opened with this: the agreement, or while a late offer waits for its answer, nothing but our own codecs.
    package var planned: NegotiatedAudio {
        if let agreed { return agreed }
        let codec = NegotiatedCodec(codec: negotiation.local.codecs[0], receivePayloadType: 0, sendPayloadType: 0)
        return NegotiatedAudio(codecs: [codec], remoteRTP: SocketAddress(.anyV4, port: 0), sends: false, receives: false)
    }

    /// The body of our INVITE.
    package mutating func invite(_ describer: some CallDescriber) -> SessionDescription {
        describer.prepareAnswer(&negotiation)
        return negotiation.offer(direction: .sendrecv)
    }

    /// A provisional response of a callee. A description in it opens nothing: it is the answer where the 2xx has none (RFC 3261 §13.2.1).
    package mutating func note(provisional response: Message) {
        guard let tag = response.to.tag else { return }
        // A fork of the far end rings no more (RFC 6228 §4).
        if response.status == 199 { return early.forget(tag) }
        guard !response.body.isEmpty, response.contentType == "application/sdp" else { return }
        early.note(response.body, of: tag, isReliable: response.reliableSequence != nil, negotiation)
    }

    /// Takes the answer of a 2xx: its own, or that of a provisional response before it. What a reliable response agreed stands, and a 2xx
    /// can only repeat it (RFC 3262 §5).
    package mutating func accept(_ response: Message) throws(NegotiationError) -> NegotiatedAudio {
        let audio: NegotiatedAudio
        if let tag = response.to.tag, let fork = early.agreement(of: tag), let known = fork.audio {
            (negotiation, audio) = (fork, known)
        } else {
            audio = try negotiation.receive(
                answer: response.body.isEmpty ? response.to.tag.flatMap { early.answer(of: $0) } ?? [] : response.body)
        }
        early = EarlyAnswers()
        (agreed, isHeldByRemote) = (audio, audio.remoteHold != .none)
        return audio
    }

    /// The meaning of the ACK to our 200.
    package enum Acknowledgement {
        case nothing
        /// The answer to the offer in our 200: of the first exchange, or of a later one.
        case first(NegotiatedAudio), again(NegotiatedAudio)
        /// Port 0 is an answer, too (RFC 3264 §6).
        case audioRemoved
        /// No answer, or none that can be used: the call cannot go on.
        case unusable(NegotiationError)
    }

    /// - Parameter body: nil where the ACK has none.
    package mutating func acknowledged(_ body: [UInt8]?) -> Acknowledgement {
        guard state == .connected, negotiation.state == .haveLocalOffer else { return .nothing }
        guard body != nil || agreed == nil else {
            // An offer of ours that the far end asked for and did not answer changes nothing of a session that stands.
            negotiation.rollback()
            return .nothing
        }
        do throws(NegotiationError) {
            let audio = try negotiation.receive(answer: body ?? [])
            guard agreed == nil else { return .again(audio) }
            (agreed, isHeldByRemote) = (audio, audio.remoteHold != .none)
            return .first(audio)
        } catch { return error == .refused && agreed != nil ? .audioRemoved : .unusable(error) }
    }

    // MARK: Offers of the far end

    /// The answer to a re-INVITE or UPDATE, and what follows from it.
    package enum Reply {
        /// The answer, and what is agreed.
        case agreed(SessionDescription, NegotiatedAudio)
        /// The answer agrees that the sound is taken away.
        case audioRemoved(SessionDescription)
        /// It asked for an offer of ours, which the ACK answers; or it only refreshes, and its answer has no body.
        case offer(SessionDescription), refresh
        /// Agreed in an early dialog: it opens nothing (RFC 3311 §5.2).
        case early(SessionDescription)
        /// Before the first exchange is complete (RFC 3311 §5.2).
        case tooEarly
    }

    /// - Parameter request: the re-INVITE or UPDATE.
    /// - Throws: why it is refused; everything is as it was before.
    package mutating func receive(_ request: Message, _ describer: some CallDescriber) throws(NegotiationError) -> Reply {
        guard state == .connected else { return try receiveEarly(request, describer) }
        guard !request.body.isEmpty else {
            return request.method == .invite ? .offer(makeOffer(direction: wantedDirection, describer)) : .refresh
        }
        do throws(NegotiationError) {
            try negotiation.receive(offer: request.body)
            describer.received(offerIn: &negotiation)
            describer.prepareAnswer(&negotiation)
            let codecs = negotiation.remoteOffer.flatMap { describer.codecs(answering: $0, ours: negotiation.local.codecs, agreed: agreed) }
            let (answer, audio) = try negotiation.answer(codecs: codecs, direction: wantedDirection, passingTo: describer.relayed)
            return audio.map { .agreed(answer, $0) } ?? .audioRemoved(answer)
        } catch {
            negotiation.rollback()
            throw error
        }
    }

    /// A new offer in an early dialog whose first exchange is complete.
    private mutating func receiveEarly(_ request: Message, _ describer: some CallDescriber) throws(NegotiationError) -> Reply {
        guard let tag = request.from.tag, !request.body.isEmpty, var fork = early.agreement(of: tag) else { return .tooEarly }
        try fork.receive(offer: request.body)
        describer.received(offerIn: &fork)
        let codecs = fork.remoteOffer.flatMap { describer.codecs(answering: $0, ours: fork.local.codecs, agreed: fork.audio) }
        let (answer, _) = try fork.answer(codecs: codecs, direction: .sendrecv)
        early.replace(fork, of: tag)
        return .early(answer)
    }

    /// Takes over what was agreed anew.
    package mutating func adopt(_ audio: NegotiatedAudio) {
        (agreed, isHeldByRemote, hasNoAudio) = (audio, audio.remoteHold != .none, false)
    }

    /// The far end took the stream away (port 0, RFC 3264 §8.2); an offer may bring it back. False where it was gone already.
    package mutating func removeAudio() -> Bool {
        defer { hasNoAudio = true }
        return !hasNoAudio
    }

    // MARK: Offers of ours

    /// The meaning of the 2xx to our re-INVITE.
    package enum Agreement {
        /// None of our offers was open.
        case nothing
        /// Agreed anew; where a resume was wanted, it is done.
        case agreed(NegotiatedAudio, endsResume: Bool)
        /// Our stream at port 0; a resume that was wanted is done without sound.
        case audioRemoved(endsResume: Bool)
        /// No answer that can be used: the session is as it was, and a resume that was wanted is refused.
        case unusable(NegotiationError, refusesResume: Bool)
        /// An answer in the clear, where that may not be: the call cannot go on.
        case insecure(NegotiationError)
    }

    /// The 200 to our re-INVITE: what is agreed now.
    package mutating func reanswered(_ response: Message) -> Agreement {
        guard state == .connected, negotiation.state == .haveLocalOffer else { return .nothing }
        // A resume that was asked for while a hold was under way goes out next.
        let endsResume = isResuming && !isOfferDue
        do throws(NegotiationError) {
            let audio = try negotiation.receive(answer: response.body)
            if endsResume { (isResuming, isHeld) = (false, false) }
            return .agreed(audio, endsResume: endsResume)
        } catch {
            switch error {
            case .securityRequired, .noCommonSecurity: return .insecure(error)
            case .refused: return .audioRemoved(endsResume: endsResume)
            default: return .unusable(error, refusesResume: endsResume)
            }
        }
    }

    /// The meaning of a refusal of our re-INVITE.
    package enum Refusal {
        /// The session is as it was.
        case nothing
        /// The offer is due again.
        case again
        case resumeRefused
        /// The far end does not know the dialog.
        case dialogGone
    }

    /// Our re-INVITE was refused: what follows (RFC 3261 §14.1).
    package mutating func refused(_ status: Int) -> Refusal {
        negotiation.rollback()
        if status == 491 {
            // An offer of the far end's came first, which refreshes the session, too.
            guard !isRefreshing else { return .nothing }
            isOfferDue = true
            return .again
        }
        if InviteSession.endsDialog(status) { return .dialogGone }
        return isResuming ? .resumeRefused : .nothing
    }

    /// Another offer came before the far end had answered ours.
    package mutating func withdrawOffer() { negotiation.rollback() }

    /// An offer with what is wanted now is due.
    package mutating func renegotiate() { isOfferDue = true }

    /// The offer that is due. Nil where there is none.
    /// - Parameter canOffer: the dialog has no offer open.
    package mutating func nextOffer(canOffer: Bool, _ describer: some CallDescriber) -> SessionDescription? {
        guard isOfferDue, canOffer, state == .connected else { return nil }
        (isOfferDue, isRefreshing) = (false, false)
        return currentOffer(wantedDirection, describer)
    }

    /// An offer that changes nothing (RFC 4028 §7.4), so that who holds is not asked to resume. Nil where another is due, which refreshes
    /// the session, too.
    package mutating func refreshingOffer(_ describer: some CallDescriber) -> SessionDescription? {
        guard !isOfferDue, state == .connected else { return nil }
        isRefreshing = true
        return currentOffer(negotiation.direction ?? wantedDirection, describer)
    }

    /// The side that has taken the sound away brings it back: an offer of ours has none.
    private mutating func currentOffer(_ direction: Direction, _ describer: some CallDescriber) -> SessionDescription {
        hasNoAudio ? negotiation.offerWithoutAudio() : makeOffer(direction: direction, describer)
    }

    private mutating func makeOffer(direction: Direction, _ describer: some CallDescriber) -> SessionDescription {
        describer.prepareOffer(&negotiation, agreed: agreed)
        return negotiation.offer(direction: direction)
    }

    /// A resume is wanted before it is done.
    package var wantedDirection: Direction { isHeld && !isResuming ? .sendonly : .sendrecv }

    // MARK: Hold

    /// Nobody is to be heard; an offer that says so is due, where there is sound to be held. A resume that was wanted is so no more.
    package mutating func hold() {
        (isHeld, isResuming) = (true, false)
        if !hasNoAudio { isOfferDue = true }
    }

    /// - Returns: whether the far end is to agree first. Not where it has taken its sound away: it brings that back itself.
    package mutating func resume() -> Bool {
        guard !hasNoAudio else {
            resumeWithoutSound()
            return false
        }
        (isResuming, isOfferDue) = (true, true)
        return true
    }

    /// A resume that needs no offer: the far end has taken the sound away.
    package mutating func resumeWithoutSound() { (isResuming, isHeld, isOfferDue) = (false, false, false) }

    /// The offer that is due is wanted no more.
    package mutating func forgetOffer() { isOfferDue = false }

    /// Nobody waits for the resume any more; the call stays held.
    package mutating func giveUpResume() { isResuming = false }

    /// The hold was refused, or nobody was told of it.
    package mutating func cancelHold() { (isHeld, isResuming, isOfferDue) = (false, false, false) }
}
