import Primitives
import RTP
import Runtime
import SDP

// The place where packets are opened before anything else is done with them, and closed after all else. Nothing here allocates.
extension MediaEngine {
    /// Takes a datagram of the handshake between two ports (RFC 7983 §7, RFC 5764 §4.1); false for any other. Until it is done, answers go
    /// to who takes part in it: the far end may have named an address from behind a NAT, and who it is the certificate tells.
    func takesHandshake(
        _ datagram: UnsafeMutableRawBufferPointer, from remote: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel,
        at now: Instant
    ) -> Bool {
        guard let first = datagram.first, 20...63 ~= first else { return false }
        let channel = leg.sharesPort(withControlFrom: remote) ? .rtcp : channel
        guard let protection = leg.protection(of: channel), let handshake = protection.handshake else { return false }
        if let connectivity = leg.connectivity {
            // A browser nominates a second after it has begun: until then its handshake says which of the checked addresses it uses.
            if connectivity.isProvisional(remote, on: channel) { leg.select(remote, channel) }
            guard (channel == .rtp ? leg.latch.source : leg.control.source) == remote else {
                leg.refused.stranger += 1
                return true
            }
        } else if !handshake.isEstablished {
            guard protection.admits(UnsafeRawBufferPointer(datagram), from: remote, isAtHome: leg.isAtHome(remote, channel)) else {
                leg.refused.stranger += 1
                return true
            }
            if channel == .rtcp { leg.control.socket?.aim(at: remote) } else if leg.latch.source == nil { leg.rtpSocket.aim(at: remote) }
        }
        apply(protection.receive(UnsafeRawBufferPointer(datagram)), to: leg, channel, at: now)
        return true
    }

    /// Continues the handshakes of a leg that has started: one that is ours to begin begins, and a flight that was not answered is sent
    /// again.
    func continueHandshake(_ leg: MediaLeg, at now: Instant) {
        guard leg.isConnected else { return }
        for channel in [MediaSlot.Channel.rtp, .rtcp] {
            guard let protection = leg.protection(of: channel), protection.sender == nil else { continue }
            apply(protection.begin(), to: leg, channel, at: now)
        }
    }

    private func apply(_ outputs: [DTLSAssociation.Output], to leg: MediaLeg, _ channel: MediaSlot.Channel, at now: Instant) {
        guard let protection = leg.protection(of: channel) else { return }
        let socket = channel == .rtp ? leg.rtpSocket : leg.control.socket ?? leg.rtpSocket
        let remote = channel == .rtcp && leg.mixesPorts ? leg.plan.audio.remoteRTCP : nil
        for output in outputs {
            switch output {
            case .send(let datagram):
                if !datagram.withUnsafeBytes({ socket.send($0, toward: remote) }) { leg.refused.sendFailed += 1 }
                if let elsewhere = protection.seenElsewhere { _ = datagram.withUnsafeBytes { socket.send($0, to: elsewhere) } }
            case .established(let send, let receive): protection.use(send: send, receive: receive)
            case .failed: failed(protection, on: leg, channel)
            }
        }
        let delays = [leg.protection, leg.protection?.control].compactMap { $0?.retransmissionDelay }
        arm(leg, .handshake, at: delays.min().map { now + $0 })
    }

    /// Something came while our beginning waits for an answer.
    func greet(_ remote: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel, at now: Instant) {
        guard leg.connectivity == nil, let protection = leg.protection(of: channel) else { return }
        guard protection.greets(remote, isAtHome: leg.isAtHome(remote, channel), at: now) else { return }
        let socket = channel == .rtp ? leg.rtpSocket : leg.control.socket ?? leg.rtpSocket
        for datagram in protection.hello { _ = datagram.withUnsafeBytes { socket.send($0, to: remote) } }
    }

