import Primitives

/// Makes challenges and checks what is answered (RFC 7616, RFC 8760, RFC 3261 §22).
///
/// A nonce carries its expiry, a number and an authentication tag, so that asking costs no memory: only a nonce that was used
/// rightly is remembered, with the highest count that it was used with, and only so many of those. When more are in use, the
/// oldest are forgotten and their users are asked again. The tag covers the client's network: a nonce is worth nothing elsewhere.
///
/// Servers with one secret take each other's nonces. Each counts their uses for itself.
public struct DigestServer: Sendable {
    /// The terms of the challenges, and of the answers that are taken.
    public struct Configuration: Sendable {
        /// The realm of every challenge. A password that is kept as a hash is bound to it.
        public var realm: Text
        /// Offered in this order (RFC 8760 §2.4: the most preferred first).
        public var algorithms: [DigestAlgorithm]
        /// A nonce that is older is stale.
        public var nonceLifetime: Duration
        /// Whether a digest without `qop` and nonce count is refused; without them nothing tells a replay.
        public var requiresQuality: Bool
        /// The number of nonces in use that are remembered.
        public var rememberedNonces: Int

        /// - Precondition: at least one algorithm, and room for at least one nonce.
        public init(
            realm: Text, algorithms: [DigestAlgorithm] = [.sha256, .md5], nonceLifetime: Duration = .seconds(300),
            requiresQuality: Bool = true,
            rememberedNonces: Int = 20_000
        ) {
            precondition(!algorithms.isEmpty && rememberedNonces > 0)
            (self.realm, self.algorithms, self.nonceLifetime) = (realm, algorithms, nonceLifetime)
            (self.requiresQuality, self.rememberedNonces) = (requiresQuality, rememberedNonces)
        }
    }

    /// The number and the time in the nonces of a server, where several take each other's.
    public struct Numbering: Hashable, Sendable {
        /// The number of the first nonce; two servers with the same secret have no number in common.
        public var first: UInt64
        /// The date at `Instant.zero`, in ns since 1970: nonces state when they expire.
        public var epoch: UInt64

        /// Nonces of one server, which state its own time.
        public init(first: UInt64 = 1, epoch: UInt64 = 0) { (self.first, self.epoch) = (first, epoch) }
    }

    /// The result of an answer to a challenge.
    public enum Verdict: Hashable, Sendable {
        /// The password and the nonce are right.
        case accepted
        /// The password is right, and the nonce is too old or used up: ask again with `stale=true`.
        case stale
        /// The nonce is not ours, was given to another network, or is from before a restart. The password was not looked at: ask again with
        /// `stale=true` (RFC 7616 §3.3).
        case unknownNonce
        /// The answer is wrong: asking again helps only where the user has another password.
        case refused(Refusal)
    }

    /// Why an answer is refused.
    public enum Refusal: Hashable, Sendable {
        /// Realm, algorithm or quality that were not asked for, or a digest for another URI.
        case mismatch
        /// The digest is none of the password that is known.
        case wrongPassword
    }

    /// As it was made; nothing in it changes.
    public let configuration: Configuration
    private let secret: [UInt8]
    private let hash: DigestHash
    private let epoch: UInt64
    private var nextNumber: UInt64
    /// By the number of the nonce.
    private var uses: [UInt64: Use] = [:]
    /// Expiry and number of the last one that was forgotten: those from before it are not taken any more.
    private var forgottenUpTo: (Instant, UInt64) = (.zero, 0)

    private struct Use: Sendable {
        var expiry: Instant
        var count: UInt32
    }

    /// - Parameters:
    ///   - secret: random bytes that nobody knows but servers whose nonces are good here; another secret makes all nonces stale.
    ///   - numbering: the default is for a server that shares its secret with no other.
    public init(configuration: Configuration, secret: [UInt8], numbering: Numbering = Numbering(), hash: @escaping DigestHash) {
        precondition(!secret.isEmpty, "nonces need a secret")
        (self.configuration, self.secret, self.hash) = (configuration, secret, hash)
        (nextNumber, epoch) = (numbering.first, numbering.epoch)
    }

    /// Nonces in use, for the leak gate.
    public var count: Int { uses.count }

    /// One challenge for each algorithm, the preferred one first, with the same nonce.
    /// - Parameter client: whose network alone may use the nonce; nil: anybody.
    public mutating func challenges(stale: Bool = false, for client: IPAddress? = nil, at now: Instant) -> [DigestChallenge] {
        let nonce = makeNonce(number: nextNumber, expiry: now + configuration.nonceLifetime, client)
        nextNumber &+= 1
        return configuration.algorithms.map { DigestChallenge(realm: configuration.realm, nonce: nonce, algorithm: $0, isStale: stale) }
    }

