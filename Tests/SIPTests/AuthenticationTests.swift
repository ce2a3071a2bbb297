import Primitives
import Runtime
import Testing

@testable import SIP

let openSSL: DigestHash = { algorithm, bytes in OpenSSLDigest.hexadecimal([.md5, .sha256, .sha512_256][algorithm.rawValue], bytes) }

@Suite struct DigestTests {
    /// RFC 2617 §3.5 and RFC 7616 §3.9.1.
    @Test(arguments: [
        (
            DigestAlgorithm.md5, "testrealm@host.com", "Circle Of Life", "dcd98b7102dd2f0e8b11d0f600bfb0c093", "0a4f113b",
            "6629fae49393a05397450978507c4ef1"
        ),
        (
            .md5, "http-auth@example.org", "Circle of Life", "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "8ca523f5e9506fed4657c9700eebdbec"
        ),
        (
            .sha256, "http-auth@example.org", "Circle of Life", "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        ),
    ])
    func `the digests of the RFCs come out`(
        algorithm: DigestAlgorithm, realm: String, password: String, nonce: String, clientNonce: String, response: String
    ) {
        let challenge = DigestChallenge(realm: Text(realm), nonce: Text(nonce), algorithm: algorithm)
        let credentials = DigestCredentials(
            answering: challenge, user: "Mufasa", secret: .password(Text(password)), method: Method("GET"), uri: "/dir/index.html",
            count: 1,
            clientNonce: Text(clientNonce), hash: openSSL)
        #expect(credentials?.response.description == response)
    }

    @Test func `the authentication tag is the HMAC of RFC 4231`() {
        let tag = Digest.authenticationTag(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), hash: openSSL)
        #expect(Text(tag) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = Digest.authenticationTag(
            key: Array(repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8), hash: openSSL)
        #expect(Text(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `headers are read as they are written, and as others write them`() throws {
        let challenge = DigestChallenge(
            realm: "a \"b\" \\", nonce: "n,1", algorithm: .sha256, qualities: ["auth", "auth-int"], opaque: "o", isStale: true)
        #expect(try DigestChallenge(parsing: challenge.value) == challenge)
        let other = try DigestChallenge(parsing: "digest qop=\"auth,auth-int\" , Nonce=\"x\",realm=\"r\", unknown=1,, stale=FALSE")
        #expect(other == DigestChallenge(realm: "r", nonce: "x", algorithm: .md5, qualities: ["auth", "auth-int"]))
        let credentials = DigestCredentials(
            answering: other, user: "u\"", secret: .password("p"), method: .register, uri: "sip:a", count: 0x1F, clientNonce: "c",
            hash: openSSL)
        #expect(credentials.flatMap { try? DigestCredentials(parsing: $0.value) } == credentials)
        #expect(credentials?.nonceCount == "0000001f" && credentials?.count == 31)
    }

    @Test(arguments: [
        "", "Digest", "Basic realm=\"x\"", "Digest realm=\"r\"", "Digest realm=\"r\", nonce=\"n",
        "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-1-sess", "Digest realm=\"r\" nonce=\"n\"",
        "Digest realm=\"r\", realm=\"s\", nonce=\"n\"", "Digest =x",
    ])
    func `a challenge that cannot be answered is refused`(value: String) {
        #expect(throws: SyntaxError.self) { try DigestChallenge(parsing: Text(value)) }
    }

    @Test func `a list of a thousand fields is refused`() {
        let value = Text("Digest " + (0..<1_000).map { "f\($0)=1" }.joined(separator: ","))
        #expect(throws: SyntaxError.self) { try DigestChallenge(parsing: value) }
    }
}

@Suite struct DigestClientTests {
    func challenge(_ status: Int, _ challenges: [Text], to request: Message) -> Message {
        var response = Message.response(to: request, status: status, toTag: "t")
        for value in challenges { response.headers.append(status == 407 ? .proxyAuthenticate : .wwwAuthenticate, value) }
        return response
    }

    func register() throws -> Message { try Message(parsing: request("REGISTER", uri: "sip:example.test")) }

