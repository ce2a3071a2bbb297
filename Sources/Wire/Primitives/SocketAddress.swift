/// An IPv4 or IPv6 address. IPv4-mapped IPv6 addresses are kept as IPv4, so that one peer has one address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The version of the Internet Protocol.
    public enum Family: Hashable, Sendable { case v4, v6 }

    /// IPv4 or IPv6; an IPv4-mapped address counts as IPv4.
    public let family: Family
    /// Network order: the first byte of the address is the highest byte of `high`. IPv4 sits in the low 32 bits of `low`.
    public let high: UInt64
    /// The low 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    public let low: UInt64

    /// An IPv4 address as a number: its first byte is the highest, so that 127.0.0.1 is `0x7F00_0001`.
    public init(v4: UInt32) { (family, high, low) = (.v4, 0, UInt64(v4)) }

    /// An IPv6 address as two numbers. `::ffff:0:0/96` becomes the IPv4 address that it maps (RFC 4291 §2.5.5.2).
    public init(v6High: UInt64, low: UInt64) {
        let mapped = v6High == 0 && low >> 32 == 0xFFFF
        (family, high, self.low) = mapped ? (.v4, 0, low & 0xFFFF_FFFF) : (.v6, v6High, low)
    }

    /// 127.0.0.1.
    public static let loopback = IPAddress(v4: 0x7F00_0001)
    /// 0.0.0.0: to bind to every IPv4 address.
    public static let anyV4 = IPAddress(v4: 0)
    /// `::`: to bind to every IPv6 address.
    public static let anyV6 = IPAddress(v6High: 0, low: 0)

    /// Whether all bits are zero: no address, or all of them.
    public var isAny: Bool { high == 0 && low == 0 }
    /// 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool { family == .v4 ? low >> 24 == 127 : high == 0 && low == 1 }
    /// All addresses that one client has: an IPv4 address alone, and of IPv6 the /64 network.
    public var clientNetwork: IPAddress { family == .v6 ? IPAddress(v6High: high, low: 0) : self }
    /// Multicast, or the broadcast of IPv4: no machine's own.
    public var isForSeveral: Bool { isMulticast || family == .v4 && low == 0xFFFF_FFFF }
    /// 224.0.0.0/4 or `ff00::/8`.
    public var isMulticast: Bool { family == .v4 ? low >> 28 == 0xE : high >> 56 == 0xFF }

    /// Dotted decimal or RFC 4291 text, without brackets; nil for anything else.
    public init?(_ text: Text) {
        if text.bytes.contains(0x3A) {
            guard let groups = Self.v6Groups(text.bytes) else { return nil }
            let halves = groups.map(UInt64.init)
            self.init(
                v6High: halves[0] << 48 | halves[1] << 32 | halves[2] << 16 | halves[3],
                low: halves[4] << 48 | halves[5] << 32 | halves[6] << 16 | halves[7])
        } else {
            guard let value = Self.v4Value(text.bytes) else { return nil }
            self.init(v4: value)
        }
    }

    /// As `init(_: Text)`.
    public init?(_ string: String) { self.init(Text(string)) }

    public var description: String { text.description }

    /// Dotted decimal, or the text of RFC 5952.
    public var text: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(family == .v4 ? 15 : 39)
        append(to: &bytes)
        return Text(bytes)
    }

    /// Appends the characters of `text`.
    public func append(to bytes: inout [UInt8]) {
        switch family {
        case .v4:
            for shift in stride(from: UInt64(24), through: 0, by: -8) {
                bytes.append(decimal: UInt8(truncatingIfNeeded: low >> shift))
                if shift > 0 { bytes.append(0x2E) }
            }
        case .v6:
            let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
            bytes += Self.canonicalText(groups).utf8
        }
    }

    private static func v4Value(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        var (value, octet): (UInt32, UInt32) = (0, 0)
        var (digits, dots) = (0, 0)
        for byte in bytes {
            if byte == 0x2E {
                guard digits > 0 else { return nil }
                (value, octet, digits, dots) = (value << 8 | octet, 0, 0, dots + 1)
            } else {
                guard byte >= 0x30, byte <= 0x39, digits < 3 else { return nil }
                (octet, digits) = (octet * 10 + UInt32(byte - 0x30), digits + 1)
                guard octet <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? value << 8 | octet : nil
    }

    private static func v6Groups(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        let gap = Array(bytes).indices.dropLast().first { bytes[bytes.startIndex + $0] == 0x3A && bytes[bytes.startIndex + $0 + 1] == 0x3A }
        guard let gap else {
            guard let groups = groupList(bytes), groups.count == 8 else { return nil }
            return groups
        }
        // Dotted decimal stands for the last 32 bits alone (RFC 4291 §2.2), so never before the gap.
        guard !bytes.prefix(gap).contains(0x2E), let head = groupList(bytes.prefix(gap)), let tail = groupList(bytes.dropFirst(gap + 2)),
            head.count + tail.count <= 7
        else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    private static func groupList(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = bytes.split(separator: 0x3A, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(0x2E) {
                guard let value = v4Value(part) else { return nil }
                groups += [UInt16(value >> 16), UInt16(truncatingIfNeeded: value)]
            } else {
                guard (1...4).contains(part.count) else { return nil }
                var group: UInt16 = 0
                for byte in part {
                    guard let digit = hexadecimalDigit(byte) else { return nil }
                    group = group << 4 | UInt16(digit)
                }
                groups.append(group)
            }
        }
        return groups
    }

    /// RFC 5952: the longest run of two or more zero groups becomes "::".
    private static func canonicalText(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start + 1)
        }
        let texts = groups.map { String($0, radix: 16) }
        guard !best.isEmpty else { return texts.joined(separator: ":") }
        return texts[..<best.lowerBound].joined(separator: ":") + "::" + texts[best.upperBound...].joined(separator: ":")
    }
}

