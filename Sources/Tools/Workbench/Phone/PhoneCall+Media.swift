import Calls
import Media
import Primitives
import SDP
import UserAgent

// The media side of the call's life.
extension PhoneCall {
    func plan(_ audio: NegotiatedAudio) -> MediaPlan {
        // Sound that is sent back as it came cannot be made silent: silence of our own takes its place.
        let source = isMuted && script.source == .echo ? .quiet : script.source
        var plan = MediaPlan(localAddress: identity.mediaAddress, audio: audio, source: source, sink: script.listens ? .record : .none)
        plan.sendsSilence = isMuted
        return plan
    }

    func open(_ audio: NegotiatedAudio, at now: Instant) throws(MediaError) {
        note(audio)
        do throws(MediaError) { try media.open(plan(audio), at: now) } catch {
            if case .cannotBind = error { record.couldNotBind = true }
            throw error
        }
    }

    /// Notes the codec and the encryption that were agreed, for the record.
    func note(_ audio: NegotiatedAudio) {
        record.codec = audio.primary.codec.name
        record.encryption = MediaEncryption(audio.security)
    }

    /// Everything is agreed and acknowledged: packets may flow.
    func connect(at now: Instant) {
        tellAnswer(at: now)
        guard state == .inviting || state == .answered else { return }
        do throws(MediaError) { try startMedia(at: now) } catch { return fail(Text("media cannot start: ") + Text(error), at: now) }
        state = .connected
        givesUpAt = nil
        if !script.digits.isEmpty { pressesAt = now + script.digitsAfter }
        if let duration = script.duration { hangsUpAt = now + duration }
        report(.connected, at: now)
        if !script.steps.isEmpty, state == .connected { takeSteps(at: now) }
    }

    private func tellAnswer(at now: Instant) {
        guard let audio = signalling.agreed, let port = media.reservation?.rtp else { return }
        let local = SocketAddress(identity.mediaAddress, port: port)
        report(.answered(codec: audio.primary.codec.name, MediaEncryption(audio.security), local: local, remote: audio.remoteRTP), at: now)
    }

    /// Ends an answered call that cannot be.
    func fail(_ failure: Text, at now: Instant) {
        record.failure = record.failure ?? failure
        end(at: now)
        session?.bye(at: now)
    }

    func startMedia(at now: Instant) throws(MediaError) {
        guard try media.start(at: now) else { return }
        noteSoundDue(at: now)
        report(.mediaStarted, at: now)
    }

    /// Whether the other side owes us sound from now on.
    func noteSoundDue(at now: Instant) {
        let isAgreed = signalling.agreed?.receives == true && !signalling.isHeldByRemote
        guard media.isRunning, isAgreed, !isPressing else { return record.soundDueSince = nil }
        record.soundDueSince = record.soundDueSince ?? now
    }

    /// No packet leaves after this; for good, or for a while.
    func stopMedia(ending: Bool = false, at now: Instant) {
        if let interval = media.stop(ending: ending, at: now) { report(.mediaStopped(interval), at: now) }
        guard !ending else { return }
        isPressing = false
        noteSoundDue(at: now)
    }

    /// No packet after this; the session may still have to say BYE.
    func end(at now: Instant) {
        (answersAt, pressesAt, hangsUpAt, givesUpAt, stepsAt) = (nil, nil, nil, nil, nil)
        record.ended = now
        state = .ending
        signalling.enter(.ended)
        stopMedia(ending: true, at: now)
        media.end(at: now)
    }

    /// The session is over.
    func close(at now: Instant) {
        guard state != .closed else { return phone.forget(self) }
        if state != .ending { end(at: now) }
        state = .closed
        record.statistics = media.statistics
        lingersUntil = now + Self.lingering
    }
}
