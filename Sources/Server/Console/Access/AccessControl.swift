import Foundation
import Gateway
import HTTP
import Primitives

/// The rights of a client.
public struct AccessGrant: Equatable, Sendable {
    public var scopes: Set<AccessScope>
    /// nil: all lines.
    public var lines: Set<Text>?
    /// The name of the token; nil: there is none.
    var name: String?
    /// When they end; nil: they do not.
    var expires: Date?
    var holder = IssuedSecrets.Holder.machine

    static let everything = AccessGrant(scopes: Set(AccessScope.allCases), holder: .user)
    static let nothing = AccessGrant(scopes: [], lines: [])

    func covers(_ line: Text) -> Bool { lines?.contains(line) ?? true }

    /// - Parameter others: nil: all lines.
    func covers(all others: Set<Text>?) -> Bool {
        guard let lines else { return true }
        return others.map { $0.isSubset(of: lines) } ?? false
    }
}

/// Decides who is let in: everybody over the socket in the file system; over TCP whoever shows a token, a ticket or a login, and where there
/// are no tokens, programs of this machine.
///
/// Lane-confined. A source that tries tokens is told to wait, and whoever has a right one is let in all the same.
final class AccessControl {
    enum Decision {
        case granted(AccessGrant)
        case refused(HTTPReply)
    }

    /// Wrong tokens that a source has a minute for.
    static let mostWrong = WrongTokens.most
    /// The shortest time between two looks at the file.
    private static let pause = Duration.seconds(1)

    private let file: AccessTokenFile?
    private let origins: OriginRule
    /// The digest of the secret by which gateways know each other; nil: there are no others.
    private let nodeSecret: String?
    let date: () -> Date
    private var tokens: [String: AccessToken] = [:]
    /// The version of the file that was read last.
    private var version: AccessTokenFile.Version?
    private var looked: Instant?
    private var wrong = WrongTokens()
    /// For one connection of events each, as a browser can show no token with a WebSocket.
    private(set) var tickets = IssuedSecrets(lifetime: .seconds(30), most: 100)
    /// The logins of browsers, by their cookie.
    private(set) var logins = IssuedSecrets(lifetime: .seconds(12 * 3_600), most: 100)

    /// - Parameters:
    ///   - file: nil: there are no tokens.
    ///   - origins: of pages that may ask.
    ///   - nodeSecret: by which gateways know each other; nil: there are no others.
    ///   - date: the time by which tokens end.
    init(
        _ file: AccessTokenFile?, origins: OriginRule = OriginRule(), nodeSecret: String? = nil, date: @escaping () -> Date = { Date() }
    ) {
        (self.file, self.origins, self.date) = (file, origins, date)
        self.nodeSecret = nodeSecret.map { AccessToken.digest($0) }
    }

    func decide(_ ask: HTTPAsk) -> Decision {
        if ask.isLocal { return .granted(.everything) }
        look(at: ask.now)
        if let refusal = origins.refusal(ask) { return .refused(refusal) }
        if let grant = grantOfNode(ask) { return Self.decide(ask, grant) }
        if ConsoleRoutes.isPage(ask.request) { return .granted(.nothing) }
        if let grant = grant(of: .machine) { return LoopbackRule.refusal(ask).map(Decision.refused) ?? .granted(grant) }
        if ask.request.target.segments == ["v1", "login"] { return .granted(.nothing) }
        switch credential(of: ask) {
        case .granted(let grant): return Self.decide(ask, grant)
        case let refusal: return refusal
        }
    }

    private static func decide(_ ask: HTTPAsk, _ grant: AccessGrant) -> Decision {
        guard let scope = AccessScope.needed(by: ask.request), !grant.scopes.contains(scope) else { return .granted(grant) }
        return .refused(
            Problem(.forbidden, "insufficientScope", "the token '\(grant.name ?? "")' has no scope '\(scope.rawValue)'").reply)
    }

    /// The rights of a client of another gateway, which shows the secret; nil: it is no gateway that asks.
    private func grantOfNode(_ ask: HTTPAsk) -> AccessGrant? {
        let fields = ask.request.head.headerFields
        guard let nodeSecret, let told = fields[AccessGrant.field], let field = fields[.authorization], field.utf8.count < 512,
            field.lowercased().hasPrefix("bearer "), AccessToken.digest(field.dropFirst(7)) == nodeSecret
        else { return nil }
        return AccessGrant(told: told)
    }

