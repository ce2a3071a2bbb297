import Audio
import Primitives
import RTP
import Runtime
import SDP

// What happens without a packet: sound that is made here, digits, reports, and the lack of packets.
extension MediaEngine {
    /// When `advance` next has something to do; nil while there is nothing to wait for.
    /// It may be earlier than need be, never later.
    public var deadline: Instant? { due == .distantFuture ? nil : due }

    /// Does what is due.
    public func advance(to now: Instant) {
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
            }
        }
    }

    /// Sets every timer of a started leg anew, as its plan wants them.
    func armAll(_ leg: MediaLeg, at now: Instant) {
        if leg.player == nil { arm(leg, .frame, at: nil) }
        if leg.player != nil, leg.timers[.frame] == nil {
            leg.nextFrame = max(leg.nextFrame, now)
            play(leg, at: now)
        }
        arm(leg, .report, at: leg.rtcp.deadline)
        arm(leg, .silence, at: leg.plan.silenceLimit.map { now + $0 })
    }

    func disarmAll(_ leg: MediaLeg) {
        for alarm in LegAlarm.allCases { arm(leg, alarm, at: nil) }
    }

    /// Sets one timer anew; nil only takes it back.
    func arm(_ leg: MediaLeg, _ alarm: LegAlarm, at deadline: Instant?) {
        if let token = leg.timers[alarm] { timers.cancel(token) }
        leg.timers[alarm] = deadline.map { timers.arm((leg.slot, alarm), at: $0) }
        if timers.count == 0 { due = .distantFuture } else if let deadline { due = min(due, deadline) }
    }

    private static var frame: Duration { .milliseconds(frameMilliseconds) }
    /// A clock that is later than this was not late but away, and begins anew: no burst.
    private static var greatestLateness: Duration { .milliseconds(200) }

    /// Sends what is due by the leg's own clock, t0 + n · 20 ms.
    private func play(_ leg: MediaLeg, at now: Instant) {
        if now - leg.nextFrame > Self.greatestLateness { leg.nextFrame = now }
        while leg.nextFrame <= now {
            guard playFrame(leg, at: now) else { return }
            framesDue?.append(leg.nextFrame)
            leg.nextFrame += Self.frame
        }
        arm(leg, .frame, at: leg.nextFrame)
    }

    /// False when there is nothing more to play. While a key is down or the far end does not listen the sound waits.
    private func playFrame(_ leg: MediaLeg, at now: Instant) -> Bool {
        guard let player = leg.player else { return false }
        guard leg.canSend, leg.digits?.isPressing != true else { return true }
        let room = UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...])
        guard let count = player.next(into: room) else {
            leg.player = nil
            report(.sourceFinished, of: leg)
            return false
        }
        let header = leg.stream.originate(
            payloadType: leg.plan.audio.primary.sendPayloadType & 0x7F, samples: player.codec.timestampStep(milliseconds: frameMilliseconds),
            payloadCount: count, at: now)
        header.write(to: outgoing)
        let packet = UnsafeMutableRawBufferPointer(rebasing: outgoing[..<(RTPHeader.fixedSize + count)])
        send(packet, timestamp: header.timestamp, octets: count, timed: true, on: leg, at: now)
        return true
    }

    private func sendDigits(_ leg: MediaLeg, at now: Instant) {
        while let header = leg.digits?.advance(&leg.stream, into: outgoing, at: now) {
            let packet = UnsafeMutableRawBufferPointer(rebasing: outgoing[..<(RTPHeader.fixedSize + TelephoneEvent.size)])
            send(packet, timestamp: header.timestamp, octets: TelephoneEvent.size, timed: false, on: leg, at: now)
        }
        if leg.digits?.isIdle == true {
            leg.digits = nil
            report(.digitsSent, of: leg)
        }
        arm(leg, .digit, at: leg.digits?.deadline)
    }

    private func sendReport(_ leg: MediaLeg, at now: Instant) {
        if let source = leg.latch.source, leg.latch.destination == source { leg.rtpSocket.lock(to: source) }
        if let compound = leg.rtcp.advance(to: now), leg.plan.audio.sendsRTCP {
            let socket = leg.rtcpSocket ?? leg.rtpSocket
            if !compound.withUnsafeBytes({ socket.send($0) }) { leg.refused.sendFailed += 1 }
            report(.report(leg.statistics), of: leg)
        }
        arm(leg, .report, at: leg.rtcp.deadline)
    }

    private func watchSilence(_ leg: MediaLeg, at now: Instant) {
        guard let limit = leg.plan.silenceLimit else { return }
        let due = (leg.recent.lastReceived ?? leg.started) + limit
        guard due <= now, leg.canReceive, leg.plan.audio.remoteHold == .none else { return arm(leg, .silence, at: max(due, now + limit)) }
        if !leg.isSilent {
            leg.isSilent = true
            report(.silent, of: leg)
        }
        arm(leg, .silence, at: now + limit)
    }
}
