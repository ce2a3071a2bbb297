import Primitives

/// The IP and UDP headers of a datagram that a message is put into for others to read, whatever it went over (RFC 791, RFC 8200, RFC 768).
enum DatagramHeaders {
    /// The longest payload that fits into IPv4 and IPv6 alike.
    static let longestPayload = 65_507

    /// Both headers, with right checksums; without one of UDP where a part of the payload is missing.
    /// - Parameter whole: the length of the payload with what is missing; no longer than `longestPayload`.
    static func make(
        from source: SocketAddress, to destination: SocketAddress, payload: ArraySlice<UInt8>, whole: Int
    ) -> [UInt8] {
        let family = destination.address.family, length = 8 + whole
        let ends = [source.address, destination.address].map { octets(of: $0, family) }
        var udp: [UInt8] = []
        for field in [source.port, destination.port, UInt16(length), 0] { udp.append(big: field) }
        let sum = sum(of: ends[0][...]) + sum(of: ends[1][...]) + 17 + UInt64(length) + self.sum(of: udp[...]) + self.sum(of: payload)
        let check = checksum(sum)
        // Zero would say that there is none.
        if whole == payload.count { udp.replaceSubrange(6..<8, with: octets(check == 0 ? 0xFFFF : check)) }
        return (family == .v4 ? v4(ends, length) : v6(ends, length)) + udp
    }

    /// The ends and the payload of a datagram; nil for what is no whole header of IPv4 or IPv6 with UDP right behind it.
    static func read(_ bytes: ArraySlice<UInt8>) -> (source: SocketAddress, destination: SocketAddress, payload: ArraySlice<UInt8>)? {
        let bytes = Array(bytes), version = (bytes.first ?? 0) >> 4
        let length = version == 4 ? Int(bytes[0] & 15) * 4 : 40
        guard version == 4 || version == 6, bytes.count >= length + 8, length >= 20, bytes[version == 4 ? 9 : 6] == 17 else { return nil }
        let ends = version == 4 ? [bytes[12..<16], bytes[16..<20]] : [bytes[8..<24], bytes[24..<40]]
        let ports = [bytes.big16(at: length), bytes.big16(at: length + 2)]
        return (
            SocketAddress(address(ends[0]), port: ports[0]), SocketAddress(address(ends[1]), port: ports[1]), bytes[(length + 8)...]
        )
    }

    private static func v4(_ ends: [[UInt8]], _ length: Int) -> [UInt8] {
        var header: [UInt8] = [0x45, 0]
        header.append(big: UInt16(20 + length))
        header += [0, 0, 0x40, 0, 64, 17, 0, 0] + ends[0] + ends[1]
        header.replaceSubrange(10..<12, with: octets(checksum(sum(of: header[...]))))
        return header
    }

    private static func v6(_ ends: [[UInt8]], _ length: Int) -> [UInt8] {
        var header: [UInt8] = [0x60, 0, 0, 0]
        header.append(big: UInt16(length))
        return header + [17, 64] + ends[0] + ends[1]
    }

    /// The wildcard of the other family stands for an address that nobody knows.
    static func octets(of address: IPAddress, _ family: IPAddress.Family) -> [UInt8] {
        let known = address.family == family ? address : family == .v4 ? .anyV4 : .anyV6
        let count = family == .v4 ? 4 : 16
        return (0..<count).map { index in
            let half = family == .v6 && index < 8 ? known.high : known.low
            return UInt8(truncatingIfNeeded: half >> (8 * UInt64((count - 1 - index) % 8)))
        }
    }

    private static func address(_ octets: ArraySlice<UInt8>) -> IPAddress {
        let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        guard octets.count == 16 else { return IPAddress(v4: UInt32(number(octets))) }
        return IPAddress(v6High: number(octets.prefix(8)), low: number(octets.suffix(8)))
    }

    private static func octets(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

    /// The sum of 16-bit words (RFC 1071).
    private static func sum(of bytes: ArraySlice<UInt8>) -> UInt64 {
        var sum: UInt64 = 0, isHigh = true
        for byte in bytes {
            sum += isHigh ? UInt64(byte) << 8 : UInt64(byte)
            isHigh.toggle()
        }
        return sum
    }

    private static func checksum(_ sum: UInt64) -> UInt16 {
        var sum = sum
        while sum >> 16 > 0 { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(sum)
    }
}

extension [UInt8] {
    mutating func append(big value: UInt16) { append(contentsOf: [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]) }

    mutating func append(big value: UInt32) {
        append(big: UInt16(value >> 16))
        append(big: UInt16(truncatingIfNeeded: value))
    }

    func big16(at place: Int) -> UInt16 { UInt16(self[place]) << 8 | UInt16(self[place + 1]) }
}
