import Audio
import Glibc
import Media
import Primitives
import RTP
import Runtime
import Synchronization

/// The telephones of all legs: threads with a socket each that send every leg a packet of sound every few milliseconds, and read what
/// comes.
final class FarEnds: Sendable {
    /// Of one leg.
    struct Line: Sendable {
        let port: UInt16
        let isOpus: Bool
        /// Which socket is its telephone's.
        let socket: Int
        var sequence: UInt16 = 0
    }

    let addresses: [SocketAddress]
    private let lines = Mutex<[MediaLegID: Line]>([:])
    private let sockets: [Socket]
    private let opus: [UInt8]
    let sent = Tally(), received = Tally()

    /// A class, because an array holds no owner of a descriptor.
    private final class Socket: Sendable {
        let owner: FileDescriptorOwner
        init() throws(SocketError) { owner = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: 0)) }
    }

    init(sockets count: Int) throws {
        sockets = try (0..<count).map { _ in try Socket() }
        addresses = sockets.compactMap { $0.owner.localAddress }
        opus = try Self.opusFrame()
    }

    func add(_ leg: MediaLegID, _ line: Line) { lines.withLock { $0[leg] = line } }
    func remove(_ leg: MediaLegID) { _ = lines.withLock { $0.removeValue(forKey: leg) } }

    /// The work of one socket's thread.
    func talk(on socket: Int, until isOver: () -> Bool) {
        var packet = [UInt8](repeating: 0, count: 1_500)
        while !isOver() {
            for (leg, line) in takeLines(of: socket) { send(line, of: leg, through: &packet) }
            while recv(sockets[socket].owner.raw, &packet, packet.count, 0) > 0 { received.add() }
            usleep(5_000)
        }
    }

    /// Each with its next sequence number.
    private func takeLines(of socket: Int) -> [(MediaLegID, Line)] {
        lines.withLock { lines in
            lines.filter { $0.value.socket == socket }.map { leg, line in
                lines[leg]?.sequence &+= 1
                return (leg, line)
            }
        }
    }

    private func send(_ line: Line, of leg: MediaLegID, through packet: inout [UInt8]) {
        let header = RTPHeader(
            payloadType: line.isOpus ? 111 : 0, sequence: SequenceNumber(line.sequence),
            timestamp: UInt32(line.sequence) &* (line.isOpus ? 960 : 160), ssrc: UInt32(truncatingIfNeeded: leg.rawValue))
        let payload = line.isOpus ? opus : [UInt8](repeating: UInt8(truncatingIfNeeded: line.sequence), count: 160)
        packet.withUnsafeMutableBytes { bytes in
            header.write(to: bytes)
            UnsafeMutableRawBufferPointer(rebasing: bytes[RTPHeader.fixedSize...]).copyBytes(from: payload)
        }
        let count = RTPHeader.fixedSize + payload.count, raw = sockets[line.socket].owner.raw
        let status = SocketAddress(.loopback, port: line.port).withSockaddr { sendto(raw, packet, count, 0, $0, $1) }
        if status == count { sent.add() }
    }

    private static func opusFrame() throws -> [UInt8] {
        let encoder = try FrameEncoder(.opus, sampleRate: 16_000)
        var samples = [Int16](repeating: 0, count: 320), generator = ToneGenerator(Tone(300), sampleRate: 16_000)
        var sound = samples.mutableSpan
        generator.fill(&sound)
        var payload = [UInt8](repeating: 0, count: encoder.largestPayload)
        var room = payload.mutableSpan
        let count = try encoder.encode(samples.span, into: &room)
        return Array(payload[..<count])
    }
}
