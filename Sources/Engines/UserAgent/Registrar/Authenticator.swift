import Primitives
import SIP

/// The numbers of wrong passwords a minute that are answered like the first one.
public struct GuessLimits: Hashable, Sendable {
    /// For one user from one address. Each further one is told when to come again, and counted as throttled.
    public var perUser: Int
    /// For all users from one address.
    public var perSource: Int

    /// Guesses a minute, of one user at one address and of all users at one address.
    public init(perUser: Int = 20, perSource: Int = 200) { (self.perUser, self.perSource) = (perUser, perSource) }

    /// From here on the passwords of a user from that address are not looked at until its minute is over, unless it has sent the right one
    /// before: a machine tries them.
    var unheard: Int { 50 * perUser }
}

/// A wrong password.
public struct WrongPassword: Hashable, Sendable {
    /// As it was said, at most 64 bytes of it.
    public var user: Text
    /// The address that it came from; for IPv6 the network of 64 bits.
    public var source: IPAddress
    /// Wrong passwords of this user from there in this minute; for an unknown user, those of all unknown users from there.
    public var count: Int
    /// Whether it is one too many.
    public var excess: Excess

    /// Whether it is one too many, by the count of its user or of its source.
    public enum Excess: Hashable, Sendable { case none, first, further }
}

/// The secret of gateways that take each other's nonces, and the time here.
public struct SharedNonces: Hashable, Sendable {
    /// Known to these gateways alone.
    public var secret: [UInt8]
    /// The date at `Instant.zero` on the clock of this machine, in ns since 1970.
    public var epoch: UInt64

    /// A secret, and the time here.
    public init(secret: [UInt8], epoch: UInt64) { (self.secret, self.epoch) = (secret, epoch) }
}

/// Finds out who sent a request, by digest (RFC 3261 §22). On the signalling lane.
///
/// The registrar and the gateway share one, so that a nonce that a device got with its REGISTER is good for its calls. A right password is
/// heard whatever others at its address do (see `GuessLimits`); a wrong one counts only with a nonce that was given to its address, so that
/// over UDP nobody counts for somebody else.
public final class Authenticator {
    /// The sender of a request, or the challenge for it.
    public enum Result: Sendable {
        /// The request was sent by this user, without %-escapes.
        case accepted(Text)
        /// The headers of a 401: WWW-Authenticate with the preferred algorithm first, for RFC 8760 wants all of them; and Retry-After for a
        /// guess too many.
        case challenge([(HeaderName, Text)])
    }

    /// A user at an address.
    private struct Device: Hashable {
        /// Empty for all users that there are not.
        var user: Text
        var network: IPAddress
    }

    private var server: DigestServer
    private let limits: GuessLimits
    private var byDevice = GuessCounter<Device>(per: .seconds(60))
    private var bySource = GuessCounter<IPAddress>(per: .seconds(60))
    /// Devices that sent a right password within a day or two.
    private var proven = GuessCounter<Device>(per: .seconds(86_400), keys: 50_000)
    private let accounts: any AccountDirectory
    /// Checked in place of a user's that does not exist, so that the answer takes as long.
    private let nobody: DigestSecret
    /// Told of each wrong password.
    public var onWrongPassword: ((WrongPassword, Instant) -> Void)?

    /// - Parameters:
    ///   - shared: the secret of other authenticators, whose nonces are good here; nil: none are.
    ///   - random: makes the secret of the nonces; from the operating system in a running server.
    public init(
        configuration: DigestServer.Configuration, accounts: any AccountDirectory, limits: GuessLimits = GuessLimits(),
        shared: SharedNonces? = nil, random: any RandomNumberGenerator, hash: @escaping DigestHash
    ) {
        var random = random
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        // With a random half and a counter no two have the same numbers.
        let numbering = shared.map {
            DigestServer.Numbering(first: UInt64.random(in: 0...0xFFFF_FFFF, using: &random) << 32, epoch: $0.epoch)
        }
        server = DigestServer(
            configuration: configuration, secret: shared?.secret ?? secret, numbering: numbering ?? DigestServer.Numbering(), hash: hash)
        nobody = .password(Text((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }))
        (self.accounts, self.limits) = (accounts, limits)
    }

    /// Nonces that are in use.
    public var nonceCount: Int { server.count }
    /// Wrong passwords so far, and those of them that were too many.
    public private(set) var guessCount: UInt64 = 0, throttledCount: UInt64 = 0

