import Media
import Primitives
import UserAgent

/// Puts RTP and RTCP into a trace, RTP with its payload or without.
final class MediaTap: PacketTap {
    private let trace: MessageTrace
    private let isWhole: Bool

    init(_ trace: MessageTrace, isWhole: Bool) { (self.trace, self.isWhole) = (trace, isWhole) }

    func note(isSent: Bool, _ packet: UnsafeRawBufferPointer, local: SocketAddress, remote: SocketAddress) {
        let kept = isWhole ? packet.count : Self.headerLength(of: packet)
        trace.noteMedia(isSent ? .sent : .received, Array(packet[..<kept]), length: packet.count, local: local, remote: remote)
    }

    /// Gives the length that is kept. RTCP has no sound in it and is kept whole (RFC 5761 §4 tells them apart). Of RTP the fixed header,
    /// the CSRCs and the extension are kept (RFC 3550 §5.1, §5.3.1).
    static func headerLength(of packet: UnsafeRawBufferPointer) -> Int {
        guard packet.count >= 12, !(192...223).contains(packet[1]) else { return packet.count }
        let fixed = 12 + 4 * Int(packet[0] & 15)
        guard packet[0] & 0x10 != 0, packet.count >= fixed + 4 else { return min(fixed, packet.count) }
        return min(packet.count, fixed + 4 + 4 * (Int(packet[fixed + 2]) << 8 | Int(packet[fixed + 3])))
    }
}
