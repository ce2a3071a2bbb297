import CLinux
import Glibc

/// Reads the headers of the UDP datagrams that leave this network namespace from ports of a range, of whichever process (packet(7)).
///
/// A datagram that passes several interfaces, as a bridge and its port, is there once for each. What a program at an interface hands up the
/// stack of the same machine (the kernel relay between two ends on loopback) leaves by none.
public struct PacketCapture: ~Copyable {
    /// A datagram that left.
    public struct Packet: Hashable, Sendable {
        /// The time of day at which it left: nanoseconds since 1970.
        public var wall: UInt64
        /// The port that it left from.
        public var port: UInt16
        /// By its first two bytes it is RTP: version 2, and no type of RTCP's (RFC 5761 §4). STUN, DTLS and RTCP are not.
        public var isRTP: Bool

        public init(wall: UInt64, port: UInt16, isRTP: Bool) { (self.wall, self.port, self.isRTP) = (wall, port, isRTP) }
    }

    /// The kernel, or who confines the process, permits no capture; or it has no memory for one. The description is one sentence for a
    /// person.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        public var code: Int32

        /// CAP_NET_RAW is missing.
        public var isForbidden: Bool { code == EPERM || code == EACCES }
        public var description: String {
            "packets cannot be captured: \(isForbidden ? "CAP_NET_RAW is missing" : String(cString: strerror(code)))"
        }
    }

    private let socket: Int32, ring: UnsafeMutableRawPointer
    private var place: UInt32 = 0
    private var part = [clinux_packet](repeating: clinux_packet(), count: 512)

    /// Begins at once.
    /// - Throws: ``Failure``.
    public init(ports: ClosedRange<UInt16>) throws(Failure) {
        var memory: UnsafeMutableRawPointer?
        let raw = clinux_open_capture(ports.lowerBound, ports.upperBound, &memory)
        guard raw >= 0, let memory else { throw Failure(code: errno) }
        (socket, ring) = (raw, memory)
    }

    deinit { clinux_close_capture(socket, ring) }

    /// Appends what has left since the last time, in the order of the kernel's ring, which holds 32,720.
    public mutating func read(into packets: inout [Packet]) {
        while true {
            let count = part.withUnsafeMutableBufferPointer { clinux_read_capture(ring, &place, $0.baseAddress, UInt($0.count)) }
            for packet in part[..<count] { packets.append(Packet(packet)) }
            if count < part.count { return }
        }
    }

    /// Datagrams that left since this was asked last and that the ring had no room for.
    public mutating func losses() -> Int { Int(clinux_capture_losses(socket)) }
}

extension PacketCapture.Packet {
    fileprivate init(_ packet: clinux_packet) {
        let isVersion2 = packet.has_payload != 0 && packet.payload.0 >> 6 == 2, type = packet.payload.1 & 0x7F
        self.init(wall: packet.wall, port: packet.port, isRTP: isVersion2 && !(64...95).contains(type))
    }
}
