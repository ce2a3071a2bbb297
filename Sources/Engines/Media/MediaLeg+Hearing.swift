import Audio
import Primitives
import RTP
import SDP

// Whether each direction of a leg is heard: the verdict on one-way audio. It rests on what passes anyway; nothing is decoded for it.
extension MediaLeg {
    /// The verdict on the sound from the far end; nil until it is measured, and where none was due.
    func incomingVerdict(at now: Instant) -> DirectionVerdict? {
        state == .started ? presentIncoming(at: now) ?? past.verdicts.beforeHold.incoming : past.verdicts.atStop.incoming
    }

    /// The verdict on the sound to the far end; nil until it is measured, and where none was due. In a bridge it is that of the other leg.
    func outgoingVerdict(at now: Instant) -> DirectionVerdict? {
        state == .started ? presentOutgoing(at: now) ?? past.verdicts.beforeHold.outgoing : past.verdicts.atStop.outgoing
    }

    private func presentIncoming(at now: Instant) -> DirectionVerdict? {
        guard isDue, now - run.hearingBegan >= HearingMeter.timeout else { return nil }
        guard packets.received.count > run.packetsBefore, let last = packets.received.last else {
            return DirectionVerdict(.nothing, by: .packets)
        }
        if now - last >= HearingMeter.lapse { return DirectionVerdict(hearing.isPaused ? .paused : .nothing, by: .packets) }
        if hearing.sound != .paused, let decoded = receiver?.verdict { return decoded }
        return hearing.sound.map { DirectionVerdict($0, by: hearing.basis) }
    }

    private func presentOutgoing(at now: Instant) -> DirectionVerdict? {
        guard gates.canSend, now - run.began >= HearingMeter.timeout else { return nil }
        switch plan.source {
        case .silence: return nil
        case .relay:
            let said = partner.map { $0.incomingVerdict(at: now) } ?? past.verdicts.ofPartner
            return said?.sound == .heard && packets.sent.count == 0 ? DirectionVerdict(.nothing, by: .packets) : said
        case .echo: return incomingVerdict(at: now)
        // A conference in which nobody else speaks is silent by right.
        case .conference: return member?.hasHeardOthers == true ? DirectionVerdict(.heard, by: .level) : nil
        case .tone, .samples, .stream: return DirectionVerdict(packets.sent.count > 0 ? .heard : .nothing, by: .packets)
        }
    }

    /// Sound of the far end's is expected: neither side holds.
    private var isDue: Bool { plan.isDue }

    /// Measures from a start on.
    func beginHearing(at now: Instant) {
        (hearing, run.hearingBegan, run.packetsBefore) = (HearingMeter(), now, packets.received.count)
        past.verdicts = LegVerdicts()
    }

    /// Keeps what was measured: the stream stops.
    func endHearing(at now: Instant) {
        if state == .started { past.verdicts.atStop = (incomingVerdict(at: now), outgoingVerdict(at: now)) }
    }

    /// A plan is about to change: what was measured until now counts where nothing is measured after it.
    func pauseHearing(at now: Instant) {
        if state == .started { past.verdicts.beforeHold = (incomingVerdict(at: now), outgoingVerdict(at: now)) }
    }

    /// A new plan holds, or does no more: what comes is measured anew.
    func resumeHearing(after old: MediaPlan, at now: Instant) {
        guard state == .started, plan.isDue != old.isDue || plan.audio.remoteRTP != old.audio.remoteRTP else { return }
        (hearing, run.hearingBegan, run.packetsBefore) = (HearingMeter(), now, packets.received.count)
    }
}

extension MediaPlan {
    /// Sound of the far end's is expected.
    fileprivate var isDue: Bool { audio.receives && audio.remoteHold == .none }
}

extension AudioReceiver {
    /// The verdict on the sound that was decoded since the last pause; nil before it was enough to say.
    fileprivate var verdict: DirectionVerdict? {
        if hasSound { return DirectionVerdict(.heard, by: .level) }
        return decodedPackets >= HearingMeter.leastPackets ? DirectionVerdict(.silent, by: .level) : nil
    }
}
