import CallJournal
import Calls
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// Actions of the app's provider delegate on a call. Each returns when all of it has happened that the action stands for.
extension AppCall {
    /// Takes an INVITE: 100, its offer, a port number. False when it was refused and no call has come of it.
    func take(_ session: InviteSession) -> Bool {
        scribe.trace(session.request, .received, false, over: FlowLabel(session.flow), at: now)
        session.delegate = self
        session.respond(status: 100, at: now)
        do throws(NegotiationError) {
            try call.take(offer: session.request.content, self)
            if offeredCodecs.isEmpty { throw .noCommonCodec }
        } catch {
            session.respond(status: error.status, at: now)
            return false
        }
        do { try media.reserve(call.negotiation.ports, at: now) } catch {
            scribe.write(.mediaRefused, at: now, [.cause: "no-port"])
            session.respond(status: 503, headers: [(.retryAfter, "5")], at: now)
            return false
        }
        listenOnReservation()
        overdueAt = now + line.settings.reportLimit
        return true
    }

    var offeredCodecs: [Codec] {
        let ours = call.negotiation.local.codecs
        guard let offer = call.negotiation.remoteOffer else { return ours }
        return offer.codecs.filter { codec in ours.contains { $0.matches(codec) } }
    }

    /// 180: the report was accepted. A reliable one to an INVITE without an offer would have to hold ours (RFC 3262 §5), before the user
    /// has taken the call: such a caller waits with the 100 alone.
    func ring() -> Bool {
        guard direction == .incoming, standing == .known, let session else { return false }
        guard state == .new else { return state == .ringing }
        call.enter(.ringing)
        return session.request.content.isEmpty && session.ringsReliably || session.respond(status: 180, at: now)
    }

    /// reserve < configure < INVITE.
    func dial(_ target: URI) -> Bool {
        guard direction == .outgoing, state == .new, configure() else { return false }
        let from = NameAddress(displayName: line.settings.displayName, uri: URI(user: line.settings.number, host: line.settings.domain))
        var invite = OutgoingInvite(target: target, flow: flow, from: from, to: NameAddress(uri: target))
        invite.credentials = line.settings.credentials
        invite.body = call.invite(self).serialized()
        invite.offerAfterRefusal = { [weak self] in self?.call.negotiation.offerSecurely()?.serialized() }
        call.enter(.calling)
        session = line.agent.invite(invite, delegate: self, at: now)
        return true
    }

    /// configure < open < 200.
    func answer() -> Bool {
        guard direction == .incoming, state == .ringing || state == .new, standing == .known, networkEnd == nil, let session, configure()
        else { return false }
        guard var description = try? call.describe(self) else { return failAnswer(.notAcceptable) }
        guard let isElsewhere = open(call.planned) else { return failAnswer(.mediaFailed) }
        if isElsewhere { description = call.negotiation.restated() }
        if let credentials = line.settings.credentials { session.authenticate(as: credentials) }
        session.respond(status: 200, body: description.serialized(), at: now)
        call.enter(.connected)
        return true
    }

    private func failAnswer(_ cause: EndCause) -> Bool {
        endCause = cause
        return false
    }

    /// stop, then tell the far end; its answer is not waited for (mapping §6). One that has not answered the call yet is told when it has.
    func hold() {
        guard state != .ended, !call.isHeld || resume != nil else { return }
        endResume(false)
        call.hold()
        stopMedia(holding: true)
        offerWhenPossible()
    }

    /// - Parameter completion: true when the other side has agreed; packets flow after that.
    func takeBack(_ completion: @escaping (Bool) -> Void) {
        guard state == .connected, call.isHeld else {
            // Before that nobody was told of the hold.
            if state != .connected { call.cancelHold() }
            return completion(state != .ended)
        }
        endResume(false)
        isSilenced = false
        guard call.resume() else { return completion(true) }
        resume = completion
        offerWhenPossible()
    }

    /// Hears, too, whether the other side has agreed to be taken back.
    func awaitResume(_ completion: @escaping (Bool) -> Void) {
        let first = resume
        resume = { isAgreed in
            first?(isAgreed)
            completion(isAgreed)
        }
    }

    func endResume(_ isAgreed: Bool) {
        let waiting = resume
        resume = nil
        if !isAgreed { call.giveUpResume() }
        waiting?(isAgreed)
    }

