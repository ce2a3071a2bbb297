import Audio
import Primitives
import RTP
import Runtime
import SDP

// Work without a packet: sound that is made here, digits, reports, and the lack of packets.
extension MediaEngine {
    /// When `advance` next has something to do; nil while there is nothing to wait for.
    /// It may be earlier than need be, never later.
    public var deadline: Instant? {
        let next = min(due, mixDue)
        return next == .distantFuture ? nil : next
    }

    /// Does what is due.
    public func advance(to now: Instant) {
        mix(at: now)
        guard due <= now else { return }
        defer { due = timers.nextDeadline ?? .distantFuture }
        for (slot, alarm) in timers.advance(to: now) {
            guard let leg = leg(at: slot), leg.state == .started else { continue }
            leg.timers[alarm] = nil
            switch alarm {
            case .frame: play(leg, at: now)
            case .digit: sendDigits(leg, at: now)
            case .report: sendReport(leg, at: now)
            case .silence: watchSilence(leg, at: now)
            case .handshake: continueHandshake(leg, at: now)
            }
        }
    }

    /// Sets every timer of a started leg anew, as its plan wants them.
    func armAll(_ leg: MediaLeg, at now: Instant) {
        continueHandshake(leg, at: now)
        armFrames(leg, at: now)
        arm(leg, .digit, at: leg.ownKeys.digits?.deadline)
        arm(leg, .report, at: leg.rtcp.deadline)
        arm(leg, .silence, at: leg.plan.silenceLimit.map { now + $0 })
    }

    /// Has frames made from now on where there is something to make them, and no more where there is not.
    func armFrames(_ leg: MediaLeg, at now: Instant) {
        guard leg.makesFrames else { return arm(leg, .frame, at: nil) }
        guard leg.timers[.frame] == nil else { return }
        leg.frames.next = max(leg.frames.next, now)
        if phases != nil { takePhase(leg) } else { play(leg, at: now) }
    }

    /// The first frame of the leg is due when its phase begins.
    private func takePhase(_ leg: MediaLeg) {
        leavePhase(leg)
        guard let (phase, begin) = phases?.take(at: leg.frames.next) else { return }
        (leg.frames.phase, leg.frames.next) = (phase, begin)
        arm(leg, .frame, at: begin)
    }

    private func leavePhase(_ leg: MediaLeg) {
        if let phase = leg.frames.phase.take() { phases?.leave(phase) }
    }

    func disarmAll(_ leg: MediaLeg) {
        leavePhase(leg)
        for alarm in LegAlarm.allCases { arm(leg, alarm, at: nil) }
    }

    /// Sets one timer anew; nil only takes it back.
    func arm(_ leg: MediaLeg, _ alarm: LegAlarm, at deadline: Instant?) {
        if let token = leg.timers[alarm] { timers.cancel(token) }
        leg.timers[alarm] = deadline.map { timers.arm((leg.slot, alarm), at: $0) }
        if timers.count == 0 { due = .distantFuture } else if let deadline { due = min(due, deadline) }
    }

    /// A clock that is later than this was not late but away, and begins anew: no burst.
    static var greatestLateness: Duration { .milliseconds(200) }

    /// Sends what is due by the leg's own clock, t0 + n frames.
    private func play(_ leg: MediaLeg, at now: Instant) {
        let length = leg.frameLength
        if now - leg.frames.next > Self.greatestLateness {
            leg.frames.late += 1
            leg.frames.next = now
            leg.stream.pause()   // its clock went on
            guard phases == nil else { return takePhase(leg) }
        }
        while leg.frames.next <= now {
            if now - leg.frames.next >= length { leg.frames.late += 1 }
            guard playKey(leg, at: now) || playFrame(leg, at: now) || transcodeFrame(leg, at: now) else { return }
            framesDue?.append(leg.frames.next)
            leg.frames.next += length
        }
        arm(leg, .frame, at: leg.frames.next)
    }

