import Primitives

/// A STUN message (RFC 8489) as connectivity checks have it: its header, and where the attributes are that ICE reads (RFC 8445 §7). A value
/// over the bytes of one datagram; nothing of it is believed before `isAuthentic`.
public struct STUNMessage: Sendable {
    /// RFC 8489 §5.
    public enum Class: UInt8, Hashable, Sendable { case request = 0, indication, success, error }

    /// Why bytes are no STUN message.
    public enum ParseError: Error, Hashable, Sendable {
        /// Shorter than a header or than it says, or not in whole words.
        case truncated
        /// Not STUN at all: the first bits or the cookie are others.
        case other
        /// An attribute runs over the end, or there are more than 32.
        case attributes
        /// Its FINGERPRINT is wrong.
        case fingerprint
    }

    /// Bytes of the header.
    public static let headerSize = 20
    static let cookie: UInt32 = 0x2112_A442
    static let binding: UInt16 = 1
    private static let greatestCount = 32

    /// Request, indication or answer.
    public let messageClass: Class
    /// 1 is Binding.
    public let method: UInt16
    /// Twelve bytes that answers repeat.
    public let transaction: [UInt8]
    /// `receiver:sender` in a check (RFC 8445 §7.2.2); nil where there is none.
    public private(set) var username: [UInt8]?
    /// The sender nominates the address that it asks from (RFC 8445 §7.1.1).
    public private(set) var usesCandidate = false
    /// The priority that the sender gives to the address that it asks from (RFC 8445 §7.1.1).
    public private(set) var priority: UInt32?
    /// The sender is the controlling agent, or the controlled one; nil when it does not say.
    public private(set) var isControlling: Bool?
    /// It ends in a checksum, which is right (RFC 8489 §14.7).
    public private(set) var hasFingerprint = false
    /// Types below 0x8000 that we do not know and may not pass over (RFC 8489 §5).
    public private(set) var unknown: [UInt16] = []
    /// The address that a request came from, as its answer says.
    public private(set) var mappedAddress: SocketAddress?
    private var integrity: (offset: Int, code: [UInt8])?
    private let bytes: [UInt8]

    /// Reads the attributes that are known. Nothing is authentic yet: see `isAuthentic`.
    public init(parsing datagram: [UInt8]) throws(ParseError) {
        guard datagram.count >= Self.headerSize else { throw .truncated }
        let type = Self.word(datagram, 0)
        guard type & 0xC000 == 0, datagram[4...7].elementsEqual([0x21, 0x12, 0xA4, 0x42]) else { throw .other }
        let length = Int(Self.word(datagram, 2))
        guard length % 4 == 0, datagram.count == Self.headerSize + length else { throw .truncated }
        bytes = datagram
        messageClass = Class(rawValue: UInt8(type >> 7 & 2 | type >> 4 & 1)) ?? .request
        method = type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80
        transaction = Array(datagram[8..<20])
        try readAttributes()
    }

    /// Whether its MESSAGE-INTEGRITY was made with that key (RFC 8489 §14.5); false where there is none.
    /// - Parameter hmac: HMAC-SHA1 of a message under a key.
    public func isAuthentic(key: [UInt8], hmac: (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]) -> Bool {
        guard let integrity else { return false }
        var covered = Array(bytes[..<integrity.offset])
        // As if the message ended behind this attribute.
        Self.write(UInt16(integrity.offset + 24 - Self.headerSize), to: &covered, at: 2)
        return zip(hmac(key, covered), integrity.code).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Whether it has a code by which it can be proved.
    public var hasIntegrity: Bool { integrity != nil }

    private mutating func readAttributes() throws(ParseError) {
        var (offset, count) = (Self.headerSize, 0)
        while offset < bytes.count {
            guard offset + 4 <= bytes.count, count < Self.greatestCount, !hasFingerprint else { throw .attributes }
            let (type, length) = (Self.word(bytes, offset), Int(Self.word(bytes, offset + 2)))
            guard offset + 4 + length <= bytes.count else { throw .attributes }
            try take(type, bytes[(offset + 4)..<(offset + 4 + length)], at: offset)
            offset += 4 + (length + 3) / 4 * 4
            count += 1
        }
    }

    private mutating func take(_ type: UInt16, _ value: ArraySlice<UInt8>, at offset: Int) throws(ParseError) {
        // Behind the code only the fingerprint counts, for nothing vouches for the rest.
        if integrity != nil, type != Attribute.fingerprint { return }
        switch type {
        case Attribute.username:
            guard value.count <= 513 else { throw .attributes }
            username = Array(value)
        case Attribute.integrity:
            guard value.count == 20 else { throw .attributes }
            integrity = (offset, Array(value))
        case Attribute.useCandidate: usesCandidate = true
        case Attribute.controlling, Attribute.controlled:
            guard value.count == 8 else { throw .attributes }
            isControlling = type == Attribute.controlling
        case Attribute.fingerprint:
            guard value.count == 4, value.elementsEqual(Self.fingerprint(of: bytes[..<offset])) else { throw .fingerprint }
            hasFingerprint = true
        case Attribute.mappedAddress: mappedAddress = address(value)
        case Attribute.priority:
            guard value.count == 4 else { throw .attributes }
            priority = value.reduce(0) { $0 << 8 | UInt32($1) }
        default: if type < 0x8000, unknown.count < 8 { unknown.append(type) }
        }
    }

    /// XOR-MAPPED-ADDRESS (RFC 8489 §14.2).
    private func address(_ value: ArraySlice<UInt8>) -> SocketAddress? {
        let mask: [UInt8] = [0x21, 0x12, 0xA4, 0x42] + transaction
        let octets = zip(value.dropFirst(4), mask).map { UInt64($0 ^ $1) }
        guard value.count == 8 || value.count == 20 else { return nil }
        let port = Self.word(Array(value), 2) ^ 0x2112
        let words = octets.reduce(into: (high: UInt64(0), low: UInt64(0))) { sum, octet in
            sum = (sum.high << 8 | sum.low >> 56, sum.low << 8 | octet)
        }
        let isLong = value[value.startIndex + 1] == 2
        guard isLong == (value.count == 20) else { return nil }
        return SocketAddress(isLong ? IPAddress(v6High: words.high, low: words.low) : IPAddress(v4: UInt32(words.low)), port: port)
    }

    static func word(_ bytes: [UInt8], _ offset: Int) -> UInt16 { UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]) }

    static func write(_ word: UInt16, to bytes: inout [UInt8], at offset: Int) {
        (bytes[offset], bytes[offset + 1]) = (UInt8(word >> 8), UInt8(truncatingIfNeeded: word))
    }

    /// RFC 8489 §14.7: CRC-32 with a mask.
    static func fingerprint(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        let value = ~sum ^ 0x5354_554E
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }

    enum Attribute {
        static let username: UInt16 = 0x0006, integrity: UInt16 = 0x0008, error: UInt16 = 0x0009, unknown: UInt16 = 0x000A
        static let mappedAddress: UInt16 = 0x0020, priority: UInt16 = 0x0024, useCandidate: UInt16 = 0x0025
        static let fingerprint: UInt16 = 0x8028, controlled: UInt16 = 0x8029, controlling: UInt16 = 0x802A
    }
}

