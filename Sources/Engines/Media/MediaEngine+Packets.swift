import Audio
import Primitives
import RTP
import SDP

// The way of a packet. Nothing here allocates as long as packets are only passed on.
extension MediaEngine {
    /// A socket has something to read. `token` is what the binder was given; one of a socket that is gone does nothing.
    public func ready(_ token: UInt64, at now: Instant) {
        let (slot, channel) = MediaSlot.read(token)
        guard let leg = leg(at: slot), let socket = channel == .rtp ? leg.rtpSocket : leg.control.socket else { return }
        for _ in 0..<Self.datagramsPerTurn {
            guard let datagram = socket.receive(into: incoming) else { return }
            take(datagram, on: leg, channel, at: now)
            if socket.isSourceVerified { return }
        }
    }

    /// - Parameter waited: it came earlier than `now`, or later, and nobody knows when: no round trip is measured by it.
    private func take(_ datagram: ReceivedDatagram, on leg: MediaLeg, _ channel: MediaSlot.Channel, waited: Bool = false, at now: Instant) {
        let whole = UnsafeMutableRawBufferPointer(rebasing: incoming[..<datagram.count])
        if takesCheck(whole, from: datagram.sender, on: leg, channel, at: now) { return }
        guard leg.state == .started else {
            if datagram.isWhole, takesReport(whole, from: datagram.sender, on: leg, channel, waited: waited, at: now) { return }
            follow(whole, from: datagram.sender, on: leg)
            return leg.refused.notStarted += 1
        }
        guard datagram.isWhole else { return leg.refused.malformed += 1 }
        if takesHandshake(whole, from: datagram.sender, on: leg, channel, at: now) { return }
        let kind = MediaPacketKind(UnsafeRawBufferPointer(whole))
        if let protection = leg.protection, protection.receiver == nil { greet(datagram.sender, on: leg, channel, at: now) }
        if kind == .other, KeepAlive.isOne(UnsafeRawBufferPointer(whole)) { return keptAlive(by: datagram.sender, leg, at: now) }
        guard let packet = opened(whole, kind, on: leg) else { return }
        switch (kind, channel) {
        case (.rtp, .rtp): takeRTP(packet, from: datagram.sender, on: leg, at: now)
        case (.rtcp, .rtp) where leg.control.socket == nil || leg.plan.audio.rtcpMux, (.rtcp, .rtcp):
            takeRTCP(packet, from: datagram.sender, on: leg, channel, waited: waited, at: now)
        default: leg.refused.malformed += 1
        }
    }

    /// No media, and no fault either: the far end is there.
    private func keptAlive(by sender: SocketAddress, _ leg: MediaLeg, at now: Instant) {
        leg.liveness.keepAlives += 1
        if leg.latch.source == sender { (leg.liveness.lastSign, leg.liveness.isSilent) = (now, false) }
    }

    /// Takes what has come on the leg's port of RTCP and was not read. The far end's last report arrives right before its BYE, by another
    /// way: signalling may be the faster one, and stop the leg first.
    func takeWaitingReports(of leg: MediaLeg, at now: Instant) {
        let now = max(now, leg.packets.sent.last ?? now, leg.packets.received.last ?? now)
        let (socket, channel): (any MediaSocket, MediaSlot.Channel) = leg.controlSocket
        for _ in 0..<Self.datagramsPerTurn {
            guard let datagram = socket.receive(into: incoming) else { return }
            take(datagram, on: leg, channel, waited: true, at: now)
        }
    }

    /// While a leg is stopped its far end goes on to tell what it received. False for what is no report, and before the first start.
    private func takesReport(
        _ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel, waited: Bool,
        at now: Instant
    ) -> Bool {
        guard leg.state.wasStarted, channel == leg.controlSocket.channel else { return false }
        guard MediaPacketKind(UnsafeRawBufferPointer(packet)) == .rtcp else { return false }
        if let report = opened(packet, .rtcp, on: leg) { takeRTCP(report, from: sender, on: leg, channel, waited: waited, at: now) }
        return true
    }