    @Test func `a client and a server agree, and go on without being asked again`() throws {
        var server = DigestServer(configuration: .init(realm: "r"), secret: [1], hash: openSSL)
        var client = DigestClient(user: "1001", secret: .password("p"), hash: openSSL)
        var request = try register()
        try client.answer(challenge(401, server.challenges(at: .zero).map(\.value), to: request), in: &request, clientNonce: "abc")
        for count in 1...3 as ClosedRange<UInt32> {
            let credentials = try DigestCredentials(parsing: #require(request.headers[.authorization]))
            #expect(credentials.algorithm == .sha256 && credentials.count == count)
            let uri = try #require(request.requestURI)
            #expect(server.verify(credentials, method: .register, uri: uri, secret: .password("p"), at: .zero) == .accepted)
            request = try register()
            client.authorize(&request, clientNonce: "def")
        }
    }

    @Test(arguments: [
        (
            [
                "Digest realm=\"r\", nonce=\"n\", algorithm=MD5, qop=\"auth\"",
                "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, qop=\"auth\"",
            ], "SHA-256"
        ),
        (["Digest realm=\"r\", nonce=\"n\", algorithm=SHA3-256, qop=\"auth\"", "Digest realm=\"r\", nonce=\"n\""], "MD5"),
        (["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int,auth\""], "MD5"),
        (["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""], "unsupportedQuality"), (["Basic realm=\"r\""], "unsupported"),
        ([], "unsupported"),
    ])
    func `the best challenge that can be answered is answered`(values: [String], expected: String) throws {
        var client = DigestClient(user: "u", secret: .password("p"), hash: openSSL)
        var request = try register()
        let response = challenge(401, values.map { Text($0) }, to: request)
        do throws(DigestClient.Refusal) { try client.answer(response, in: &request, clientNonce: "c") } catch {
            #expect("\(error)" == expected)
            return
        }
        #expect(try DigestCredentials(parsing: #require(request.headers[.authorization])).algorithm.text.description == expected)
    }

    @Test func `a server that does not take the answer is not asked for ever`() throws {
        var client = DigestClient(user: "u", secret: .password("wrong"), hash: openSSL)
        var request = try register()
        func response(_ nonce: Int, stale: Bool) -> Message {
            challenge(401, [DigestChallenge(realm: "r", nonce: Text(nonce), algorithm: .md5, isStale: stale).value], to: request)
        }
        try client.answer(response(1, stale: false), in: &request, clientNonce: "c")
        try client.answer(response(2, stale: true), in: &request, clientNonce: "c")
        let refused = response(3, stale: false)
        #expect(throws: DigestClient.Refusal.rejected) { try client.answer(refused, in: &request, clientNonce: "c") }
    }

    @Test func `a nonce that was taken before and is no longer is replaced once`() throws {
        var client = DigestClient(user: "u", secret: .password("p"), hash: openSSL)
        var request = try register()
        func response(_ nonce: Int) -> Message {
            challenge(401, [DigestChallenge(realm: "r", nonce: Text(nonce), algorithm: .md5).value], to: request)
        }
        try client.answer(response(1), in: &request, clientNonce: "c")
        request = try register()
        client.authorize(&request, clientNonce: "d")
        try client.answer(response(2), in: &request, clientNonce: "e")
        #expect(try DigestCredentials(parsing: #require(request.headers[.authorization])).nonce == "2")
        let refused = response(3)
        #expect(throws: DigestClient.Refusal.rejected) { try client.answer(refused, in: &request, clientNonce: "f") }
    }

    @Test func `a proxy and a server behind it both get their answers`() throws {
        var client = DigestClient(user: "u", secret: .password("p"), hash: openSSL)
        var request = try register()
        try client.answer(
            challenge(407, ["Digest realm=\"proxy\", nonce=\"1\", qop=\"auth\""], to: request), in: &request, clientNonce: "c")
        try client.answer(
            challenge(401, ["Digest realm=\"server\", nonce=\"2\", qop=\"auth\""], to: request), in: &request, clientNonce: "c")
        #expect(try DigestCredentials(parsing: #require(request.headers[.proxyAuthorization])).realm == "proxy")
        #expect(try DigestCredentials(parsing: #require(request.headers[.authorization])).realm == "server")
        #expect(request.headers.count == 9)
    }

    /// RFC 3261 §22.3: a forked call brings the challenges of several.
    @Test func `every realm of one challenge gets its answer, with the best algorithm of each`() throws {
        var client = DigestClient(user: "u", secret: .password("p"), hash: openSSL)
        var request = try register()
        func value(_ realm: String, _ nonce: Int, _ algorithm: DigestAlgorithm = .md5, stale: Bool = false) -> Text {
            DigestChallenge(realm: Text(realm), nonce: Text(nonce), algorithm: algorithm, isStale: stale).value
        }
        func answered(_ name: HeaderName) throws -> [String] {
            try request.headers.all(name).map { try DigestCredentials(parsing: $0) }.map { "\($0.realm) \($0.nonce) \($0.algorithm.text)" }
        }
        try client.answer(
            challenge(407, [value("a", 1), value("b", 2), value("a", 3, .sha256)], to: request), in: &request, clientNonce: "c")
        #expect(try answered(.proxyAuthorization) == ["a 3 SHA-256", "b 2 MD5"])
        var both = challenge(407, [value("b", 4, stale: true)], to: request)
        both.headers.append(.wwwAuthenticate, value("a", 5))
        try client.answer(both, in: &request, clientNonce: "d")
        #expect(try answered(.proxyAuthorization) == ["a 3 SHA-256", "b 4 MD5"] && answered(.authorization) == ["a 5 MD5"])
        let refused = challenge(401, [value("a", 6)], to: request)
        #expect(throws: DigestClient.Refusal.rejected) { try client.answer(refused, in: &request, clientNonce: "e") }
    }

    @Test func `without a quality the digest of RFC 2069 is made`() throws {
        var client = DigestClient(user: "u", secret: .password("p"), hash: openSSL)
        var request = try register()
        try client.answer(challenge(401, ["Digest realm=\"r\", nonce=\"n\""], to: request), in: &request, clientNonce: "c")
        let credentials = try DigestCredentials(parsing: #require(request.headers[.authorization]))
        #expect(credentials.quality == nil && credentials.nonceCount == nil && credentials.clientNonce == nil)
        #expect(
            credentials.response
                == Text(
                    openSSL(
                        .md5,
                        openSSL(.md5, Array("u:r:p".utf8)) + Array(":n:".utf8) + openSSL(.md5, Array("REGISTER:sip:example.test".utf8)))))
    }
}