    /// As `endResume(false)`, but while the system speaks: the app, which may answer it, hears of it when the system is done.
    func giveUpResume() {
        guard let waiting = resume.take() else { return }
        call.giveUpResume()
        line.later { waiting(false) }
    }

    /// CallKit has given the action up, and the call stays on hold: whatever the far end says to our offer, it is held again.
    func abandonResume() {
        guard resume != nil else { return }
        giveUpResume()
        renegotiate()
    }

    func setMuted(_ muted: Bool) {
        guard isMuted != muted else { return }
        isMuted = muted
        refreshPlan()
    }

    /// The keys of a dial string, with its pauses: `,` is two seconds, and what stands behind `;` waits until keys are played again. False
    /// for what is no key, or when none can be carried.
    func dialKeys(_ keys: String) -> Bool {
        guard state == .connected, keys.allSatisfy({ Self.pauses.contains($0) || DTMFDigit($0) != nil }) else { return false }
        guard let waiting = waitingKeys.take() else { return play(keys[...]) }
        guard let until = waiting.until else { return play((waiting.keys + keys)[...]) }
        waitingKeys = ((waiting.keys + keys)[...], until)
        return true
    }

    /// Keys that cannot be sent when their pause is over, as while the call is held, wait until keys are played again.
    func playAfterPause(_ keys: Substring) { if !play(keys), state == .connected { waitingKeys = (keys, nil) } }

    private func play(_ keys: Substring) -> Bool {
        waitingKeys = nil
        let run = keys.prefix { !Self.pauses.contains($0) }, rest = keys.dropFirst(run.count)
        guard run.isEmpty || send(run.compactMap(DTMFDigit.init)) else { return false }
        guard let pause = rest.first else { return true }
        waitingKeys = (rest.dropFirst(), pause == "," ? now + Self.keyTime * run.count + .seconds(2) : nil)
        return true
    }

    private static let pauses: Set<Character> = [",", ";"]
    /// The time that a key takes with the silence behind it: a pause begins when they have been heard.
    private static let keyTime = TelephoneEventSender.usualPress + TelephoneEventSender.usualPause

    /// One after the other. False when the call cannot carry them.
    private func send(_ digits: [DTMFDigit]) -> Bool {
        guard media.state == .started else { return false }
        let keys = digits.compactMap { $0.character.asciiValue.map { DTMFPress(key: $0, duration: nil) } }
        if call.agreed?.telephoneEvents.isEmpty == true, session?.tell(keys, at: now) == true { return true }
        do throws(MediaError) { try line.plane.send(digits, on: media.id, at: now) } catch { return false }
        return true
    }

    /// The far ends hear one another through us: two by relay, more in a conference, which a third makes of two. Whoever talked with others
    /// leaves them. False where there is no media to join, or two do not speak a codec of each other's.
    func join(_ other: AppCall) -> Bool {
        if partner == other.uuid || conference.map({ $0 == other.conference }) == true { return true }
        guard media.state.isOpen, other.media.state.isOpen, let mine = call.agreed, let theirs = other.call.agreed else {
            return false
        }
        part()
        if other.partner != nil || other.conference != nil {
            confer(with: other)
            return true
        }
        guard mine.primary.codec.matches(theirs.primary.codec) else { return false }
        (partner, other.partner) = (other.uuid, uuid)
        refreshPlan()
        other.refreshPlan()
        media.link(to: other.media, at: now)
        return true
    }

    private func confer(with other: AppCall) {
        let number = other.conference ?? line.nextConference(), third = other.partner.flatMap { line.calls[$0] }
        if other.partner != nil { other.part() }
        for call in [other, third, self].compactMap(\.self) where call.conference != number {
            call.conference = number
            call.refreshPlan()
        }
    }

    /// Hears nobody any more through us, and neither does the last one of a conference.
    func part() {
        if let number = conference.take() {
            if state != .ended { refreshPlan() }
            let others = line.callsInOrder.filter { $0.conference == number }
            if others.count == 1 { others[0].part() }
        }
        guard let partner else { return }
        let other = line.calls[partner]
        if media.state.isOpen { try? line.plane.unlink(media.id) }
        self.partner = nil
        other?.partner = nil
        if state != .ended { refreshPlan() }
        if other?.state != .ended { other?.refreshPlan() }
    }
}