    /// The proof that the client shows: a token, or in its place a ticket, or the cookie of its login.
    private func credential(of ask: HTTPAsk) -> Decision {
        let fields = ask.request.head.headerFields
        if let field = fields[.authorization] {
            guard field.lowercased().hasPrefix("bearer "), field.utf8.count < 512,
                let grant = grant(ofToken: field.dropFirst(7).trimmingCharacters(in: .whitespaces))
            else { return .refused(refuse(ask)) }
            return .granted(grant)
        }
        if let ticket = ask.request.target["ticket"], Self.takesTickets(ask.request.target) {
            defer { tickets.revoke(ticket) }
            return tickets.find(ticket, at: ask.now).flatMap { grant(of: $0.holder) }.map(Decision.granted) ?? .refused(refuse(ask))
        }
        guard let secret = LoginCookie.secret(in: fields), let login = logins.find(secret, at: ask.now),
            var grant = grant(of: login.holder)
        else { return .refused(Self.unknown) }
        // A browser sends its cookie by itself, whoever made the page: what changes something comes from a page of ours.
        if ![.get, .head].contains(ask.request.head.method), !(fields[.origin].map { OriginRule.isOwn($0, ask) } ?? false) {
            return .refused(Problem(.forbidden, "wrongOrigin", "a login may change something from a page of this server alone").reply)
        }
        let ends = date() + TimeInterval((login.ends - ask.now).wholeMilliseconds / 1_000)
        grant.expires = min(ends, grant.expires ?? ends)
        return .granted(grant)
    }

    /// The paths of WebSockets, which a browser opens without fields of its own.
    private static func takesTickets(_ target: RequestTarget) -> Bool {
        target.segments == ["v1", "events"] || AccessScope.isStream(target)
    }

    /// The rights of a token; nil where it is none, or has ended.
    private func grant(ofToken secret: some StringProtocol) -> AccessGrant? { grant(of: .token(AccessToken.digest(secret))) }

    private func grant(of holder: IssuedSecrets.Holder) -> AccessGrant? {
        switch holder {
        case .user: return .everything
        // The gateway that has let the client in ends the request when the client may ask no longer.
        case .node: return nodeSecret == nil ? nil : .everything
        case .machine:
            // A server without tokens is reached from this machine alone: another address is listened on with tokens alone.
            return tokens.isEmpty && version == nil ? AccessGrant(scopes: Set(AccessScope.allCases), holder: .machine) : nil
        case .token(let digest):
            // Looked up by its digest: how long that takes tells nothing of the token.
            guard let token = tokens[digest], token.expires.map({ $0 > date() }) ?? true else { return nil }
            return AccessGrant(
                scopes: Set(token.scopes), lines: token.lines.map { Set($0.map { Text($0) }) }, name: token.name, expires: token.expires,
                holder: holder)
        }
    }

    /// The answer to a wrong token.
    func refuse(_ ask: HTTPAsk) -> HTTPReply {
        guard let wait = wrong.note(ask.source.address, at: ask.now) else { return Self.unknown }
        var reply = Problem(.tooManyRequests, "tooManyTokens", "too many wrong tokens from \(ask.source.address)").reply
        reply.fields[.retryAfter] = "\(max(1, wait.wholeMilliseconds / 1_000))"
        return reply
    }

    private static let unknown: HTTPReply = {
        var reply = Problem(.unauthorized, "unauthorized", "this needs a token: Authorization: Bearer …").reply
        reply.fields[.wwwAuthenticate] = "Bearer"
        return reply
    }()

    /// Takes the file over where it has changed; one that cannot be read leaves what held.
    private func look(at now: Instant) {
        guard let file, looked.map({ now - $0 >= Self.pause }) ?? true else { return }
        looked = now
        let latest = file.version
        guard latest != version, let found = try? file.read() else { return }
        version = latest
        tokens = found.reduce(into: [:]) { $0[$1.sha256] = $1 }
    }
}

// Tickets and logins, which stand for a token.
extension AccessControl {
    /// Whether a right that somebody was let in by still holds: its token may have ended, or been taken back.
    func holds(_ grant: AccessGrant, at now: Instant) -> Bool {
        look(at: now)
        return self.grant(of: grant.holder) != nil && grant.expires.map { $0 > date() } ?? true
    }

    /// A ticket for one connection of events, with the rights of who asks.
    func issueTicket(_ ask: HTTPAsk) -> String { tickets.issue(to: ask.grant.holder, at: ask.now) }

    /// A login with the rights of a token; nil where it is none.
    func logIn(with token: String, _ ask: HTTPAsk) -> String? {
        guard token.utf8.count < 512, let grant = grant(ofToken: token) else { return nil }
        return logins.issue(to: grant.holder, at: ask.now)
    }

    func logOut(_ ask: HTTPAsk) {
        if let secret = LoginCookie.secret(in: ask.request.head.headerFields) { logins.revoke(secret) }
    }
}