    private func takeRTP(_ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg, at now: Instant) {
        if leg.relay.isArmed, sender == leg.latch.source { takeIncoming(of: leg, for: .packet, at: now) }
        guard leg.gates.canReceive else {
            passOver(packet, from: sender, on: leg)
            return leg.refused.notStarted += 1
        }
        guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else { return leg.refused.malformed += 1 }
        let role = leg.role(of: header.payloadType)
        guard role != .unknown else { return leaveOut(header, from: sender, on: leg, at: now) }
        switch leg.latch.admit(header, from: sender) {
        case .refused: return leg.refused.stranger += 1
        case .latched: latched(sender, on: leg, at: now)
        case .accepted: break
        }
        guard leg.packets.rate.admits(now) else { return leg.refused.overRate += 1 }
        if let rate = role.clockRate { leg.rtcp.receiver.turn(to: rate) }
        leg.rtcp.receiver.receive(header, timed: role != .keys, at: now)
        if leg.packets.received.count == 0 { report(.firstReceived(now), of: leg) }
        leg.packets.received.note(now)
        leg.liveness.isSilent = false
        hear(packet, header, role, on: leg, at: now)
        pass(packet, header, role, from: leg, at: now)
    }

    /// Leaves out a packet of no payload type that was agreed on, as some send comfort noise, or keep a NAT open (RFC 6263 §4.6): it is not
    /// passed on, but it is not lost either, and its sender is there.
    private func leaveOut(_ header: RTPHeader, from sender: SocketAddress, on leg: MediaLeg, at now: Instant) {
        leg.refused.payloadType += 1
        guard leg.latch.source == sender else { return }
        leg.rtcp.receiver.passOver(header)
        (leg.liveness.lastSign, leg.liveness.isSilent) = (now, false)
    }

    /// Sends to whoever sends to us. The kernel is asked to refuse all others where the far end is who it said; else the signalled address
    /// may still take over, however late. It is not asked either where reports come to this port from another one: it would refuse them.
    private func latched(_ sender: SocketAddress, on leg: MediaLeg, at now: Instant) {
        takeBack(leg, for: .change, at: now)
        if sender == leg.latch.signalled, !leg.mixesPorts { leg.rtpSocket.lock(to: sender) } else { leg.rtpSocket.aim(at: sender) }
    }

    private func hear(_ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ role: PayloadRole, on leg: MediaLeg, at now: Instant)
    {
        leg.tap?.note(TappedPacket(isSent: false, role, header, at: now), payload(packet, header))
        leg.listener?.note(TappedPacket(isSent: false, role, header, at: now), payload(packet, header))
        switch role {
        case .unknown: break
        case .otherAudio: leg.hearing.receiveUnknown()
        case .noise: leg.hearing.pause()
        case .keys:
            let rate = leg.keyRate(of: header.payloadType)
            if rate != leg.keys.clockRate {
                heardKeys(leg.keys.stop(), on: leg, at: now)
                leg.keys = TelephoneEventReceiver(clockRate: rate)
            }
            heardKeys(leg.keys.receive(payload(packet, header), header: header, at: now), on: leg, at: now)
        case .audio(let codec):
            leg.hearing.receive(payload(packet, header), codec: codec)
            if leg.sound.inbandKeys != nil { heardInband(payload(packet, header), codec, on: leg, at: now) }
            guard let recorder = leg.sound.recorder else { return }
            recorder.receive(payload(packet, header), codec: codec, source: header.ssrc, timestamp: header.timestamp, at: now)
            if recorder.samples.count >= recorder.sampleRate { flush(recorder, of: leg) }
        }
    }

    private func pass(
        _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ role: PayloadRole, from leg: MediaLeg, at now: Instant
    ) {
        if let member = leg.member {
            switch role {
            case .audio(let codec): member.receiver.receive(payload(packet, header), codec: codec, header: header, at: now)
            case .noise: member.receiver.receiveNoise(payload(packet, header), header: header, at: now)
            case .keys, .otherAudio, .unknown: member.receiver.pass(header, at: now)
            }
        } else if let partner = leg.partner, partner.gates.isRelaying {
            if role == .keys, partner.plan.audio.telephoneEvents.isEmpty { return }   // it hears them as sound
            // They wait behind those, from `heard`.
            if role == .keys, partner.ownKeys.digits != nil { return partner.skipKey(header, at: now) }
            if partner.gates.isTranscoding || partner.isSendingKey { endKey(of: leg, by: header, role, over: partner, at: now) }
            if leg.sound.inbandKeys?.isSuspected == true, mutes(packet, header, role, from: leg, over: partner, at: now) { return }
            if role == .keys || partner.gates.isTranscoding, transcode(packet, header, role, from: leg, over: partner, at: now) { return }
            relay(packet, header, role, from: leg, over: partner, at: now)
        } else if leg.plan.source == .echo {
            relay(packet, header, role, from: leg, over: leg, at: now)
        } else if leg.gates.isRelaying {
            leg.refused.noReceiver += 1
        }
    }

