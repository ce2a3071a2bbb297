import Primitives
import RTP
import SDP

// Connectivity checks come a few times a minute: unlike media they may allocate.
extension MediaEngine {
    /// Answers a check (RFC 7983 §7: the first byte is 0 to 3), also of a leg that is held; false for any other datagram, and where no
    /// checks were agreed on.
    func takesCheck(
        _ datagram: UnsafeMutableRawBufferPointer, from remote: SocketAddress, on leg: MediaLeg, _ channel: MediaSlot.Channel,
        at now: Instant
    ) -> Bool {
        guard let first = datagram.first, first < 4, let connectivity = leg.connectivity else { return false }
        for output in connectivity.receive(Array(datagram), on: channel, from: remote, at: now) {
            switch output {
            case .answer(let bytes):
                let socket = channel == .rtp ? leg.rtpSocket : leg.control.socket
                if socket.map({ socket in bytes.withUnsafeBytes { socket.send($0, to: remote) } }) != true { leg.refused.sendFailed += 1 }
            case .selected(let remote):
                leg.select(remote, channel)
                if leg.state == .started, channel == .rtp || leg.protection?.control != nil { continueHandshake(leg, at: now) }
            }
        }
        leg.refused.checks = connectivity.refused
        return true
    }
}

extension MediaLeg {
    /// The far end is there, for that channel.
    func select(_ remote: SocketAddress, _ channel: MediaSlot.Channel) {
        if channel == .rtp {
            latch.follow(remote)
            rtpSocket.aim(at: remote)
        } else {
            control.source = remote
            control.socket?.aim(at: remote)
        }
    }

    /// Whether it is known where the far end is.
    var isConnected: Bool { connectivity == nil || latch.source != nil }
}
