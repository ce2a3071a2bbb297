import CallKit
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// Actions of the provider's delegate on a leg. Each returns when everything has happened that the action stands for.
extension Leg {
    /// reserve < configure < INVITE.
    func performStart() -> Bool {
        guard state == .new, let destination else { return false }
        do { try media.reserve(call.negotiation.ports, at: now) } catch {
            scribe.write(.mediaRefused, at: now, [.cause: "no-port"])
            context.leg(self, did: .hasNoPort(.ports))
            endCause = .noPort(retryAfter: configuration.limits.retryAfter)
            return false
        }
        listenOnReservation()
        media.configure(at: now, codecs: codecNames)
        session = context.invite(from: self, to: destination.value, offer: call.invite(self).serialized())
        call.enter(.calling)
        // A call to ourselves rings for as long as it does where it arrives, and one that is adopted is up.
        if !destination.value.isToOurselves, destination.value.adoption == nil {
            timer.arm(.ring, of: self, after: lines.called.configuration.ringTimeout)
        }
        if destination.value.isSilent { context.leg(self, did: .silent) }
        if destination.value.isDevice { timer.arm(.silence, of: self, after: Self.longestSilence) }
        return true
    }

    /// configure < open < 200.
    func performAnswer() -> Bool {
        guard direction == .incoming, state == .ringing, let session else { return false }
        media.configure(at: now, codecs: codecNames)
        guard var description = try? call.describe(self) else { return failAnswer(.notAcceptable) }
        do throws(MediaError) {
            let isElsewhere = try media.openSomewhere(plan(for: call.planned), near: context.table.peer(of: self)?.media.id, at: now)
            listenOnReservation()
            if isElsewhere { description = call.negotiation.restated() }
        } catch {
            return failAnswer(mediaRefused(error))
        }
        if let peer = context.table.peer(of: self) { media.link(to: peer.media, at: now) }
        session.respond(status: 200, headers: passedHeaders, body: description.serialized(), at: now)
        passedHeaders = []
        connected()
        return true
    }

    private func failAnswer(_ cause: EndCause) -> Bool {
        if cause == .notAcceptable { scribe.write(.mediaRefused, at: now, [.cause: "codec"]) }
        endCause = cause
        signalEnd(cause)
        return false
    }

    /// Ends a call whose media could not be opened, on other ports neither.
    func mediaRefused(_ error: MediaError) -> EndCause {
        guard case .cannotBind = error else {
            scribe.write(.mediaRefused, at: now, [.cause: "media-failed"])
            return .mediaFailed
        }
        scribe.write(.mediaRefused, at: now, [.cause: "bind"])
        context.leg(self, did: .hasNoPort(.portTaken))
        return .portTaken(retryAfter: configuration.limits.retryAfter)
    }

    /// stop, then tell the far end; its answer is not waited for (mapping §6).
    func performHold() {
        guard state == .connected, !call.isHeld || hold.resume != nil || timer.isArmed(.resume, of: self) else { return }
        // A resume that still waits for its answer, or for its next attempt, is overtaken.
        hold.resume?.fail()
        hold.resume = nil
        hold.attempts = 0
        timer.disarm(.resume, of: self)
        call.hold()
        sound.hasSession = false
        media.stop(holding: true, at: now)
        updateStream()
        offerWhenPossible()
    }

    /// Fulfilled by the 2xx to the re-INVITE, failed by its refusal.
    func performResume(_ action: CXSetHeldCallAction) {
        guard state == .connected, call.isHeld else { return action.fulfill() }
        hold.resume?.fail()
        guard call.resume() else { return resumed(action) }
        hold.resume = action
        offerWhenPossible()
    }

    /// Nobody is held any more.
    func resumed(_ action: CXSetHeldCallAction) {
        (hold.resume, hold.attempts) = (nil, 0)
        action.fulfill()
    }

    /// The system gave the action up; the re-INVITE may still be answered, and the resume is wanted all the same.
    func resumeTimedOut() {
        hold.resume = nil
        call.giveUpResume()
        timer.arm(.resume, of: self, after: Self.resumeInterval)
    }

    /// The far end refused the resume and stays held, while the other leg of the bridge talks to nobody: the resume is asked for again,
    /// and after `Limits.resumeAttempts` refusals the call ends, so that nobody is left in a call that is silent.
    func resumeFailed() {
        hold.resume?.fail()
        hold.resume = nil
        call.giveUpResume()
        hold.attempts += 1
        guard hold.attempts < configuration.limits.resumeAttempts else {
            return end(.reported(.failed, .resumeRefused))
        }
        timer.arm(.resume, of: self, after: Self.resumeInterval)
    }

    private static var resumeInterval: Duration { .seconds(2) }

    /// Silence is sent in the place of the sound; the far end is not told. False where there is no conversation.
    func performMuted(_ isMuted: Bool) -> Bool {
        guard state == .connected, sound.isMuted != isMuted else { return state == .connected }
        sound.isMuted = isMuted
        guard let agreed = call.agreed, media.state.isOpen else { return true }
        return media.update(plan(for: agreed), at: now)
    }

    /// One after the other, as events or by INFO. False for what is no key, and where the call cannot carry them.
    func performKeys(_ keys: String) -> Bool {
        let digits = keys.compactMap(DTMFDigit.init)
        guard state == .connected, !digits.isEmpty, digits.count == keys.count else { return false }
        guard keysBySignalling else { return media.send(digits, at: now) }
        return session?.tell(digits.compactMap { $0.character.asciiValue.map { DTMFPress(key: $0, duration: nil) } }, at: now) ?? false
    }

    /// One that is called for another one joins its conversation; others move from one to the other.
    func performGroup(with other: UUID?) -> Bool {
        guard let other else { return context.part(self) }
        guard let peer = line.legs[other] else { return false }
        if state == .connected, peer.state == .connected { return context.group(self, with: peer) }
        guard bridge == nil || bridge == peer.bridge else { return false }
        bridge = peer.bridge
        media.link(to: peer.media, at: now)
        return true
    }

    /// A re-INVITE that changes nothing (RFC 4028 §7.4); one that is due anyway refreshes the session, too.
    func refresh() {
        guard let offer = call.refreshingOffer(self) else { return offerWhenPossible() }
        session?.reinvite(body: offer.serialized(), at: now)
    }
}
