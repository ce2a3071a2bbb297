import Foundation
import HTTP
import Primitives
import Testing

@testable import Console

@Suite struct AccessControlTests {
    private static let noon = Date(timeIntervalSince1970: 1_000_000)

    /// A file of tokens that lives as long as the test.
    private final class Folder {
        let file: AccessTokenFile
        init() { file = AccessTokenFile(path: FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID()).json").path) }
        deinit { unlink(file.path) }
    }

    private static func ask(
        _ method: HTTPRequest.Method = .get, _ path: String = "/v1/calls", token: String? = nil, isLocal: Bool = false,
        at now: Instant = .zero,
        from source: UInt32 = 0xC000_0201, _ fields: HTTPFields = [:]
    ) throws -> HTTPAsk {
        var request = IncomingRequest(method, try #require(RequestTarget(path)))
        request.head.authority = "127.0.0.1:8080"
        request.head.headerFields = fields
        if let token { request.head.headerFields[.authorization] = "Bearer \(token)" }
        return HTTPAsk(
            request: request, parameters: [:], isLocal: isLocal, source: SocketAddress(IPAddress(v4: source), port: 1), now: now)
    }

    private static func status(_ decision: AccessControl.Decision) -> Int {
        switch decision {
        case .granted: 200
        case .refused(let reply): reply.status.code
        }
    }

    @Test func `without tokens this machine may do everything, and with one nobody may without it`() throws {
        let folder = Folder(), access = AccessControl(folder.file, date: { Self.noon })
        #expect(Self.status(access.decide(try Self.ask(.post, "/v1/server/drain"))) == 200)
        let (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil)
        try folder.file.write([kept])
        let later = Instant(nanoseconds: 2_000_000_000)
        #expect(Self.status(access.decide(try Self.ask(at: later))) == 401)
        #expect(Self.status(access.decide(try Self.ask(token: secret, at: later))) == 200)
        #expect(Self.status(access.decide(try Self.ask(.post, token: secret, at: later))) == 403, "the scope is read")
        #expect(Self.status(access.decide(try Self.ask(.post, "/v1/server/drain", isLocal: true, at: later))) == 200)
        // A list that is emptied lets nobody in again.
        try folder.file.write([])
        #expect(Self.status(access.decide(try Self.ask(token: secret, at: later + .seconds(2)))) == 401)
        let text = try String(contentsOfFile: folder.file.path, encoding: .utf8)
        #expect(!text.contains(secret))
        var status = stat()
        #expect(stat(folder.file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test(
        arguments: [
            (.get, "/v1/calls", .read), (.head, "/v1/lines", .read), (.post, "/v1/calls", .control), (.post, "/v1/transactions", .control),
            (.post, "/v1/calls/x/end", .control), (.put, "/v1/lines/1/dnd", .lines), (.delete, "/v1/lines/1/blocked/2", .lines),
            (.get, "/v1/journal", .read), (.get, "/v1/recordings/a.1", .read), (.delete, "/v1/recordings/a.1", .admin),
            (.patch, "/v1/lines/1", .lines), (.post, "/v1/lines/1/recents/x/call-back", .control),
            (.post, "/v1/directories/a/reload", .admin),
            (.get, "/v1/calls/x/stream", .control), (.post, "/v1/calls/x/stream", .admin), (.delete, "/v1/calls/x/stream", .control),
            (.get, "/v1/calls/x/ladder", .read),
            (.get, "/v1/settings", .admin), (.get, "/v1/health", .read), (.post, "/v1/server/reload", .admin), (.post, "/", .control),
            (.post, "/v1/tickets", .read),
        ] as [(HTTPRequest.Method, String, AccessScope)])
    func `each request needs one scope`(method: HTTPRequest.Method, path: String, scope: AccessScope) throws {
        let folder = Folder(),
            tokens = AccessScope.allCases.map { AccessToken.make(name: $0.rawValue, scopes: [$0], lines: nil, expires: nil) }
        try folder.file.write(tokens.map(\.kept))
        let access = AccessControl(folder.file)
        for (kept, secret) in tokens {
            #expect(
                Self.status(access.decide(try Self.ask(method, path, token: secret))) == (kept.scopes == [scope] ? 200 : 403),
                "\(kept.name)")
        }
    }

