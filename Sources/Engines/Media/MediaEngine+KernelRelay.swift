import Primitives
import RTP

// Directions of bridges that a relay has: when one goes there, what is asked of it meanwhile, and when it comes back.
extension MediaEngine {
    /// Notes that a packet was passed on, and hands the direction over when enough were ordinary.
    ///
    /// - Parameter isNext: the packet had the next number of a stream that went on.
    func relayed(_ header: RTPHeader, isNext: Bool, from leg: MediaLeg, over other: MediaLeg, at now: Instant) {
        guard isNext else { return leg.relay.ordinary = 0 }
        leg.relay.ordinary += 1
        guard leg.relay.ordinary >= LegRelay.leastOrdinary, now >= leg.relay.earliest, let relay = packetRelay,
            let route = leg.route(over: other), let types = leg.soundTypes(for: header, over: other)
        else { return }
        let stream = RelayedDirection(
            receiver: leg.rtcp.receiver, sender: other.rtcp.sender, stream: other.stream, payloadTypes: types,
            received: leg.packets.received, sent: other.packets.sent, rate: leg.packets.rate)
        guard relay.arm(route, stream) else { return leg.relay.earliest = now + LegRelay.rest }
        leg.relay.begin(route)
        relayCounts.armed += 1
        relayCounts.armings += 1
        report(.relayArmed(RelayArming(number: leg.relay.armings)), of: leg)
    }

    /// Packets may have other ways than before: all directions come back, and go there again by what is true then.
    func waysHaveChanged(at now: Instant) {
        guard relayCounts.armed > 0 else { return }
        for leg in legs.compactMap(\.self) { takeIncoming(of: leg, for: .change, at: now) }
    }

    /// Takes back both directions of a leg's bridge: something about it is about to change.
    func takeBack(_ leg: MediaLeg, for end: RelayEnd, at now: Instant) {
        takeIncoming(of: leg, for: end, at: now)
        if let partner = leg.partner { takeIncoming(of: partner, for: end, at: now) }
    }

    /// Takes back the direction that a leg receives.
    func takeIncoming(of leg: MediaLeg, for end: RelayEnd, at now: Instant) {
        guard let route = leg.relay.route.take() else { return }
        if let stream = packetRelay?.disarm(route) { settle(stream, leg) }
        leg.relay.end(for: end, at: now)
        report(.relayTaken(leg.relay.arming, end), of: leg)
        relayCounts.armed -= 1
        switch end {
        case .packet: relayCounts.takenForPacket += 1
        case .change: relayCounts.takenForChange += 1
        case .stop: relayCounts.takenForStop += 1
        }
    }

    /// Brings the figures of a leg up to date, of what comes and of what leaves.
    func refresh(_ leg: MediaLeg) {
        guard let relay = packetRelay else { return }
        for end in [leg, leg.partner].compactMap(\.self) {
            if let route = end.relay.route, let stream = relay.read(route) { settle(stream, end) }
        }
    }

    /// The direction that `leg` receives is as the relay has it.
    private func settle(_ relayed: RelayedDirection, _ leg: MediaLeg) {
        // Two processors that have packets of one direction may lose a count: a later reading can be less.
        if relayed.received.count > leg.packets.received.count {
            let new = relayed.received.count - leg.packets.received.count
            leg.liveness.isSilent = false
            leg.relay.packets += new
            relayCounts.packets += new
        }
        leg.rtcp.receiver.goOn(as: relayed.receiver)
        leg.packets.received = relayed.received
        leg.packets.rate = relayed.rate
        let dropped = leg.relay.note(relayed.dropped)
        leg.refused.overRate += dropped.overRate
        leg.refused.sendFailed += dropped.noMemory
        relayCounts.dropped = relayCounts.dropped + dropped
        if let last = relayed.last, case .audio(let codec) = leg.role(of: last.payloadType) {
            leg.hearing.goOn(lastPayload: last.octets, codec: codec)
        }
        guard let partner = leg.partner else { return }
        partner.stream = relayed.stream
        partner.rtcp.sender.goOn(as: relayed.sender)
        partner.packets.sent = relayed.sent
    }
}