    /// Handles a failure of the handshake. A stranger's doing is not the far end's: the handshake begins anew. Without the handshake of its
    /// own port there are no reports, and sound all the same.
    private func failed(_ protection: LegProtection, on leg: MediaLeg, _ channel: MediaSlot.Channel) {
        guard !protection.isWithStranger else {
            protection.beginAnew()
            if channel == .rtcp || leg.latch.source == nil { leg.aim(channel) }
            return
        }
        if channel == .rtp { report(.unprotected, of: leg) }
    }

    /// The packet in the clear; nil, and counted, where it cannot be authenticated.
    func opened(_ packet: UnsafeMutableRawBufferPointer, _ kind: MediaPacketKind, on leg: MediaLeg) -> UnsafeMutableRawBufferPointer? {
        guard let protection = leg.protection?[kind] else { return packet }
        guard let receiver = protection.receiver else {
            leg.refused.forged += 1
            return nil
        }
        do throws(SRTPRefusal) {
            let count = try kind == .rtcp ? receiver.unprotectControl(packet) : receiver.unprotect(packet)
            return UnsafeMutableRawBufferPointer(rebasing: packet[..<count])
        } catch {
            switch error {
            case .malformed: leg.refused.malformed += 1
            case .replayed, .tooOld: leg.refused.replayed += 1
            case .forged, .unencrypted, .spent: leg.refused.forged += 1
            }
            return nil
        }
    }

    /// Media that comes while a leg is stopped is not heard, but the sequence of an encrypted stream must not be lost over a long hold, nor
    /// does it count as lost.
    func follow(_ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg) {
        guard MediaPacketKind(UnsafeRawBufferPointer(packet)) == .rtp else { return }
        guard let protection = leg.protection else { return passOver(packet, from: sender, on: leg) }
        guard let count = try? protection.receiver?.unprotect(packet) else { return }
        passOver(UnsafeMutableRawBufferPointer(rebasing: packet[..<count]), from: sender, on: leg)
    }

    /// Notes a packet that the network brought: it is not lost, though nobody wants it (RFC 3550 §6.4.1).
    func passOver(_ packet: UnsafeMutableRawBufferPointer, from sender: SocketAddress, on leg: MediaLeg) {
        guard leg.latch.source == sender, let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else { return }
        leg.rtcp.receiver.passOver(header)
    }

    /// Sends a packet as the leg is protected, to `remote` or to where the socket sends. False when it did not leave.
    func transmit(
        _ packet: UnsafeRawBufferPointer, _ kind: MediaPacketKind, over socket: any MediaSocket, to remote: SocketAddress? = nil,
        of leg: MediaLeg
    ) -> Bool {
        guard let protection = leg.protection?[kind] else { return socket.send(packet, toward: remote) }
        guard let sender = protection.sender, packet.count <= Self.longestPacket else { return false }
        sealed.copyMemory(from: packet)
        guard
            let count = try? kind == .rtcp
                ? sender.protectControl(sealed, count: packet.count) : sender.protect(sealed, count: packet.count)
        else { return false }
        return socket.send(UnsafeRawBufferPointer(rebasing: sealed[..<count]), toward: remote)
    }
}

extension MediaLeg {
    /// The protection that has the handshake of that port.
    fileprivate func protection(of channel: MediaSlot.Channel) -> LegProtection? { channel == .rtp ? protection : protection?.control }

    /// Whether that is the far end's port of RTCP, which has a handshake of its own with our port of RTP.
    fileprivate func sharesPort(withControlFrom remote: SocketAddress) -> Bool {
        mixesPorts && protection?.control != nil && remote == plan.audio.remoteRTCP
    }

    /// Whether that is the address that the far end has given, or where it was found; the port may be any.
    fileprivate func isAtHome(_ remote: SocketAddress, _ channel: MediaSlot.Channel) -> Bool {
        let told = channel == .rtp ? plan.audio.destination : plan.audio.remoteRTCP, found = channel == .rtp ? latch.source : control.source
        return remote.address == told?.address || remote.address == found?.address
    }
}

extension MediaSocket {
    fileprivate func send(_ packet: UnsafeRawBufferPointer, toward remote: SocketAddress?) -> Bool {
        remote.map { send(packet, to: $0) } ?? send(packet)
    }
}