    /// Checks credentials that were sent with a request. Uses up their nonce count when they are right.
    /// - Parameters:
    ///   - secret: of the user whom the credentials name.
    ///   - client: who sent them; nil where `challenges` was called for nobody in particular.
    public mutating func verify(
        _ credentials: DigestCredentials, method: Method, uri: URI, secret: DigestSecret, from client: IPAddress? = nil, at now: Instant
    ) -> Verdict {
        guard credentials.realm == configuration.realm, configuration.algorithms.contains(credentials.algorithm),
            isMeant(credentials, for: uri),
            let quality = quality(of: credentials)
        else { return .refused(.mismatch) }
        guard let nonce = readNonce(credentials.nonce, client) else { return .unknownNonce }
        let hashed = secret.hashed(
            credentials.algorithm, user: credentials.user, realm: credentials.realm, nonce: credentials.nonce,
            clientNonce: credentials.clientNonce, hash: hash)
        guard let hashedA1 = hashed else { return .refused(.mismatch) }
        let expected = Digest.response(
            credentials.algorithm.hash, hashedA1: hashedA1, nonce: credentials.nonce,
            quality: quality.isUsed ? (quality.count, quality.clientNonce) : nil,
            method: method, uri: credentials.uri, hash: hash)
        guard Digest.isEqual(expected, credentials.response) else { return .refused(.wrongPassword) }
        return use(nonce, credentials.count, at: now) ? .accepted : .stale
    }

    /// The digest's URI must be the request's, but for parameters, which some telephones leave out (RFC 3261 §22.4), and for those
    /// that name the server alone and by its address, as sipp does. A proxy may have put our address in the place of our domain, which is
    /// the realm.
    private func isMeant(_ credentials: DigestCredentials, for uri: URI) -> Bool {
        guard let named = try? URI(parsing: credentials.uri) else { return false }
        if named.isEquivalent(to: uri) { return true }
        guard named.isSIP, uri.isSIP else { return false }
        if named.host.equalsIgnoringCase(configuration.realm), named.user == uri.user { return true }
        return named.host.equalsIgnoringCase(uri.host)
            ? named.user == nil || named.user == uri.user : named.user == nil && named.address != nil
    }

    private func quality(of credentials: DigestCredentials) -> (isUsed: Bool, count: Text, clientNonce: Text)? {
        guard let quality = credentials.quality else { return configuration.requiresQuality ? nil : (false, .empty, .empty) }
        guard quality == "auth", let count = credentials.nonceCount, credentials.count != nil, let clientNonce = credentials.clientNonce
        else { return nil }
        return (true, count, clientNonce)
    }

    /// Whether the nonce is fresh, and used with a higher count than before; notes the count.
    private mutating func use(_ nonce: (number: UInt64, expiry: Instant), _ count: UInt32?, at now: Instant) -> Bool {
        guard nonce.expiry > now else { return false }
        guard let count else { return true }
        if let use = uses[nonce.number] {
            guard count > use.count else { return false }
        } else {
            guard (nonce.expiry, nonce.number) > forgottenUpTo, count > 0 else { return false }
            makeRoom(at: now)
        }
        uses[nonce.number] = Use(expiry: nonce.expiry, count: count)
        return true
    }

    private mutating func makeRoom(at now: Instant) {
        guard uses.count >= configuration.rememberedNonces else { return }
        uses = uses.filter { $0.value.expiry > now }
        guard uses.count >= configuration.rememberedNonces else { return }
        // Forgetting a quarter at once keeps the sorting rare.
        let byAge = uses.map { ($0.value.expiry, $0.key) }.sorted { $0 < $1 }, oldest = byAge.prefix(max(1, uses.count / 4))
        for (_, number) in oldest { uses[number] = nil }
        if let last = oldest.last, last > forgottenUpTo { forgottenUpTo = last }
    }

    // A nonce is 16 digits of expiry, 16 of its number and 32 of its tag.
    private func makeNonce(number: UInt64, expiry: Instant, _ client: IPAddress?) -> Text {
        let stated = DigestCredentials.hexadecimal(expiry.nanoseconds &+ epoch) + DigestCredentials.hexadecimal(number)
        return Text(stated + tag(of: stated, client))
    }

    private func tag(of stated: [UInt8], _ client: IPAddress?) -> [UInt8] {
        let network = (client?.clientNetwork).map { DigestCredentials.hexadecimal($0.high) + DigestCredentials.hexadecimal($0.low) } ?? []
        return Array(Digest.authenticationTag(key: secret, stated + network, hash: hash).prefix(32))
    }

    private func readNonce(_ text: Text, _ client: IPAddress?) -> (number: UInt64, expiry: Instant)? {
        guard text.count == 64 else { return nil }
        let stated = Array(text.bytes.prefix(32))
        guard Digest.isEqual(Text(tag(of: stated, client)), Text(text.bytes.suffix(32))) else { return nil }
        let numbers = [stated[..<16], stated[16...]].map { $0.reduce(0 as UInt64) { $0 << 4 | UInt64(hexadecimalDigit($1) ?? 0) } }
        // One that expired before this machine began.
        guard numbers[0] > epoch else { return (numbers[1], .zero) }
        return (numbers[1], Instant(nanoseconds: numbers[0] - epoch))
    }
}
