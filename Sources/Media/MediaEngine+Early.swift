import Primitives
import RTP

// An answerer is ready to receive as soon as its answer has left (RFC 3264 §6.1), and media starts a moment behind that.
extension MediaEngine {
    /// How long a datagram may have waited for the start, and how many of a leg wait.
    private static var patience: Duration { .milliseconds(100) }
    private static var mostEarly: Int { 16 }

    /// Keeps what comes before the first start of a leg. RTCP is not worth it: there will be more.
    func keepsEarly(
        _ datagram: ReceivedDatagram, _ bytes: UnsafeMutableRawBufferPointer, on leg: MediaLeg, _ channel: MediaSlot.Channel, at now: Instant
    ) -> Bool {
        guard leg.hasYetToStart, datagram.isWhole, let first = bytes.first else { return false }
        guard 20...63 ~= first || MediaPacketKind(UnsafeRawBufferPointer(bytes)) == .rtp else { return false }
        if leg.early.count == Self.mostEarly {
            leg.early.removeFirst()
            leg.refused.notStarted += 1
        }
        leg.early.append(EarlyDatagram(bytes: Array(bytes), sender: datagram.sender, channel: channel, arrival: now))
        return true
    }

    /// Takes what came a moment before the start as if it came now. What is older is left out: it was for somebody who was not there yet.
    func takeEarly(_ leg: MediaLeg, at now: Instant) {
        let early = leg.early
        leg.early = []
        for datagram in early {
            guard now - datagram.arrival <= Self.patience else {
                leg.refused.notStarted += 1
                continue
            }
            incoming.copyBytes(from: datagram.bytes)
            take(ReceivedDatagram(count: datagram.bytes.count, sender: datagram.sender), on: leg, datagram.channel, at: now)
        }
    }
}

/// What came before its leg was started.
struct EarlyDatagram {
    var bytes: [UInt8]
    var sender: SocketAddress
    var channel: MediaSlot.Channel
    var arrival: Instant
}
