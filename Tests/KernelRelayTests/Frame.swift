import Primitives

/// An Ethernet frame with a UDP datagram, made and checked apart from the program and from its loader.
struct Frame: Hashable {
    var bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(
        from: SocketAddress, to: SocketAddress, _ payload: [UInt8], ttl: UInt8, trafficClass: UInt8 = 0, hasChecksum: Bool = true,
        identification: UInt16 = 0x4321, fragment: UInt16 = 0x4000, options: Int = 0
    ) {
        let isV6 = from.address.family == .v6
        let udp = bigEndian(from.port) + bigEndian(to.port) + bigEndian(UInt16(payload.count + 8)) + [0, 0] + payload
        var ip: [UInt8]
        if isV6 {
            ip = [0x60 | trafficClass >> 4, trafficClass << 4, 0, 0] + bigEndian(UInt16(udp.count)) + [17, ttl]
        } else {
            ip = [0x45 + UInt8(options), trafficClass] + bigEndian(UInt16(20 + 4 * options + udp.count)) + bigEndian(identification)
            ip += bigEndian(fragment) + [ttl, 17, 0, 0]
        }
        ip += Self.bytes(of: from.address) + Self.bytes(of: to.address) + [UInt8](repeating: 1, count: 4 * options)
        bytes = [UInt8](repeating: 0, count: 12) + (isV6 ? [0x86, 0xDD] : [0x08, 0x00]) + ip + udp
        if !isV6 { put(~Self.sum(ip), at: 24) }
        guard hasChecksum else { return }
        let checksum = ~Self.sum(pseudoHeader + udp)
        put(checksum == 0 ? 0xFFFF : checksum, at: udpOffset + 6)
    }

    var isV6: Bool { bytes[12] == 0x86 }
    var udpOffset: Int { isV6 ? 54 : 14 + 4 * Int(bytes[14] & 15) }
    /// What UDP carries.
    var payload: [UInt8] { Array(bytes[(udpOffset + 8)...]) }
    var ttl: UInt8 { bytes[isV6 ? 21 : 22] }

    mutating func put(_ value: UInt16, at offset: Int) { bytes.replaceSubrange(offset..<offset + 2, with: bigEndian(value)) }

    /// Whether both checksums are those of RFC 1071, or UDP's is left out.
    var isIntact: Bool {
        if !isV6, Self.sum(Array(bytes[14..<udpOffset])) != 0xFFFF { return false }
        let udp = Array(bytes[udpOffset...])
        if udp[6] == 0, udp[7] == 0 { return !isV6 }
        return Self.sum(pseudoHeader + udp) == 0xFFFF
    }

    private var pseudoHeader: [UInt8] {
        let addresses = isV6 ? bytes[22..<54] : bytes[26..<34]
        return Array(addresses) + bigEndian(UInt32(bytes.count - udpOffset)) + [0, 0, 0, 17]
    }

    static func bytes(of address: IPAddress) -> [UInt8] {
        address.family == .v6 ? bigEndian(address.high) + bigEndian(address.low) : bigEndian(UInt32(address.low))
    }

    /// The one's-complement sum of 16-bit words (RFC 1071), an odd byte padded with zero.
    static func sum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
            sum = sum & 0xFFFF + sum >> 16
        }
        return UInt16(sum)
    }
}