/// The value of an ASCII hexadecimal digit, in either case.
@inlinable public func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}

/// An address and a port, as a socket has them.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address of the machine.
    public var address: IPAddress
    /// The port of the socket; 0 lets the kernel choose when it is bound.
    public var port: UInt16

    /// An address with a port.
    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`; the port may be left out when there is a default.
    public init?(_ text: Text, defaultPort: UInt16? = nil) {
        var host = text.bytes
        var port = defaultPort
        if host.first == 0x5B {
            guard let close = host.firstIndex(of: 0x5D) else { return nil }
            let rest = host[(close + 1)...]
            host = host[(host.startIndex + 1)..<close]
            // RFC 3986 §3.2.2: brackets are for IPv6.
            guard host.contains(0x3A) else { return nil }
            if !rest.isEmpty {
                guard rest.first == 0x3A, let number = Text(rest.dropFirst()).integer(UInt16.self) else { return nil }
                port = number
            }
        } else if let colon = host.firstIndex(of: 0x3A), host[(colon + 1)...].firstIndex(of: 0x3A) == nil {
            guard let number = Text(host[(colon + 1)...]).integer(UInt16.self) else { return nil }
            port = number
            host = host[..<colon]
        }
        guard let address = IPAddress(Text(host)), let port else { return nil }
        self.init(address, port: port)
    }

    /// As `init(_: Text, defaultPort:)`.
    public init?(_ string: String, defaultPort: UInt16? = nil) { self.init(Text(string), defaultPort: defaultPort) }

    public var description: String { text.description }

    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    public var text: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(48)
        if address.family == .v6 { bytes.append(0x5B) }
        address.append(to: &bytes)
        if address.family == .v6 { bytes.append(0x5D) }
        bytes.append(0x3A)
        bytes.append(decimal: port)
        return Text(bytes)
    }
}

/// A block of addresses in CIDR form: `10.0.0.0/8`, `::1/128`, or one address.
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The address as it was written, its host bits included.
    public let address: IPAddress
    /// The number of first bits that an address must share: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// `10.0.0.0/8`, or an address without a length; nil for any other text, and for a length that the family does not have.
    public init?(_ text: Text) {
        let parts = text.bytes.split(separator: 0x2F, maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(Text(parts[0])) else { return nil }
        let width = address.family == .v4 ? 32 : 128
        let length = parts.count == 2 ? Text(parts[1]).integer(Int.self) : width
        guard let length, length <= width else { return nil }
        (self.address, prefixLength) = (address, length)
    }

    /// As `init(_: Text)`.
    public init?(_ string: String) { self.init(Text(string)) }

    /// Whether the address is of the same family and has the same first `prefixLength` bits. An IPv4-mapped address is one of IPv4.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        let shift = (address.family == .v4 ? 32 : 128) - prefixLength
        if shift >= 128 { return true }
        if shift >= 64 { return address.high >> UInt64(shift - 64) == other.high >> UInt64(shift - 64) }
        return address.high == other.high && address.low >> UInt64(shift) == other.low >> UInt64(shift)
    }

    public var description: String { "\(address)/\(prefixLength)" }
}