/// An answer to a binding request, as bytes.
struct STUNAnswer {
    private(set) var bytes: [UInt8]

    /// The answer in a request's transaction, without attributes.
    init(to request: STUNMessage, _ answer: STUNMessage.Class) {
        let type = STUNMessage.binding | UInt16(answer.rawValue & 1) << 4 | UInt16(answer.rawValue >> 1) << 8
        bytes = [UInt8(type >> 8), UInt8(truncatingIfNeeded: type), 0, 0, 0x21, 0x12, 0xA4, 0x42] + request.transaction
    }

    init(request transaction: [UInt8]) { bytes = [0, UInt8(STUNMessage.binding), 0, 0, 0x21, 0x12, 0xA4, 0x42] + transaction }

    /// Adds the address that the request came from, so written that no gateway on the way takes it for an address of its own (RFC 8489
    /// §14.2).
    mutating func addMappedAddress(_ remote: SocketAddress) {
        let address = remote.address
        var value: [UInt8] = [0, address.family == .v4 ? 1 : 2]
        let mask: [UInt8] = [0x21, 0x12, 0xA4, 0x42] + bytes[8..<20]
        let port = remote.port ^ 0x2112
        value += [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        let octets: [UInt8] =
            address.family == .v4 ? Self.octets(address.low, 4) : Self.octets(address.high, 8) + Self.octets(address.low, 8)
        value += zip(octets, mask).map { $0 ^ $1 }
        add(STUNMessage.Attribute.mappedAddress, value)
    }

    mutating func addError(_ code: Int, _ reason: String) {
        add(STUNMessage.Attribute.error, [0, 0, UInt8(code / 100), UInt8(code % 100)] + reason.utf8)
    }

    mutating func addUnknown(_ types: [UInt16]) {
        add(STUNMessage.Attribute.unknown, types.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] })
    }

    mutating func addIntegrity(key: [UInt8], hmac: ([UInt8], [UInt8]) -> [UInt8]) {
        STUNMessage.write(UInt16(bytes.count + 24 - STUNMessage.headerSize), to: &bytes, at: 2)
        add(STUNMessage.Attribute.integrity, hmac(key, bytes))
    }

    mutating func addFingerprint() {
        STUNMessage.write(UInt16(bytes.count + 8 - STUNMessage.headerSize), to: &bytes, at: 2)
        add(STUNMessage.Attribute.fingerprint, STUNMessage.fingerprint(of: bytes[...]))
    }

    mutating func add(_ type: UInt16, _ value: [UInt8]) {
        bytes +=
            [UInt8(type >> 8), UInt8(truncatingIfNeeded: type), UInt8(value.count >> 8), UInt8(truncatingIfNeeded: value.count)] + value
        while bytes.count % 4 != 0 { bytes.append(0x20) }
        STUNMessage.write(UInt16(bytes.count - STUNMessage.headerSize), to: &bytes, at: 2)
    }

    private static func octets(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - $0))) }
    }
}
