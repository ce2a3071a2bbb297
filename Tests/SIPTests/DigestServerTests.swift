import Primitives
import SIP
import Testing

@Suite struct DigestServerTests {
    let uri = URI(host: "example.test")
    let start = Instant(nanoseconds: 5_000_000_000)

    func server(remembering: Int = 100, requiresQuality: Bool = true) -> DigestServer {
        DigestServer(
            configuration: .init(
                realm: "example.test", nonceLifetime: .seconds(60), requiresQuality: requiresQuality, rememberedNonces: remembering),
            secret: [1, 2, 3],
            hash: openSSL)
    }

    func answer(
        _ challenge: DigestChallenge, user: Text = "1001", password: Text = "secret", method: Method = .register,
        uri: Text = "sip:example.test", count: UInt32 = 1, clientNonce: Text? = "c"
    ) -> DigestCredentials {
        guard
            let answer = DigestCredentials(
                answering: challenge, user: user, secret: .password(password), method: method, uri: uri, count: count,
                clientNonce: clientNonce, hash: openSSL)
        else { preconditionFailure("a password hashes with everything") }
        return answer
    }

    /// RFC 7616 §3.4.2, against the formula written out: with -sess A1 = H(H(user:realm:password):nonce:cnonce).
    @Test(arguments: DigestAlgorithm.allCases)
    func `every algorithm is answered, checked and used again`(algorithm: DigestAlgorithm) throws {
        var server = DigestServer(configuration: .init(realm: "example.test", algorithms: [algorithm]), secret: [1, 2, 3], hash: openSSL)
        let challenge = server.challenges(at: start)[0]
        #expect(try DigestChallenge(parsing: challenge.value) == challenge)
        let right = answer(challenge), again = answer(challenge, count: 2), wrong = answer(challenge, password: "guess", count: 3)
        func check(_ credentials: DigestCredentials) -> DigestServer.Verdict {
            server.verify(credentials, method: .register, uri: uri, secret: .password("secret"), at: start)
        }
        #expect([check(right), check(again), check(wrong)] == [.accepted, .accepted, .refused(.wrongPassword)])
        let plain = openSSL(algorithm.hash, Array("1001:example.test:secret".utf8))
        let first = algorithm.isSession ? openSSL(algorithm.hash, plain + Array(":\(challenge.nonce):c".utf8)) : plain
        let second = openSSL(algorithm.hash, Array("REGISTER:sip:example.test".utf8))
        #expect(right.response == Text(openSSL(algorithm.hash, first + Array(":\(challenge.nonce):00000001:c:auth:".utf8) + second)))
    }

    @Test func `a session without a client nonce is refused`() {
        var server = DigestServer(
            configuration: .init(realm: "example.test", algorithms: [DigestAlgorithm(.md5, isSession: true)], requiresQuality: false),
            secret: [1], hash: openSSL)
        let challenge = server.challenges(at: start)[0]
        var credentials = answer(challenge)
        (credentials.quality, credentials.clientNonce, credentials.nonceCount) = (nil, nil, nil)
        #expect(server.verify(credentials, method: .register, uri: uri, secret: .password("secret"), at: start) == .refused(.mismatch))
    }