    /// False when no key is to be heard. What the leg's transcoder has meanwhile goes by unheard. While the far end does not listen the
    /// keys wait.
    private func playKey(_ leg: MediaLeg, at now: Instant) -> Bool {
        guard let player = leg.ownKeys.player else { return false }
        leg.transcoding.transcoder?.skip(at: now)
        if let partner = leg.partner { heardKeys(partner.keys.advance(to: now), on: partner, at: now) }   // whose end was lost
        guard leg.gates.canSend else { return true }
        guard let count = player.next(into: UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...])) else {
            leg.ownKeys.player = nil
            leg.stream.pause()
            report(.digitsSent, of: leg)
            return false
        }
        sendFrame(count, lasting: player.timestampStep, on: leg, at: now)
        return true
    }

    /// False when there is nothing more to play. While a key is down or the far end does not listen the sound waits.
    private func playFrame(_ leg: MediaLeg, at now: Instant) -> Bool {
        guard let player = leg.sound.player else { return false }
        guard leg.gates.canSend, !leg.isSendingKey else { return true }
        let room = UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...])
        guard let count = player.next(into: room) else {
            leg.sound.player = nil
            report(.sourceFinished, of: leg)
            return false
        }
        sendFrame(count, lasting: player.timestampStep, on: leg, at: now)
        return true
    }

    /// False when nothing is transcoded, or nobody speaks any more. While a key is down the sound goes by unheard.
    private func transcodeFrame(_ leg: MediaLeg, at now: Instant) -> Bool {
        guard let transcoder = leg.transcoding.transcoder else { return false }
        guard leg.gates.canSend else { return true }
        let isPressing = leg.isSendingKey || leg.isKeyPassing(at: now)
        switch transcoder.next(into: UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...]), at: now) {
        case .payload(let count) where !isPressing: sendFrame(count, lasting: transcoder.timestampStep, on: leg, at: now)
        case .noise(let count) where !isPressing:
            guard let noise = leg.plan.audio.comfortNoise(for: leg.plan.audio.primary.codec) else { return true }
            leg.turn(to: leg.plan.audio.primary.codec.clockRate)
            let header = leg.stream.originateNoise(
                payloadType: noise.sendPayloadType & 0x7F, samples: transcoder.timestampStep, payloadCount: count, at: now)
            sendMade(header, count, on: leg, at: now)
        case .silence where !isPressing: leg.stream.leaveOut(samples: transcoder.timestampStep, at: now)
        case .nothing where transcoder.receiver.isIdle:
            leg.stream.pause()
            return false
        case .payload, .silence, .noise, .nothing: break
        }
        return true
    }

    /// Sends a frame that was made here, whose payload stands in `outgoing` behind the place of a header: in the clock of our codec,
    /// whatever was relayed before.
    func sendFrame(_ count: Int, lasting samples: UInt32, on leg: MediaLeg, at now: Instant) {
        leg.turn(to: leg.plan.audio.primary.codec.clockRate)
        let header = leg.stream.originate(
            payloadType: leg.plan.audio.primary.sendPayloadType & 0x7F, samples: samples, payloadCount: count, at: now)
        sendMade(header, count, on: leg, at: now)
    }

    /// Sends the payload that stands in `outgoing` behind a header.
    func sendMade(_ header: RTPHeader, _ count: Int, on leg: MediaLeg, timed: Bool = true, at now: Instant) {
        header.write(to: outgoing)
        let packet = UnsafeMutableRawBufferPointer(rebasing: outgoing[..<(RTPHeader.fixedSize + count)])
        send(packet, timestamp: header.timestamp, octets: count, timed: timed, on: leg, at: now)
    }

    /// While the far end does not listen they wait. A key that was down goes on after that: it is the same one, by its timestamp.
    private func sendDigits(_ leg: MediaLeg, at now: Instant) {
        guard leg.gates.canSend else { return }
        while let header = leg.ownKeys.digits?.advance(&leg.stream, into: outgoing, at: now) {
            let packet = UnsafeMutableRawBufferPointer(rebasing: outgoing[..<(RTPHeader.fixedSize + TelephoneEvent.size)])
            send(packet, timestamp: header.timestamp, octets: TelephoneEvent.size, timed: false, on: leg, at: now)
        }
        if leg.ownKeys.digits?.isIdle == true {
            leg.ownKeys.digits = nil
            report(.digitsSent, of: leg)
        }
        arm(leg, .digit, at: leg.ownKeys.digits?.deadline)
    }

    private func sendReport(_ leg: MediaLeg, at now: Instant) {
        refresh(leg)
        leg.rtcp.reducesSize = leg.plan.audio.reducedSizeRTCP
        if let compound = leg.rtcp.advance(to: now, metrics: leg.metrics(leg.statistics(at: now))), leg.plan.audio.sendsRTCP {
            send(compound, on: leg)
            report(.report(leg.statistics(at: now)), of: leg)
        }
        arm(leg, .report, at: leg.rtcp.deadline)
    }

    /// The last report, with BYE (RFC 3550 §6.6); nothing where RTCP has nowhere to go or no RTP went either way.
    func sendByes(_ leg: MediaLeg, at now: Instant) {
        guard leg.plan.audio.sendsRTCP, leg.total.sent.count + leg.total.received.count > 0 else { return }
        send(leg.rtcp.goodbye(at: now, metrics: leg.metrics(leg.statistics(at: now))), on: leg)
    }

    /// Never to the far end's port of RTP where the two are apart (RFC 5761 §5.1.1), also where they shared ours when it was bound.
    private func send(_ compound: [UInt8], on leg: MediaLeg) {
        let remote = leg.mixesPorts ? leg.plan.audio.remoteRTCP : nil
        if leg.mixesPorts, leg.connectivity != nil { return }   // checks have found one place alone
        let socket = leg.plan.audio.rtcpMux ? leg.rtpSocket : leg.control.socket ?? leg.rtpSocket
        if !compound.withUnsafeBytes({ transmit($0, .rtcp, over: socket, to: remote, of: leg) }) { leg.refused.sendFailed += 1 }
    }

    private func watchSilence(_ leg: MediaLeg, at now: Instant) {
        guard let limit = leg.plan.silenceLimit else { return }
        refresh(leg)
        let due = max(leg.packets.received.last ?? leg.run.began, leg.liveness.lastSign ?? .zero) + limit
        guard due <= now else { return arm(leg, .silence, at: due) }
        guard leg.gates.canReceive, leg.plan.audio.remoteHold == .none else { return arm(leg, .silence, at: now + limit) }
        if !leg.liveness.isSilent {
            leg.liveness.isSilent = true
            report(.silent, of: leg)
        }
        arm(leg, .silence, at: now + limit)
    }
}
