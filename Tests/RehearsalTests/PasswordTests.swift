import Console
import Foundation
import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Wrong passwords: who is told what, and what is told of them.
@Suite struct PasswordTests {
    private static let line = "sip:2001@hookswitch.test"

    private func stage(sharing secret: String? = nil, told: @escaping (WrongPassword) -> Void = { _ in }) -> Stage {
        Stage { configuration, environment in
            configuration.access.trusted = []
            configuration.access.guesses = GuessLimits(perUser: 3, perSource: 100)
            configuration.access.nonceSecret = secret.map { Array($0.utf8) }
            for number in ["2001", "2002"] as [Text] {
                var line = LineConfiguration(number: number)
                line.password = Text("secret-\(number)")
                configuration.lines.append(line)
            }
            environment.onGuessing = told
        }
    }

    /// A REGISTER with a password, after the challenge that it needs.
    /// - Parameter asked: the same peer at the gateway that challenges it; nil: at this one.
    private func register(
        _ peer: RawPeer, _ user: String, _ password: Text, _ sequence: Int, challengedBy asked: RawPeer? = nil
    ) throws -> Message? {
        let uri = "sip:\(user)@hookswitch.test", asked = asked ?? peer
        asked.request("REGISTER", uri, call: user, sequence, from: "<\(uri)>")
        let challenge = try #require(asked.final(.register, sequence))
        var proof = try Message(
            parsing: Array(
                "REGISTER \(uri) SIP/2.0\r\nVia: \(challenge.via.text)\r\nFrom: <\(uri)>;tag=f\r\nTo: <\(uri)>\r\nCall-ID: x\r\nCSeq: 1 REGISTER\r\n\r\n"
                    .utf8))
        var client = DigestClient(user: Text(user), secret: .password(password), hash: OpenSSLDigest.sip)
        try client.answer(challenge, in: &proof, clientNonce: "nonce")
        peer.request(
            "REGISTER", uri, call: user, sequence + 1, headers: ["Authorization: \(try #require(proof.headers[.authorization]))"],
            from: "<\(uri)>")
        return peer.final(.register, sequence + 1)
    }

    @Test func `a forgotten telephone is told of and locks nobody out`() throws {
        var told: [WrongPassword] = []
        let stage = stage { told.append($0) }, peer = RawPeer(stage, 1)
        for round in 0..<5 {
            let answer = try register(peer, "2001", "old", 1 + 2 * round)
            #expect(answer?.status == 401)
            #expect((answer?.headers[.retryAfter] != nil) == (round >= 3))
        }
        #expect(
            stage.events(.accessRefused).map { $0.details.text(.cause) } == [
                "wrong-password", "wrong-password", "wrong-password", "throttled",
            ])
        #expect(stage.events(.accessRefused).allSatisfy { $0.details.text(.user) == "2001" && $0.details.text(.remote) == "192.0.2.1" })
        #expect(told.map(\.user) == ["2001"] && told.map(\.count) == [4])
        let figures = stage.gateway.figures(.init(), nil, at: stage.world.now)
        #expect(PrometheusText(figures).text.contains(#"hookswitch_wrong_passwords{user="2001",source="192.0.2.1"} 5"#))
        #expect(figures.refusals.contains { $0.cause == "throttled" && $0.count == 2 })
        #expect(try register(peer, "2002", "secret-2002", 101)?.status == 200)
        #expect(try register(peer, "2001", "secret-2001", 103)?.status == 200)
        stage.run(seconds: 61)
        #expect(!PrometheusText(stage.gateway.figures(.init(), nil, at: stage.world.now)).text.contains("source="))
    }

    @Test(arguments: [true, false])
    func `a device that another gateway has challenged is not challenged again where the two share a secret`(
        isShared: Bool
    ) throws {
        let one = stage(sharing: isShared ? "the same" : nil), other = stage(sharing: isShared ? "the same" : "another")
        one.run(seconds: 100)
        let asked = RawPeer(one, 1), peer = RawPeer(other, 1)
        let answer = try register(peer, "2001", "secret-2001", 1, challengedBy: asked)
        #expect(answer?.status == (isShared ? 200 : 401))
        #expect(answer?.headers[.wwwAuthenticate]?.description.contains("stale=true") == (isShared ? nil : true))
        #expect(other.events(.accessRefused).isEmpty && one.events(.accessRefused).isEmpty, "a nonce of another is no guess")
        if isShared { #expect(try register(peer, "2001", "wrong", 3, challengedBy: asked)?.status == 401) }
    }

    @Test func `a call with a wrong password is asked again, and not refused for good`() throws {
        let stage = stage(), peer = RawPeer(stage, 1)
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "c", 1, body: peer.description(), from: "<\(Self.line)>")
        let challenge = try #require(peer.final(.invite, 1))
        #expect(challenge.status == 401)
        let wrong =
            "Authorization: Digest username=\"2001\", realm=\"hookswitch.test\", nonce=\"\(try DigestChallenge(parsing: challenge.headers[.wwwAuthenticate]!).nonce)\", "
            + "uri=\"sip:9196@hookswitch.test\", response=\"00000000000000000000000000000000\", algorithm=MD5, qop=auth, cnonce=\"c\", nc=00000001"
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "c", 2, body: peer.description(), headers: [wrong], from: "<\(Self.line)>")
        #expect(peer.final(.invite, 2)?.status == 401)
        #expect(stage.events(.accessRefused).count == 1)
    }
}