    @Test func `a token ends, and is for its lines`() throws {
        let folder = Folder(), access = AccessControl(folder.file, date: { Self.noon })
        let over = AccessToken.make(name: "over", scopes: [.read], lines: nil, expires: Self.noon.addingTimeInterval(-1))
        let some = AccessToken.make(name: "some", scopes: [.read], lines: ["1001"], expires: Self.noon.addingTimeInterval(1))
        try folder.file.write([over.kept, some.kept])
        #expect(Self.status(access.decide(try Self.ask(token: over.secret))) == 401)
        guard case .granted(let grant) = access.decide(try Self.ask(token: some.secret)) else { throw Refused() }
        #expect(grant.covers("1001") && !grant.covers("1002") && !grant.covers(""))
    }

    @Test func `a source that tries tokens waits, and a right one is let in all the same`() throws {
        let folder = Folder(), access = AccessControl(folder.file),
            (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil)
        try folder.file.write([kept])
        let answers = try (0...AccessControl.mostWrong).map { _ in Self.status(access.decide(try Self.ask(token: "wrong"))) }
        #expect(answers == Array(repeating: 401, count: AccessControl.mostWrong) + [429])
        #expect(Self.status(access.decide(try Self.ask(token: secret))) == 200)
        #expect(Self.status(access.decide(try Self.ask(token: "wrong", from: 0xC000_0202))) == 401, "another source")
        #expect(Self.status(access.decide(try Self.ask(token: "wrong", at: Instant(nanoseconds: 61_000_000_000)))) == 401, "a minute later")
    }

    @Test func `a page of another origin may not use a token either`() throws {
        let folder = Folder(), access = AccessControl(folder.file),
            (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil)
        try folder.file.write([kept])
        #expect(Self.status(access.decide(try Self.ask(token: secret, [.origin: "https://evil.example"]))) == 403)
        #expect(Self.status(access.decide(try Self.ask(token: secret, [.origin: "https://127.0.0.1:8080"]))) == 200)
    }

    @Test func `a ticket ends after thirty seconds, and a login with its token`() throws {
        final class Clock { var date = AccessControlTests.noon }
        let folder = Folder(), clock = Clock(), access = AccessControl(folder.file, date: { clock.date })
        let (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: Self.noon.addingTimeInterval(60))
        try folder.file.write([kept])
        var asking = try Self.ask(token: secret)
        guard case .granted(let grant) = access.decide(asking) else { throw Refused() }
        asking.grant = grant
        let first = access.issueTicket(asking), second = access.issueTicket(asking)
        func status(_ ticket: String, at milliseconds: UInt64) throws -> Int {
            let now = Instant(nanoseconds: milliseconds * 1_000_000)
            return Self.status(access.decide(try Self.ask(.get, "/v1/events?ticket=\(ticket)", at: now)))
        }
        #expect(access.holds(grant, at: .zero) && access.holds(.everything, at: .zero))
        #expect(try status(first, at: 29_999) == 200 && status(first, at: 29_999) == 401)
        #expect(try status(second, at: 30_000) == 401)
        let third = access.issueTicket(asking), cookie = try #require(access.logIn(with: secret, asking))
        let with: HTTPFields = [.cookie: "hookswitch=\(cookie)"]
        #expect(Self.status(access.decide(try Self.ask(.get, "/v1/calls", with))) == 200)
        clock.date = Self.noon.addingTimeInterval(61)
        #expect(try status(third, at: 1) == 401 && Self.status(access.decide(try Self.ask(.get, "/v1/calls", with))) == 401)
        #expect(access.logIn(with: secret, asking) == nil && !access.holds(grant, at: .zero))
        clock.date = Self.noon
        let late = try Self.ask(at: Instant(nanoseconds: 12 * 3_600 * 1_000_000_000), with)
        #expect(Self.status(access.decide(late)) == 401, "twelve hours")
    }

    @Test func `over TLS a page in the clear is another origin`() throws {
        let folder = Folder(), access = AccessControl(folder.file),
            (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil)
        try folder.file.write([kept])
        var ask = try Self.ask(token: secret, [.origin: "http://127.0.0.1:8080"])
        #expect(Self.status(access.decide(ask)) == 200)
        ask.isSecure = true
        #expect(Self.status(access.decide(ask)) == 403)
    }

    @Test func `a file that cannot be read leaves what held`() throws {
        let folder = Folder(), access = AccessControl(folder.file),
            (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil)
        try folder.file.write([kept])
        #expect(Self.status(access.decide(try Self.ask(token: secret))) == 200)
        try "{".write(toFile: folder.file.path, atomically: true, encoding: .utf8)
        #expect(throws: AccessTokenFile.Failure.self) { try folder.file.read() }
        #expect(Self.status(access.decide(try Self.ask(token: secret, at: Instant(nanoseconds: 5_000_000_000)))) == 200)
    }

    private struct Refused: Error {}
}
