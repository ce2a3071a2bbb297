import Audio
import CallKit
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// Events of the media plane about a connected leg.
extension Leg {
    func heard(_ event: MediaEvent) {
        switch event {
        case .digit(let digit):
            note(digit)
            // A key of a far end without events is sound, which the other one hears.
            if call.agreed?.telephoneEvents.isEmpty == false, let peer = context.table.peer(of: self), peer.keysBySignalling {
                _ = peer.tell(digit)
            }
        case .firstReceived:
            sound.hasHeard = true
            timer.disarm(.firstMedia, of: self)
        // One that was never heard has a limit of its own.
        case .silent: if sound.hasHeard { fellSilent() }
        case .unprotected: end(.reported(.failed, .mediaFailed))
        case .sourceFinished: context.leg(self, did: .sourceFinished)
        case .relayArmed(let arming): media.note(armed: arming, at: now)
        case .relayTaken(let arming, let end): media.note(taken: arming, end, at: now)
        case .firstSent, .digitsSent, .recorded, .report: break
        }
    }

    func note(_ digit: DTMFDigit) {
        scribe.write(.dtmfReceived, at: now, [.digits: .init(String(digit.character))])
        context.leg(self, did: .digit(digit))
    }

    /// The far end knows no telephone-event, and takes INFO.
    var keysBySignalling: Bool { call.agreed?.telephoneEvents.isEmpty == true && session?.takesInfo == true }

    private func tell(_ digit: DTMFDigit) -> Bool {
        digit.character.asciiValue.flatMap { session?.tell([DTMFPress(key: $0, duration: nil)], at: now) } ?? false
    }

    func heardNothing() {
        guard !sound.hasHeard, isToBeHeard else { return }
        fellSilent()
    }

    /// The far end may send by what was agreed, and nobody holds.
    private var isToBeHeard: Bool { call.agreed?.receives == true && !call.isHeld && !call.isHeldByRemote && !call.hasNoAudio }

    private func fellSilent() {
        guard !call.isHeld, !call.isHeldByRemote else { return }
        end(.reported(.failed, .mediaTimeout))
    }
}

/// Control of its media.
extension Leg {
    /// The system gave the call its audio session.
    func audioIsOn() {
        sound.hasSession = true
        startMedia()
    }

    /// Packets flow where the leg has its audio session, is connected, agreed and not held.
    func startMedia() {
        guard sound.hasSession, state == .connected, !call.hasNoAudio, !call.isHeld, media.state.isOpen, media.state != .started,
            call.agreed != nil
        else { return }
        context.leg(self, did: .startsMedia)
        media.start(at: now)
        updateStream()
        expectMedia()
    }

    /// The far end has its time to be heard from here on, if it may send.
    func expectMedia() {
        guard !sound.hasHeard, isToBeHeard else { return }
        timer.arm(.firstMedia, of: self, after: context.table.shortest(\.configuration.firstMediaTimeout, on: self))
    }

    /// Two talk with each other from here on: the limits of media are theirs.
    func limitMedia() {
        guard let audio = call.agreed, !call.hasNoAudio else { return }
        media.update(plan(for: audio), at: now)
        if media.state == .started { expectMedia() }
    }

    /// The plan of the leg's media by what was agreed.
    func plan(for audio: NegotiatedAudio) -> MediaPlan {
        let silence = context.table.shortest(\.configuration.mediaTimeout, on: self)
        var plan = MediaPlan(localAddress: context.policy.addresses.binding(flow), audio: audio, source: source, silenceLimit: silence)
        if call.isHeld { plan.audio.sends = false }
        plan.sendsSilence = sound.isMuted
        plan.detectsDTMF = configuration.media.detectsDTMF || application?.takesDigits == true
        plan.keysBySignalling = audio.telephoneEvents.isEmpty && session?.takesInfo == true
        plan.recording = media.recording.flatMap { $0.isOver ? nil : $0.tap }
        (plan.listener, plan.sentListener) = (sound.stream?.listener, sound.stream?.sentListener)
        return plan
    }

    /// Its stream rests while somebody holds, and its media follows.
    func updateStream() {
        guard let stream = sound.stream else { return }
        stream.pause(call.isHeld || call.isHeldByRemote || call.hasNoAudio, at: now)
        renewPlan()
    }

    /// The source of its sound, or the listener to it, has changed.
    func renewPlan() { if let agreed = call.agreed { media.update(plan(for: agreed), at: now) } }

    private var source: MediaSource {
        // In a conference the others go on hearing it.
        if case .conference(let number) = sound.place { return .conference(number) }
        if sound.isMuted { return .quiet }
        if let music = hold.music ?? waitingMusic { return .samples(music.samples, sampleRate: music.sampleRate, loops: true) }
        return sound.place == .alone ? .quiet : application?.source ?? .relay
    }

    /// Music for a call that is alone: that of its line.
    private var waitingMusic: WAV? {
        guard sound.place == .alone, case .sound(let music) = line.configuration.holdMusic else { return nil }
        return music
    }

    /// nil: no more. False, and as it was, where the leg's codec cannot be made here.
    func playHoldMusic(_ music: WAV?) -> Bool {
        guard let agreed = call.agreed, media.state.isOpen else { return false }
        let before = hold.music
        hold.music = music
        guard media.update(plan(for: agreed), at: now) else {
            hold.music = before
            return false
        }
        scribe.write(.holdMusic, at: now, [.on: .init(music != nil)])
        return true
    }

    /// Takes over what was agreed anew within the call.
    func adopt(_ audio: NegotiatedAudio) {
        // One that only sent from its first description on was no hold, until it sends no more.
        let fellSilent =
            call.agreed?.remoteHold == .sendonly && audio.remoteHold.isSilent
            && context.table.bridge(of: self)?.isHolding(uuid) == false
        if call.agreed != audio || call.hasNoAudio {
            scribe.write(.mediaUpdated, at: now, [.codec: .init(audio.primary.codec.name), .remote: .init("\(audio.remoteRTP)")])
        }
        let wasToBeHeard = isToBeHeard
        let (wasHeld, wasMissing) = (call.isHeldByRemote && !fellSilent, call.hasNoAudio)
        call.adopt(audio)
        media.update(plan(for: audio), at: now)
        if call.isHeldByRemote { updateStream() }
        if wasMissing { startMedia() } else if !wasToBeHeard { expectMedia() }
        if wasHeld != call.isHeldByRemote {
            scribe.write(
                .remoteHold, at: now, [.on: .init(call.isHeldByRemote), .onHold: .init(line.system.call(uuid)?.isOnHold ?? false)])
        }
        updateStream()
        if call.isHeldByRemote != (wasHeld || wasMissing) { context.table.tell(bridge, .remoteHold(uuid, call.isHeldByRemote)) }
    }

    /// Held by its first description already, to be told once its bridge knows that it is connected. One that only sends is heard, as an
    /// announcement is.
    func tellFirstHold() {
        guard state == .connected, call.agreed?.remoteHold.isSilent == true else { return }
        scribe.write(.remoteHold, at: now, [.on: .init(true), .onHold: .init(line.system.call(uuid)?.isOnHold ?? false)])
        context.table.tell(bridge, .remoteHold(uuid, true))
    }

    func stopRemovedAudio() { media.stop(at: now) }

    /// The other leg of the bridge is held meanwhile.
    func audioIsGone() { context.table.tell(bridge, .remoteHold(uuid, true)) }
}
