import Foundation
import HTTP
import Primitives

/// The rights of a client.
public struct AccessGrant: Equatable, Sendable {
    public var scopes: Set<AccessScope>
    /// nil: all lines.
    public var lines: Set<Text>?

    static let everything = AccessGrant(scopes: Set(AccessScope.allCases), lines: nil)

    func covers(_ line: Text) -> Bool { lines?.contains(line) ?? true }
}

/// Decides who is let in: everybody over the socket in the file system; over TCP whoever shows a token, and where there are no tokens,
/// programs of this machine.
///
/// Lane-confined. A source that tries tokens is told to wait, and whoever has a right one is let in all the same.
final class AccessControl {
    enum Decision {
        case granted(AccessGrant)
        case refused(HTTPReply)
    }

    /// Wrong tokens that a source has a minute for.
    static let mostWrong = 10
    private static let window = Duration.seconds(60), mostSources = 10_000
    /// The shortest time between two looks at the file.
    private static let pause = Duration.seconds(1)

    private let file: AccessTokenFile?
    private let date: () -> Date
    private var tokens: [String: AccessToken] = [:]
    /// The version of the file that was read last.
    private var version: AccessTokenFile.Version?
    private var looked: Instant?
    private var wrong: [IPAddress: (count: Int, since: Instant)] = [:]

    /// - Parameter file: nil: there are no tokens.
    init(_ file: AccessTokenFile?, date: @escaping () -> Date = { Date() }) { (self.file, self.date) = (file, date) }

    func decide(_ ask: HTTPAsk) -> Decision {
        if ask.isLocal { return .granted(.everything) }
        look(at: ask.now)
        let scope = AccessScope.needed(by: ask.request)
        if tokens.isEmpty {
            // Nobody else can reach it: another address is listened on with tokens alone.
            guard version == nil else { return .refused(Self.unknown) }
            return LoopbackRule.refusal(ask).map(Decision.refused) ?? .granted(.everything)
        }
        if let refusal = Self.refusal(ofOrigin: ask) { return .refused(refusal) }
        guard let token = token(of: ask) else { return .refused(refuse(ask)) }
        guard token.scopes.contains(scope) else {
            return .refused(Problem(.forbidden, "insufficientScope", "the token '\(token.name)' has no scope '\(scope.rawValue)'").reply)
        }
        return .granted(AccessGrant(scopes: Set(token.scopes), lines: token.lines.map { Set($0.map { Text($0) }) }))
    }

    private func token(of ask: HTTPAsk) -> AccessToken? {
        guard let field = ask.request.head.headerFields[.authorization], field.lowercased().hasPrefix("bearer "), field.utf8.count < 512
        else {
            return nil
        }
        // Looked up by its digest: how long that takes tells nothing of the token.
        let secret = field.dropFirst(7).trimmingCharacters(in: .whitespaces)
        guard let token = tokens[AccessToken.digest(secret)], token.expires.map({ $0 > date() }) ?? true else { return nil }
        return token
    }

    private func refuse(_ ask: HTTPAsk) -> HTTPReply {
        guard ask.request.head.headerFields[.authorization] != nil else { return Self.unknown }
        let source = ask.source.address, before = wrong[source]
        let isOpen = before.map { ask.now - $0.since < Self.window } ?? false
        if wrong.count >= Self.mostSources { wrong = wrong.filter { ask.now - $0.value.since < Self.window } }
        if wrong.count < Self.mostSources || before != nil {
            wrong[source] = isOpen ? ((before?.count ?? 0) + 1, before?.since ?? ask.now) : (1, ask.now)
        }
        guard let (count, since) = wrong[source], count > Self.mostWrong else { return Self.unknown }
        var reply = Problem(.tooManyRequests, "tooManyTokens", "too many wrong tokens from \(source)").reply
        reply.fields[.retryAfter] = "\(max(1, (since + Self.window - ask.now).wholeMilliseconds / 1_000))"
        return reply
    }

    private static let unknown: HTTPReply = {
        var reply = Problem(.unauthorized, "unauthorized", "this needs a token: Authorization: Bearer …").reply
        reply.fields[.wwwAuthenticate] = "Bearer"
        return reply
    }()

    /// A browser says where a page is from. It sends no token by itself, but might be tricked into more.
    private static func refusal(ofOrigin ask: HTTPAsk) -> HTTPReply? {
        guard let origin = ask.request.head.headerFields[.origin], let host = ask.request.head.authority,
            origin != "http://\(host)", origin != "https://\(host)"
        else { return nil }
        return Problem(.forbidden, "wrongOrigin", "a page of \(origin) may not ask here").reply
    }

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
