import Primitives
import SIP

/// Finds out who sent a request, by digest (RFC 3261 §22). On the signalling lane.
///
/// The registrar and the gateway share one, so that a nonce that a device got with its REGISTER is good for its calls.
public final class Authenticator {
    public enum Result: Hashable, Sendable {
        /// The request was sent by this user, without %-escapes.
        case accepted(Text)
        /// The values of the WWW-Authenticate fields of a 401, the preferred one first; RFC 8760 wants all of them.
        case challenge([Text])
        /// A wrong password, an unknown user, or a source that has guessed too often: 403.
        case forbidden
    }

    private var server: DigestServer
    private var guesses: GuessCounter
    private let accounts: any AccountDirectory
    /// Checked in place of a user's that does not exist, so that the answer takes as long.
    private let nobody: DigestSecret

    /// - Parameters:
    ///   - guessesPerMinute: wrong passwords that one source may send in a minute.
    ///   - random: makes the secret of the nonces; from the operating system in a running server.
    public init(
        configuration: DigestServer.Configuration, accounts: any AccountDirectory, guessesPerMinute: Int = 20, random: any RandomNumberGenerator,
        hash: @escaping DigestHash
    ) {
        var random = random
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        server = DigestServer(configuration: configuration, secret: secret, hash: hash)
        guesses = GuessCounter(limit: guessesPerMinute, per: .seconds(60))
        nobody = .password(Text((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }))
        self.accounts = accounts
    }

    /// Nonces that are in use.
    public var nonceCount: Int { server.count }
    /// Wrong passwords so far.
    public var guessCount: UInt64 { guesses.guesses }
    /// Requests that were not listened to because of their source's guesses.
    public var throttledCount: UInt64 { guesses.refused }

    /// Checks the Authorization, or Proxy-Authorization, of a request for our realm. Right credentials are used up: ask once for a request.
    public func verify(_ request: Message, from source: IPAddress, at now: Instant) -> Result {
        guard let uri = request.requestURI, let credentials = credentials(in: request) else { return challenge(request, stale: false, at: now) }
        guard !guesses.isBlocked(source, at: now) else { return .forbidden }
        let account = accounts.account(of: credentials.user)
        if account == .open { return .accepted(credentials.user) }
        let verdict = server.verify(credentials, method: request.method, uri: uri, secret: account?.secret ?? nobody, at: now)
        switch verdict {
        case .accepted where account != nil: return .accepted(credentials.user)
        case .stale where account != nil: return challenge(request, stale: true, at: now)
        case .refused(.mismatch): return challenge(request, stale: false, at: now)
        case .accepted, .stale, .refused(.wrongPassword):
            guesses.guessed(source, at: now)
            return .forbidden
        }
    }

    private func challenge(_ request: Message, stale: Bool, at now: Instant) -> Result {
        let all = server.challenges(stale: stale, at: now)
        let simple = knowsOnlyMD5(request) ? all.filter { $0.algorithm == .md5 } : all
        return .challenge((simple.isEmpty ? all : simple).map(\.value))
    }

    /// baresip before 3.0 gives up where any challenge is not MD5, instead of passing over it (RFC 7616 §3.7).
    private func knowsOnlyMD5(_ request: Message) -> Bool {
        guard let client = request.headers[.userAgent] else { return false }
        return ["baresip v0.", "baresip v1.", "baresip v2."].contains { client.bytes.starts(with: ($0 as Text).bytes) }
    }

    /// The first that are meant for us; those for other realms are for others (RFC 3261 §22.3).
    private func credentials(in request: Message) -> DigestCredentials? {
        (request.headers.all(.authorization) + request.headers.all(.proxyAuthorization)).prefix(8).lazy
            .compactMap { try? DigestCredentials(parsing: $0) }.first { $0.realm == self.server.configuration.realm }
    }
}
