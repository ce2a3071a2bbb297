import Primitives

/// The algorithm of a digest exchange (RFC 7616 §3.2, RFC 8760): a hash, and whether the password is hashed once for a session.
///
/// Greater is better.
public struct DigestAlgorithm: Hashable, Sendable, Comparable, CaseIterable {
    /// In the order of preference, worst first.
    public enum Hash: Int, Hashable, Sendable, CaseIterable { case md5, sha256, sha512_256 }

    /// The hash function for everything.
    public var hash: Hash
    /// `-sess`: nonce and client nonce are part of what is hashed with the password.
    public var isSession: Bool

    /// - Parameter isSession: the `-sess` variant.
    public init(_ hash: Hash, isSession: Bool = false) { (self.hash, self.isSession) = (hash, isSession) }

    /// MD5, for peers that know no other (RFC 8760).
    public static let md5 = Self(.md5)
    /// SHA-256 (RFC 7616 §3.2).
    public static let sha256 = Self(.sha256)
    /// SHA-512 truncated to 256 bits (RFC 7616 §3.2).
    public static let sha512_256 = Self(.sha512_256)
    /// Every hash, without and with a session; the worst first.
    public static let allCases = Hash.allCases.flatMap { [Self($0), Self($0, isSession: true)] }

    /// As it stands in a header (RFC 7616 §6.1).
    public var text: Text {
        let name: Text =
            switch hash {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512_256: "SHA-512-256"
            }
        return isSession ? name + "-sess" : name
    }

    /// Nil for an algorithm that is not spoken here.
    public init?(_ text: Text) {
        guard let found = Self.allCases.first(where: { $0.text.equalsIgnoringCase(text) }) else { return nil }
        self = found
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.hash.rawValue, left.isSession ? 1 : 0) < (right.hash.rawValue, right.isSession ? 1 : 0)
    }
}

/// Hashes bytes and gives the digest in lower-case hexadecimal digits. Made by the Runtime floor out of OpenSSL.
public typealias DigestHash = @Sendable (DigestAlgorithm.Hash, [UInt8]) -> [UInt8]

/// A password, in clear or as a hash.
public enum DigestSecret: Hashable, Sendable {
    /// In clear, so that it fits every realm and every hash.
    case password(Text)
    /// `H(user:realm:password)` in lower-case hexadecimal digits, for each hash that may be used.
    case hashed([DigestAlgorithm.Hash: Text])

    /// A1 of RFC 7616 §3.4.2, hashed; nil when it is not known for this algorithm, and for a session without a client nonce.
    func hashed(_ algorithm: DigestAlgorithm, user: Text, realm: Text, nonce: Text, clientNonce: Text?, hash: DigestHash) -> Text? {
        let plain: Text? =
            switch self {
            case .password(let password): Text(hash(algorithm.hash, Array((user + ":" + realm + ":" + password).bytes)))
            case .hashed(let known): known[algorithm.hash]
            }
        guard algorithm.isSession, let plain else { return plain }
        return clientNonce.map { Text(hash(algorithm.hash, Array((plain + ":" + nonce + ":" + $0).bytes))) }
    }
}

enum Digest {
    /// The request digest of RFC 7616 §3.4.1 for `qop=auth`, and of RFC 2069 without a quality.
    static func response(
        _ algorithm: DigestAlgorithm.Hash, hashedA1: Text, nonce: Text, quality: (count: Text, clientNonce: Text)?, method: Method,
        uri: Text, hash: DigestHash
    ) -> Text {
        let hashedA2 = Text(hash(algorithm, Array((method.text + ":" + uri).bytes)))
        var text = hashedA1 + ":" + nonce
        if let quality { text = text + ":" + quality.count + ":" + quality.clientNonce + ":auth" }
        return Text(hash(algorithm, Array((text + ":" + hashedA2).bytes)))
    }

    /// Compares without telling by its time where the difference is.
    static func isEqual(_ left: Text, _ right: Text) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left.bytes, right.bytes).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// HMAC of RFC 2104 over SHA-256, in hexadecimal digits.
    static func authenticationTag(key: [UInt8], _ message: [UInt8], hash: DigestHash) -> [UInt8] {
        var block = key.count > 64 ? binary(hash(.sha256, key)) : key
        block += Array(repeating: 0, count: 64 - block.count)
        let inner = binary(hash(.sha256, block.map { $0 ^ 0x36 } + message))
        return hash(.sha256, block.map { $0 ^ 0x5C } + inner)
    }

    private static func binary(_ digits: [UInt8]) -> [UInt8] {
        stride(from: 0, to: digits.count - 1, by: 2).map {
            (hexadecimalDigit(digits[$0]) ?? 0) << 4 | (hexadecimalDigit(digits[$0 + 1]) ?? 0)
        }
    }
}

/// A scheme and its `name=value` list: what the four authentication headers are made of (RFC 7235 §2.1).
struct AuthenticationFields {
    var scheme: Text
    private var values: [(name: Text, value: Text)] = []

    private static var limit: Int { 32 }

    init(parsing text: Text) throws(SyntaxError) {
        let buffer = Array(text.bytes)
        var pairs: [(Extent, Extent)] = []
        let scheme = try buffer.read { reader throws(SyntaxError) in
            reader.skipSpace()
            let scheme = reader.take(.token)
            guard !scheme.isEmpty else { throw .malformed }
            while !reader.isAtEnd {
                reader.skipSpace()
                while reader.skip(0x2C) { reader.skipSpace() }
                if reader.isAtEnd { break }
                guard pairs.count < Self.limit else { throw .numberOutOfRange }
                pairs.append(try Self.pair(&reader))
            }
            return scheme
        }
        self.scheme = buffer[scheme]
        for (name, value) in pairs {
            guard self[buffer[name]] == nil else { throw .malformed }
            values.append((buffer[name], buffer[value].unescaped))
        }
    }

    private static func pair(_ reader: inout Reader) throws(SyntaxError) -> (Extent, Extent) {
        let name = reader.take(.token)
        reader.skipSpace()
        guard !name.isEmpty, reader.skip(0x3D) else { throw .malformed }
        reader.skipSpace()
        let value = reader.next == 0x22 ? try reader.takeQuoted() : reader.take(.parameterValue)
        reader.skipSpace()
        guard reader.isAtEnd || reader.next == 0x2C else { throw .malformed }
        return (name, value)
    }

    subscript(name: Text) -> Text? { values.first { $0.name.equalsIgnoringCase(name) }?.value }

    func required(_ name: Text) throws(SyntaxError) -> Text {
        guard let value = self[name] else { throw .malformed }
        return value
    }
}

extension [UInt8] {
    /// Appends `, name=value`, or ` name=value` when it is the first behind the scheme.
    mutating func append(field name: StaticString, _ value: Text, quoted: Bool = true) {
        if contains(0x3D) { append(0x2C) }
        append(0x20)
        self += name
        append(0x3D)
        if quoted { append(quoting: value) } else { self += value }
    }
}
