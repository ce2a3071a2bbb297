import Primitives
import Testing

@testable import Runtime

/// Bytes out of hexadecimal digits; anything else in between is left out.
func hexadecimal(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SRTPKey {
    /// A key of that suite out of a seed: another seed is another key.
    static func test(_ suite: SRTPSuite, _ seed: UInt64 = 1) -> SRTPKey {
        var random = SeededRandom(seed: seed)
        return SRTPKey(suite, using: &random)
    }

    var material: [UInt8] { withMaterial { Array($0) } }
}

/// An RTP packet whose payload tells its number.
func rtpPacket(_ sequence: UInt16, ssrc: UInt32 = 0xCAFE_BABE, payload: Int = 160) -> [UInt8] {
    var packet: [UInt8] = [0x80, 0x00, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 160]
    packet += (0..<4).map { UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * $0)) }
    return packet + (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(sequence)) }
}

/// A receiver report with one block.
func rtcpPacket(ssrc: UInt32 = 0xCAFE_BABE) -> [UInt8] {
    [0x81, 201, 0, 7] + (0..<4).map { UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * $0)) } + (0..<24).map { UInt8($0) }
}

extension SRTPSender {
    func protected(_ packet: [UInt8]) throws -> [UInt8] {
        try grown(packet) { buffer, count throws(SRTPRefusal) in try protect(buffer, count: count) }
    }

    func protectedControl(_ packet: [UInt8]) throws -> [UInt8] {
        try grown(packet) { buffer, count throws(SRTPRefusal) in try protectControl(buffer, count: count) }
    }

    private func grown(_ packet: [UInt8], _ work: (UnsafeMutableRawBufferPointer, Int) throws(SRTPRefusal) -> Int) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0xEE, count: Self.overhead)
        let count = try buffer.withUnsafeMutableBytes { try work($0, packet.count) }
        return Array(buffer[..<count])
    }
}

extension SRTPReceiver {
    func opened(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet
        let count = try buffer.withUnsafeMutableBytes { try unprotect($0) }
        return Array(buffer[..<count])
    }

    func openedControl(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet
        let count = try buffer.withUnsafeMutableBytes { try unprotectControl($0) }
        return Array(buffer[..<count])
    }
}