    @Test func `the better algorithm is offered first and both are taken`() {
        var server = server()
        let challenges = server.challenges(at: start)
        #expect(
            challenges.map(\.algorithm) == [.sha256, .md5]
                && challenges.allSatisfy { $0.realm == "example.test" && $0.qualities == ["auth"] })
        for (index, challenge) in challenges.enumerated() {
            #expect(
                server.verify(
                    answer(challenge, count: UInt32(index + 1)), method: .register, uri: uri, secret: .password("secret"), at: start)
                    == .accepted)
        }
        #expect(server.challenges(at: start)[0].nonce != challenges[0].nonce)
    }

    @Test func `a stored hash is as good as the password, for its algorithm`() {
        var server = server()
        let challenges = server.challenges(at: start)
        let secret = DigestSecret.hashed([.md5: Text(openSSL(.md5, Array("1001:example.test:secret".utf8)))])
        #expect(server.verify(answer(challenges[1]), method: .register, uri: uri, secret: secret, at: start) == .accepted)
        #expect(server.verify(answer(challenges[0]), method: .register, uri: uri, secret: secret, at: start) == .refused(.mismatch))
    }

    @Test func `a nonce count is good once, and only upwards`() {
        var server = server()
        let challenge = server.challenges(at: start)[0]
        func verdict(_ count: UInt32) -> DigestServer.Verdict {
            server.verify(answer(challenge, count: count), method: .register, uri: uri, secret: .password("secret"), at: start)
        }
        #expect(
            [1, 1, 2, 5, 3, 5, 6, 0].map { verdict($0) } == [.accepted, .stale, .accepted, .accepted, .stale, .stale, .accepted, .stale])
    }

    @Test func `a nonce lives as long as it says and not after a restart`() {
        var server = server()
        let challenge = server.challenges(at: start)[0]
        #expect(
            server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: start + .seconds(59))
                == .accepted)
        #expect(
            server.verify(answer(challenge, count: 2), method: .register, uri: uri, secret: .password("secret"), at: start + .seconds(60))
                == .stale)
        var other = DigestServer(configuration: server.configuration, secret: [9], hash: openSSL)
        #expect(
            other.verify(answer(challenge, count: 3), method: .register, uri: uri, secret: .password("secret"), at: start) == .unknownNonce)
    }

    /// The second machine began 1,000 s later than the first: its clock shows as much less.
    @Test func `servers with one secret take each other's nonces, as long as these live`() {
        func server(_ first: UInt64, beganAt epoch: UInt64, secret: [UInt8] = [7, 8, 9]) -> DigestServer {
            DigestServer(
                configuration: .init(realm: "example.test", nonceLifetime: .seconds(60)), secret: secret,
                numbering: .init(first: first, epoch: epoch * 1_000_000_000), hash: openSSL)
        }
        var one = server(1 << 32, beganAt: 5_000), other = server(2 << 32, beganAt: 6_000),
            stranger = server(3 << 32, beganAt: 6_000, secret: [1])
        let there = start + .seconds(1_000), challenge = one.challenges(at: there)[0]
        func verdict(_ server: inout DigestServer, _ count: UInt32, after seconds: Int64) -> DigestServer.Verdict {
            server.verify(
                answer(challenge, count: count), method: .register, uri: uri, secret: .password("secret"), at: start + .seconds(seconds))
        }
        #expect(verdict(&other, 1, after: 59) == .accepted && verdict(&other, 1, after: 59) == .stale, "once")
        #expect(verdict(&other, 2, after: 60) == .stale && verdict(&stranger, 1, after: 0) == .unknownNonce)
        #expect(verdict(&one, 1, after: 1_059) == .accepted, "each counts for itself")
        #expect(one.count == 1 && other.count == 1)
        // Expired before the other began.
        let old = one.challenges(at: start)[0]
        #expect(
            other.verify(answer(old), method: .register, uri: uri, secret: .password("secret"), at: start) == .stale)
    }

    @Test func `forgetting nonces of one server leaves those of another, which expire later, good`() {
        func server(_ first: UInt64) -> DigestServer {
            DigestServer(
                configuration: .init(realm: "example.test", nonceLifetime: .seconds(60), rememberedNonces: 4), secret: [7],
                numbering: .init(first: first), hash: openSSL)
        }
        // The numbers of the one that asks are below those of the one that remembers.
        var high = server(9 << 32), low = server(1 << 32)
        func verdict(_ challenge: DigestChallenge) -> DigestServer.Verdict {
            high.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: start + .seconds(10))
        }
        let own = (0..<6).map { high.challenges(at: start + .seconds(Int64($0)))[0] }
        #expect(own.map(verdict) == Array(repeating: .accepted, count: 6))
        #expect(verdict(low.challenges(at: start + .seconds(9))[0]) == .accepted)
        #expect(verdict(own[0]) == .stale && high.count <= 4)
    }

    @Test func `a nonce is for the network that asked`() {
        var server = server()
        let (one, other, sixth) = (IPAddress("192.0.2.1")!, IPAddress("192.0.2.2")!, IPAddress("2001:db8::1")!)
        func verdict(for asker: IPAddress, from client: IPAddress?) -> DigestServer.Verdict {
            let challenge = server.challenges(for: asker, at: start)[0]
            return server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), from: client, at: start)
        }
        #expect(verdict(for: one, from: one) == .accepted)
        #expect(verdict(for: one, from: other) == .unknownNonce)
        #expect(verdict(for: one, from: nil) == .unknownNonce)
        #expect(verdict(for: sixth, from: IPAddress("2001:db8::abcd:1")!) == .accepted, "one client has a /64")
        #expect(verdict(for: sixth, from: IPAddress("2001:db8:0:1::1")!) == .unknownNonce)
    }

    @Test func `a nonce that was made up or changed is never taken`() {
        var server = server()
        var challenge = server.challenges(at: start)[0]
        let genuine = challenge.nonce
        for index in 0..<genuine.count {
            var bytes = Array(genuine.bytes)
            bytes[index] = bytes[index] == 0x66 ? 0x30 : 0x66
            challenge.nonce = Text(bytes)
            #expect(
                server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: start) == .unknownNonce,
                "digit \(index)")
        }
        challenge.nonce = ""
        #expect(server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: start) == .unknownNonce)
        #expect(server.count == 0)
    }

    @Test func `wrong answers are told apart and use nothing up`() {
        var server = server()
        let challenge = server.challenges(at: start)[0]
        func verdict(_ credentials: DigestCredentials, _ method: Method = .register) -> DigestServer.Verdict {
            server.verify(credentials, method: method, uri: uri, secret: .password("secret"), at: start)
        }
        #expect(verdict(answer(challenge, password: "guess")) == .refused(.wrongPassword))
        #expect(verdict(answer(challenge), .invite) == .refused(.wrongPassword))
        #expect(verdict(answer(challenge, uri: "sip:elsewhere.test")) == .refused(.mismatch))
        #expect(verdict(answer(challenge, uri: "sip:1003@192.0.2.9")) == .refused(.mismatch))
        #expect(verdict(answer(challenge, clientNonce: nil)) == .refused(.mismatch))
        var other = answer(challenge)
        other.realm = "other"
        #expect(verdict(other) == .refused(.mismatch))
        other = answer(challenge)
        other.quality = "auth-int"
        #expect(verdict(other) == .refused(.mismatch))
        other = answer(challenge)
        other.nonceCount = "1"
        #expect(verdict(other) == .refused(.mismatch))
        #expect(verdict(answer(challenge, uri: "sip:example.test;transport=tcp")) == .accepted)
        #expect(verdict(answer(challenge, uri: "sip:192.0.2.9:5060", count: 2)) == .accepted, "sipp names the server by its address")
    }

    /// RFC 3261 §22.4: the digest is of the Request-URI that the telephone wrote.
    @Test(arguments: [
        ("sip:10.0.0.5", "sip:example.test", true), ("sip:1002@10.0.0.5", "sip:1002@example.test", true),
        ("sip:1002@10.0.0.5", "sip:1003@example.test", false),
        ("sip:1002@10.0.0.5", "sip:example.test", false), ("sip:1002@10.0.0.5", "sip:1002@elsewhere.test", false),
    ])
    func `a proxy may put our address in the place of our domain, and nobody another number`(
        requested: Text, signed: Text, isAccepted: Bool
    ) throws {
        var server = server()
        let challenge = server.challenges(at: start)[0], uri = try URI(parsing: requested)
        let verdict = server.verify(answer(challenge, uri: signed), method: .register, uri: uri, secret: .password("secret"), at: start)
        #expect(verdict == (isAccepted ? .accepted : .refused(.mismatch)))
    }

    @Test func `without the demand for quality an old digest is taken`() {
        var server = server(requiresQuality: false)
        let challenge = server.challenges(at: start)[1]
        #expect(
            server.verify(answer(challenge, clientNonce: nil), method: .register, uri: uri, secret: .password("secret"), at: start)
                == .accepted)
    }

    @Test func `what is remembered is bounded, and what was forgotten cannot be replayed`() {
        var server = server(remembering: 8)
        var used: [DigestChallenge] = []
        for _ in 0..<40 {
            used.append(server.challenges(at: start)[0])
            #expect(
                server.verify(answer(used[used.count - 1]), method: .register, uri: uri, secret: .password("secret"), at: start)
                    == .accepted)
            #expect(server.count <= 8)
        }
        for challenge in used {
            #expect(server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: start) == .stale)
        }
    }

    @Test func `nonces that expired are forgotten first`() {
        var server = server(remembering: 4)
        for second in 0..<4 {
            let now = start + .seconds(second * 20)
            let challenge = server.challenges(at: now)[0]
            #expect(server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: now) == .accepted)
        }
        let late = start + .seconds(100)
        let challenge = server.challenges(at: late)[0]
        #expect(server.verify(answer(challenge), method: .register, uri: uri, secret: .password("secret"), at: late) == .accepted)
        #expect(server.count == 2)
    }
}