    /// False for what can be passed on as it is. Sound is sent when its time has come, keys at once.
    private func transcode(
        _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ role: PayloadRole, from leg: MediaLeg, over other: MediaLeg,
        at now: Instant
    ) -> Bool {
        switch role {
        case .audio(let codec) where other.stream.payloadTypes[header.payloadType] == nil:
            guard other.gates.canSend, let transcoder = transcoder(of: other) else {
                leg.refused.noReceiver += 1
                return true
            }
            defer { armFrames(other, at: now) }
            transcoder.receiver.receive(payload(packet, header), codec: codec, header: header, at: now)
        case .keys:
            other.skipKey(header, at: now)
            guard converts(header, over: other) else { return false }
            convert(payload(packet, header), header, from: leg, over: other, at: now)
        case .audio:
            // The sender changed its codec.
            if let transcoder = other.transcoding.transcoder, !transcoder.receiver.isIdle { transcoder.receiver.pause() }
            return false
        case .noise:
            guard let transcoder = other.transcoding.transcoder, !transcoder.receiver.isIdle else { return false }
            transcoder.receiver.receiveNoise(payload(packet, header), header: header, at: now)
        case .otherAudio, .unknown: return false
        }
        return true
    }

    /// A press goes one way as a whole (RFC 4733 §2.2.1), whatever becomes of the sound beside it meanwhile: as it is where the sound does
    /// so, too.
    private func converts(_ header: RTPHeader, over other: MediaLeg) -> Bool {
        if other.stream.payloadTypes[header.payloadType] == nil || other.passingKey.converter?.knows(header) == true { return true }
        return other.gates.isTranscoding && (other.transcoding.transcoder?.receiver.isIdle == false || !other.stream.follows(header.ssrc))
    }

