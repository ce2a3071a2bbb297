import Primitives

@testable import RTP

func milliseconds(_ count: Int) -> Instant { Instant(nanoseconds: UInt64(count) * 1_000_000) }

/// The bytes of a packet as a socket delivers them.
struct Packet: Hashable {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(type: UInt8 = 0, sequence: Int, timestamp: UInt32 = 0, ssrc: UInt32 = 1, marker: Bool = false, payload: [UInt8] = [1, 2, 3]) {
        bytes = Array(repeating: 0, count: RTPHeader.fixedSize) + payload
        let header = RTPHeader(
            payloadType: type, sequence: SequenceNumber(UInt16(truncatingIfNeeded: sequence)), timestamp: timestamp, ssrc: ssrc,
            marker: marker)
        bytes.withUnsafeMutableBytes { header.write(to: $0) }
    }

    func header() throws -> RTPHeader { try bytes.withUnsafeBytes { try RTPHeader(parsing: $0) } }
}

extension RTPRewriter {
    /// The packet as it leaves; nil when it does not.
    mutating func relay(_ packet: Packet, at now: Instant) throws -> Packet? {
        var packet = packet
        let header = try packet.header()
        let outcome = packet.bytes.withUnsafeMutableBytes { rewrite($0, header, at: now) }
        return outcome == .rewritten ? packet : nil
    }

    mutating func outcome(_ packet: Packet, at now: Instant = .zero) throws -> Outcome {
        var packet = packet
        let header = try packet.header()
        return packet.bytes.withUnsafeMutableBytes { rewrite($0, header, at: now) }
    }
}

func parseRTCP(_ bytes: [UInt8]) throws -> [RTCPPacket] { try bytes.withUnsafeBytes { try RTCPPacket.parse($0) } }
