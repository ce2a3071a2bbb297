import Primitives

/// The challenge of a server in WWW-Authenticate or Proxy-Authenticate (RFC 7616 §3.3, RFC 8760).
public struct DigestChallenge: Hashable, Sendable {
    /// The name of the password that is asked for, in words for a person (RFC 7616 §3.3).
    public var realm: Text
    /// The server's own text, which the answer repeats; nobody else reads it.
    public var nonce: Text
    /// The algorithm to hash the answer with; MD5 where the header does not say.
    public var algorithm: DigestAlgorithm
    /// The qualities of protection offered; empty from a server that knows RFC 2069 only.
    public var qualities: [Text]
    /// To be repeated in the answer as it is.
    public var opaque: Text?
    /// The credentials were right and only the nonce is too old: try again without asking anybody.
    public var isStale: Bool

    /// A challenge to be written into a header.
    public init(
        realm: Text, nonce: Text, algorithm: DigestAlgorithm, qualities: [Text] = ["auth"], opaque: Text? = nil, isStale: Bool = false
    ) {
        (self.realm, self.nonce, self.algorithm, self.qualities, self.opaque, self.isStale) = (
            realm, nonce, algorithm, qualities, opaque, isStale
        )
    }

    /// Throws for other schemes than Digest and for algorithms that are not spoken here.
    public init(parsing value: Text) throws(SyntaxError) {
        let fields = try AuthenticationFields(parsing: value)
        guard fields.scheme.equalsIgnoringCase("Digest" as StaticString), let algorithm = DigestAlgorithm(fields["algorithm"] ?? "MD5")
        else { throw .malformed }
        realm = try fields.required("realm")
        nonce = try fields.required("nonce")
        self.algorithm = algorithm
        qualities = (fields["qop"] ?? .empty).bytes.split(separator: 0x2C).map { Text($0).trimmed.lowercased }.filter { !$0.isEmpty }
        opaque = fields["opaque"]
        isStale = fields["stale"]?.equalsIgnoringCase("true" as StaticString) ?? false
    }

    /// The value of the header.
    public var value: Text {
        var bytes = Array(Text("Digest").bytes)
        bytes.append(field: "realm", realm)
        bytes.append(field: "nonce", nonce)
        if let opaque { bytes.append(field: "opaque", opaque) }
        bytes.append(field: "algorithm", algorithm.text, quoted: false)
        if !qualities.isEmpty { bytes.append(field: "qop", Text(Array(qualities.map(\.bytes).joined(separator: [0x2C])))) }
        if isStale { bytes.append(field: "stale", "true", quoted: false) }
        return Text(bytes)
    }
}

/// The answer of a client in Authorization or Proxy-Authorization (RFC 7616 §3.4).
public struct DigestCredentials: Hashable, Sendable {
    /// The user whose password it is.
    public var user: Text
    /// The realm of the challenge.
    public var realm: Text
    /// The nonce of the challenge.
    public var nonce: Text
    /// The Request-URI as the client sent it; a proxy may have changed that of the request since.
    public var uri: Text
    /// The digest, in hexadecimal digits.
    public var response: Text
    /// The algorithm of the challenge.
    public var algorithm: DigestAlgorithm
    /// As in the challenge.
    public var opaque: Text?
    /// `auth`, with the two below; nil is RFC 2069's digest.
    public var quality: Text?
    /// Chosen by the client, so that no server can choose all of what is hashed.
    public var clientNonce: Text?
    /// Eight hexadecimal digits.
    public var nonceCount: Text?

    /// Throws for other schemes than Digest and for algorithms that are not spoken here.
    public init(parsing value: Text) throws(SyntaxError) {
        let fields = try AuthenticationFields(parsing: value)
        guard fields.scheme.equalsIgnoringCase("Digest" as StaticString), let algorithm = DigestAlgorithm(fields["algorithm"] ?? "MD5")
        else { throw .malformed }
        user = try fields.required("username")
        realm = try fields.required("realm")
        nonce = try fields.required("nonce")
        uri = try fields.required("uri")
        response = try fields.required("response").lowercased
        self.algorithm = algorithm
        opaque = fields["opaque"]
        quality = fields["qop"]?.lowercased
        (clientNonce, nonceCount) = (fields["cnonce"], fields["nc"])
    }

    /// Answers a challenge.
    /// - Parameters:
    ///   - count: how many requests used this nonce, this one included.
    ///   - clientNonce: random, for `qop=auth`; nil makes RFC 2069's digest.
    public init?(
        answering challenge: DigestChallenge, user: Text, secret: DigestSecret, method: Method, uri: Text, count: UInt32,
        clientNonce: Text?, hash: DigestHash
    ) {
        guard
            let hashedA1 = secret.hashed(
                challenge.algorithm, user: user, realm: challenge.realm, nonce: challenge.nonce, clientNonce: clientNonce, hash: hash)
        else { return nil }
        (self.user, realm, nonce, self.uri) = (user, challenge.realm, challenge.nonce, uri)
        (algorithm, opaque, self.clientNonce) = (challenge.algorithm, challenge.opaque, clientNonce)
        quality = clientNonce == nil ? nil : "auth"
        nonceCount = clientNonce == nil ? nil : Text(Self.hexadecimal(count))
        response = Digest.response(
            algorithm.hash, hashedA1: hashedA1, nonce: nonce, quality: nonceCount.flatMap { count in clientNonce.map { (count, $0) } },
            method: method, uri: uri, hash: hash)
    }

    /// The value of the header.
    public var value: Text {
        var bytes = Array(Text("Digest").bytes)
        bytes.append(field: "username", user)
        bytes.append(field: "realm", realm)
        bytes.append(field: "nonce", nonce)
        bytes.append(field: "uri", uri)
        bytes.append(field: "response", response)
        bytes.append(field: "algorithm", algorithm.text, quoted: false)
        if let opaque { bytes.append(field: "opaque", opaque) }
        if let quality { bytes.append(field: "qop", quality, quoted: false) }
        if let clientNonce { bytes.append(field: "cnonce", clientNonce) }
        if let nonceCount { bytes.append(field: "nc", nonceCount, quoted: false) }
        return Text(bytes)
    }

    /// The nonce count as a number; nil unless it is eight hexadecimal digits.
    var count: UInt32? {
        guard let nonceCount, nonceCount.count == 8 else { return nil }
        return nonceCount.bytes.reduce(0 as UInt32?) { sum, byte in
            guard let sum, let digit = hexadecimalDigit(byte) else { return nil }
            return sum << 4 | UInt32(digit)
        }
    }

    static func hexadecimal(_ number: some FixedWidthInteger) -> [UInt8] {
        let digits = "0123456789abcdef" as StaticString
        return stride(from: number.bitWidth - 4, through: 0, by: -4).map { digits.utf8Start[Int(truncatingIfNeeded: number >> $0) & 15] }
    }
}