    /// Keys go over with the other side's number, clock and timestamps.
    private func convert(_ payload: UnsafeRawBufferPointer, _ header: RTPHeader, from leg: MediaLeg, over other: MediaLeg, at now: Instant)
    {
        guard other.gates.canSend, !other.isSendingKey else { return leg.refused.noReceiver += 1 }
        guard let agreed = other.plan.audio.telephoneEvent(for: other.plan.audio.primary.codec), agreed.sendPayloadType < 128 else {
            return leg.refused.payloadType += 1   // it hears them as sound, from `heard`
        }
        var converter = other.passingKey.converter ?? TelephoneEventConverter(from: leg.keys.clockRate, to: agreed.codec.clockRate)
        if converter.incomingRate != leg.keys.clockRate || converter.outgoingRate != agreed.codec.clockRate {
            converter = TelephoneEventConverter(from: leg.keys.clockRate, to: agreed.codec.clockRate)
        }
        defer { other.passingKey.converter = converter }   // what is sent touches the rest of `passingKey`
        converter.convert(payload, header: header) { key in
            if key.begins { other.passingKey.timestamp = other.stream.beginEvent(at: now) }
            other.passingKey.heardAt = now
            let made = other.stream.originateEvent(
                payloadType: agreed.sendPayloadType, timestamp: other.passingKey.timestamp &+ key.segment, marker: key.begins, at: now)
            key.event.write(to: UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...]))
            sendMade(made, TelephoneEvent.size, on: other, timed: false, at: now)
        }
    }

    /// Sound from behind a key says that it is up again, though all its ends were lost: what comes now is to be heard.
    private func endKey(of leg: MediaLeg, by header: RTPHeader, _ role: PayloadRole, over other: MediaLeg, at now: Instant) {
        guard role.clockRate == leg.keys.clockRate, leg.keys.isOver(at: header) else { return }
        other.passingKey.converter?.stop()
        heardKeys(leg.keys.stop(), on: leg, at: now)
    }

    private func relay(
        _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ role: PayloadRole, from leg: MediaLeg, over other: MediaLeg,
        at now: Instant
    ) {
        guard other.gates.canSend, !other.isSendingKey else { return leg.refused.noReceiver += 1 }
        if let rate = role.clockRate { other.turn(to: rate) }
        let isNext = packetRelay != nil && leg !== other && other.stream.isNext(header) && other.stream.goesOn(with: header, at: now)
        switch other.stream.rewrite(packet, header, at: now) {
        case .unmapped: leg.refused.payloadType += 1
        case .stale, .strayed: leg.refused.outOfSequence += 1
        case .rewritten:
            let timestamp = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            send(packet, timestamp: timestamp, octets: header.payloadCount, timed: role != .keys, on: other, at: now)
        }
        if packetRelay != nil { relayed(header, isNext: isNext && role != .keys, from: leg, over: other, at: now) }
    }

    /// The one place where RTP leaves.
    func send(_ packet: UnsafeMutableRawBufferPointer, timestamp: UInt32, octets: Int, timed: Bool, on leg: MediaLeg, at now: Instant) {
        guard leg.gates.canSend else { return }
        if let tap = leg.tap { noteSent(UnsafeRawBufferPointer(packet), on: leg, tap, at: now) }
        if let listener = leg.sentListener { noteSent(UnsafeRawBufferPointer(packet), on: leg, listener, at: now) }
        guard transmit(UnsafeRawBufferPointer(packet), .rtp, over: leg.rtpSocket, of: leg) else { return leg.refused.sendFailed += 1 }
        leg.rtcp.sender.sent(
            timestamp, sequence: UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self)), octets: octets, timed: timed,
            at: now)
        if leg.packets.sent.count == 0 { report(.firstSent(now), of: leg) }
        leg.packets.sent.note(now)
    }

    /// As the far end will hear it, and so what goes between: keys only hold their place.
    private func noteSent(_ packet: UnsafeRawBufferPointer, on leg: MediaLeg, _ tap: RecordingTap, at now: Instant) {
        guard let header = try? RTPHeader(parsing: packet) else { return }
        let payload = UnsafeRawBufferPointer(rebasing: packet[header.payloadOffset..<header.payloadOffset + header.payloadCount])
        tap.note(TappedPacket(isSent: true, leg.role(ofSent: header.payloadType), header, at: now), payload)
    }

    private func takeRTCP(
        _ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel, waited: Bool,
        at now: Instant
    ) {
        guard admitsRTCP(packet, from: sender, on: leg, channel, at: now) else { return leg.refused.stranger += 1 }
        let bytes = UnsafeRawBufferPointer(packet)
        guard let news = try? leg.rtcp.receive(bytes, waited: waited, at: now) else { return leg.refused.malformed += 1 }
        if news.contains(.reported) { leg.guardAgainstLoss() }
        (leg.liveness.lastSign, leg.liveness.isSilent) = (now, false)
        guard channel == .rtcp, leg.control.source != sender else { return }
        leg.control.source = sender
        leg.control.socket?.aim(at: sender)
    }

    /// On the RTP port the latch decides; from a port of its own RTCP must come from the address of the RTP or from where signalling said,
    /// which may take over.
    private func admitsRTCP(
        _ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel, at now: Instant
    ) -> Bool {
        guard channel == .rtcp || leg.mixesPorts && leg.connectivity == nil else {
            switch leg.latch.admit(UnsafeRawBufferPointer(packet), from: sender) {
            case .refused: return false
            case .latched: latched(sender, on: leg, at: now)
            case .accepted: break
            }
            return true
        }
        if leg.connectivity != nil { return leg.control.source == sender }
        if leg.control.source != nil { return sender == leg.control.source || sender == leg.plan.audio.remoteRTCP }
        return sender == leg.plan.audio.remoteRTCP || sender.address == (leg.latch.source ?? leg.plan.audio.remoteRTP).address
    }

    func payload(_ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: packet[header.payloadOffset..<header.payloadOffset + header.payloadCount])
    }
}