    /// Users with too many wrong passwords in this minute and where they come from, the most first; at most twenty.
    public func throttled(at now: Instant) -> [(user: Text, source: IPAddress, count: Int)] {
        byDevice.keys(with: limits.perUser, at: now).sorted { $0.count > $1.count }.prefix(20).map {
            ($0.key.user, $0.key.network, $0.count)
        }
    }

    /// Checks the Authorization, or Proxy-Authorization, of a request for our realm. Right credentials are used up: ask once for a request.
    public func verify(_ request: Message, from source: IPAddress, at now: Instant) -> Result {
        guard let uri = request.requestURI, let credentials = credentials(in: request) else { return challenge(request, source, at: now) }
        let account = accounts.account(of: credentials.user)
        if account == .open { return .accepted(credentials.user) }
        let device = Device(user: account == nil ? .empty : credentials.user.detached, network: source.clientNetwork)
        guard isHeard(device, at: now) else {
            throttledCount += 1
            return challenge(request, source, after: byDevice.guesses(of: device, at: now).left, at: now)
        }
        switch server.verify(credentials, method: request.method, uri: uri, secret: account?.secret ?? nobody, from: source, at: now) {
        case .accepted where account != nil:
            if proven.guesses(of: device, at: now).count == 0 { proven.guessed(device, at: now) }
            return .accepted(credentials.user)
        case .stale where account != nil, .unknownNonce: return challenge(request, source, stale: true, at: now)
        case .refused(.mismatch): return challenge(request, source, at: now)
        case .accepted, .stale, .refused(.wrongPassword): return wrong(request, credentials.user, device, source, at: now)
        }
    }

    private func isHeard(_ device: Device, at now: Instant) -> Bool {
        byDevice.guesses(of: device, at: now).count < limits.unheard || proven.guesses(of: device, at: now).count > 0
    }

    private func wrong(_ request: Message, _ user: Text, _ device: Device, _ source: IPAddress, at now: Instant) -> Result {
        byDevice.guessed(device, at: now)
        bySource.guessed(device.network, at: now)
        let (count, left) = byDevice.guesses(of: device, at: now), (all, allLeft) = bySource.guesses(of: device.network, at: now)
        let isThrottled = count > limits.perUser || all > limits.perSource
        let isFirst = count == limits.perUser + 1 || all == limits.perSource + 1
        guessCount += 1
        if isThrottled { throttledCount += 1 }
        let name = Text(user.bytes.prefix(64)).detached
        onWrongPassword?(
            WrongPassword(user: name, source: source, count: count, excess: isFirst ? .first : isThrottled ? .further : .none), now)
        return challenge(request, source, after: isThrottled ? (count > limits.perUser ? left : allLeft) : nil, at: now)
    }

    private func challenge(_ request: Message, _ source: IPAddress, stale: Bool = false, after pause: Duration? = nil, at now: Instant)
        -> Result
    {
        let all = server.challenges(stale: stale, for: source, at: now)
        let simple = knowsOnlyMD5(request) ? all.filter { $0.algorithm == .md5 } : all
        let fields = (simple.isEmpty ? all : simple).map { (HeaderName.wwwAuthenticate, $0.value) }
        return .challenge(fields + (pause.map { [(.retryAfter, Text(max(1, $0.wholeMilliseconds / 1_000)))] } ?? []))
    }

    /// Two clients give up at a challenge that is not MD5, instead of passing over it (RFC 7616 §3.7): baresip before 3.0, and sipp, which
    /// looks at the first one alone. sipp has no User-Agent, but its branches are three numbers with hyphens.
    private func knowsOnlyMD5(_ request: Message) -> Bool {
        if let client = request.headers[.userAgent] {
            return ["baresip v0.", "baresip v1.", "baresip v2."].contains { client.bytes.starts(with: ($0 as Text).bytes) }
        }
        let pieces = request.via.branch?.bytes.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false) ?? []
        return pieces.count == 4 && pieces[0].elementsEqual("z9hG4bK".utf8)
            && pieces.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }
    }

    /// The first that are meant for us; those for other realms are for others (RFC 3261 §22.3).
    private func credentials(in request: Message) -> DigestCredentials? {
        (request.headers.all(.authorization) + request.headers.all(.proxyAuthorization)).prefix(8).lazy
            .compactMap { try? DigestCredentials(parsing: $0) }.first { $0.realm == self.server.configuration.realm }
    }
}
