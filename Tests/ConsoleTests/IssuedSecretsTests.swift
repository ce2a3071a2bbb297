import HTTP
import Primitives
import Testing

@testable import Console

@Suite struct IssuedSecretsTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a secret holds for its time`() {
        var secrets = IssuedSecrets(lifetime: .seconds(30), most: 100)
        let secret = secrets.issue(to: .token("a"), at: start)
        #expect(secret.utf8.count == 43 && secret != secrets.issue(to: .token("a"), at: start))
        #expect(secrets.find(secret, at: start + .milliseconds(29_999))?.holder == .token("a"))
        #expect(secrets.find(secret, at: start + .seconds(30)) == nil && secrets.find("x", at: start) == nil)
        secrets.revoke(secret)
        #expect(secrets.find(secret, at: start) == nil)
    }

    @Test func `ten thousand of one holder take no room of another's`() {
        var secrets = IssuedSecrets(lifetime: .seconds(30), most: 100)
        let other = secrets.issue(to: .token("b"), at: start)
        let all = (0..<10_000).map { _ in secrets.issue(to: .token("a"), at: start) }
        #expect(secrets.count == 101 && secrets.find(other, at: start) != nil)
        #expect(all.suffix(100).allSatisfy { secrets.find($0, at: start) != nil } && secrets.find(all[9_899], at: start) == nil)
        _ = secrets.issue(to: .token("a"), at: start + .seconds(31))
        #expect(secrets.count == 2, "those that ended go")
    }

    @Test func `a cookie is found among others, and sent over TLS alone where it came so`() {
        #expect(LoginCookie.secret(in: [.cookie: "a=b; hookswitch=xyz; c=d"]) == "xyz")
        #expect(LoginCookie.secret(in: [.cookie: "nothookswitch=xyz"]) == nil && LoginCookie.secret(in: [:]) == nil)
        #expect(
            LoginCookie.field("s", lifetime: .seconds(60), isSecure: true)
                == "hookswitch=s; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure")
    }
}
