import CallJournal
import CallKit
import Foundation
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// No INVITE and no REGISTER goes unseen: who called whom with what, and why it came to nothing.
@Suite struct RequestLogTests {
    private static func stage(_ adapt: @escaping (inout GatewayConfiguration) -> Void = { _ in }) -> Stage {
        Stage { configuration, environment in
            var closed = LineConfiguration(number: "2001")
            closed.password = "secret"
            configuration.lines.append(closed)
            environment.run = "cafe"
            configuration.version = "9.9"
            adapt(&configuration)
        }
    }

    private static func uri(_ number: String) -> String { "sip:\(number)@hookswitch.test" }

    @Test func `a run says which program it is of, and which run it is`() {
        let begun = Self.stage().events(.gatewayStarted)
        #expect(begun.map { $0.details.text(.version) } == ["Hookswitch/9.9"] && begun.map { $0.details.text(.run) } == ["cafe"])
    }

    @Test func `a call says who calls whom, and what is offered, before all else of it`() throws {
        let stage = Self.stage(), peer = RawPeer(stage, 1)
        peer.request(
            "INVITE", Self.uri("9196"), call: "one", 1, body: peer.description("0"), headers: ["User-Agent: telephone 7"],
            from: "Carol <sip:carol@192.0.2.1>")
        let told = try #require(stage.events(.inviteReceived).first)
        #expect(told.details.text(.from) == "\"Carol\" <sip:carol@192.0.2.1>" || told.details.text(.from) == "Carol <sip:carol@192.0.2.1>")
        #expect(told.details.text(.to) == "sip:9196@hookswitch.test" && told.details.text(.uri) == "sip:9196@hookswitch.test")
        #expect(told.details.text(.agent) == "telephone 7" && told.details.text(.callid) == "one")
        #expect(told.details.text(.media)?.description.contains("PCMU") == true && told.line == "9196")
        let report = try #require(stage.events(.reportIncoming).first)
        #expect(told.call == report.call && told.sequence < report.sequence)
        #expect(stage.events(.inviteReceived).count == 1 && stage.events(.callRefused).isEmpty)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String, status: Int, cause: RequestRefusal, number = "2000"
        var headers: [String] = []
        var offer = "0", caller = "peer"
        var change: @Sendable (inout GatewayConfiguration) -> Void = { _ in }
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "unknown number", status: 404, cause: .unknownNumber, number: "7777"),
        Case(name: "no device", status: 480, cause: .noDevice),
        Case(name: "no codec", status: 488, cause: .codec, number: "9196", offer: "18"),
        Case(name: "no number", status: 484, cause: .noNumber, number: "a%25b"),
        Case(name: "encryption", status: 488, cause: .encryption, number: "9196") { $0.lines[1].srtp = .required },
        Case(name: "no leg is left", status: 503, cause: .legs, number: "9196") { $0.limits.legs = 0 },
        Case(name: "Do Not Disturb", status: 480, cause: .doNotDisturb) { $0.lines[0].doNotDisturb.isOn = true },
        Case(name: "blocked", status: 607, cause: .blocked, caller: "391") { $0.lines[0].block = [NumberPattern("391")!] },
        Case(name: "takes no calls", status: 403, cause: .forbidden) { $0.lines[0].takesCalls = false },
        Case(name: "a password is asked for", status: 401, cause: .credentialsAsked, number: "9196") {
            ($0.access.trusted, $0.access.guests) = ([], [])
        },
        Case(name: "nothing to replace", status: 481, cause: .replaces, headers: ["Replaces: x;to-tag=a;from-tag=b"]),
        Case(name: "too many calls a second", status: 503, cause: .callRate, number: "9196") {
            ($0.access.trusted, $0.access.guests, $0.limits.callsPerSecond) = ([], [IPNetwork("0.0.0.0/0")!], 0)
        },
    ]

    @Test(arguments: cases) func `a call that is refused says why`(_ refused: Case) throws {
        let stage = Self.stage(refused.change), peer = RawPeer(stage, 1)
        peer.request(
            "INVITE", Self.uri(refused.number), call: "no", 1, body: peer.description(refused.offer), headers: refused.headers,
            from: "<sip:\(refused.caller)@192.0.2.1>")
        let told = stage.events(.callRefused), received = stage.events(.inviteReceived)
        #expect(told.map { $0.details.text(.cause)?.description } == [refused.cause.rawValue])
        #expect(told.map { $0.details.number(.status) } == [Int64(refused.status)] && peer.final(.invite, 1)?.status == refused.status)
        #expect(told.first?.details.text(.reason) == refused.cause.words)
        #expect(received.count == 1 && received.first?.call == told.first?.call && told.first?.call != nil)
        #expect(stage.violations.isEmpty && stage.gateway.counts(at: stage.world.now).calls == 0)
    }

    @Test func `a call is missed also where no device was there`() throws {
        let stage = Self.stage(), peer = RawPeer(stage, 1)
        peer.request("INVITE", Self.uri("2000"), call: "no", 1, body: peer.description("0"), from: "<sip:+391@192.0.2.1>")
        let missed = try #require(stage.gateway.recents(ofLine: "2000")?.first)
        #expect(missed.outcome == .missed && missed.handle == "+391" && missed.reason == "no-device")
        #expect(stage.events(.callRefused).map { $0.call?.uuid } == [missed.id])
    }

    @Test func `a flood of refused calls is bounded in the journal, and counted`() {
        let stage = Self.stage(), source = SocketAddress(IPAddress(v4: 0xC000_0201), port: 5060)
        for index in 0..<300 {
            let invite =
                "INVITE sip:7777@hookswitch.test SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK\(index)\r\n"
                + "From: <sip:a@192.0.2.1>;tag=\(index)\r\nTo: <sip:7777@hookswitch.test>\r\nCall-ID: \(index)\r\nCSeq: 1 INVITE\r\n"
                + "Contact: <sip:a@192.0.2.1>\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
            // A second goes by before the last one.
            let now = stage.world.now + .seconds(index < 299 ? 0 : 1)
            stage.gateway.receive(Array(invite.utf8), over: Flow(transport: .udp, local: Cast.gateway, remote: source), at: now)
        }
        let told = stage.events(.callRefused)
        #expect(told.count == 101 && stage.events(.inviteReceived).count == 101)
        #expect(told.map { $0.details.number(.count) ?? 0 }.filter { $0 > 0 } == [199])
    }

    // MARK: REGISTER

    @Test func `a registration says who, how many contacts and for how long; one that asks is none`() throws {
        let stage = Self.stage(), peer = RawPeer(stage, 1)
        peer.request("REGISTER", Self.uri("2000"), call: "r", 1, headers: ["Expires: 120"])
        peer.request("REGISTER", Self.uri("2000"), call: "r", 2, headers: ["Expires: 0"])
        let told = stage.events(.registerAccepted)
        #expect(told.map { $0.details.text(.user) } == ["2000", "2000"] && told.map { $0.details.number(.count) } == [1, 0])
        #expect(told.map { $0.details.number(.expires) } == [120, 0])
    }

    @Test func `a registration that is not renewed is told of when it expires`() {
        let stage = Self.stage(), peer = RawPeer(stage, 1)
        peer.request("REGISTER", Self.uri("2000"), call: "r", 1, headers: ["Expires: 120"])
        stage.run(seconds: 119)
        #expect(stage.events(.registerExpired).isEmpty)
        stage.run(seconds: 2)
        let told = stage.events(.registerExpired)
        #expect(told.map { $0.details.text(.user) } == ["2000"] && told.map { $0.details.number(.count) } == [0])
    }

    @Test func `a registration that is refused says why`() {
        let stage = Self.stage { ($0.domain, $0.aliases) = ("hookswitch.test", []) }, peer = RawPeer(stage, 1)
        peer.request("REGISTER", "sip:2000@elsewhere.test", call: "d", 1)
        peer.request("REGISTER", Self.uri("2001"), call: "p", 1)
        peer.request(
            "REGISTER", Self.uri("2001"), call: "p", 2,
            headers: [
                "Authorization: Digest username=\"2001\", realm=\"hookswitch.test\", nonce=\"\(Self.nonce(peer))\", "
                    + "uri=\"sip:2001@hookswitch.test\", response=\"00000000000000000000000000000000\", algorithm=MD5, qop=auth, "
                    + "cnonce=\"c\", nc=00000001"
            ])
        let told = stage.events(.registerRefused)
        #expect(told.map { $0.details.text(.cause)?.description } == ["unknown-domain", "wrong-password"])
        #expect(told.map { $0.details.number(.status) } == [404, 401])
    }

    private static func nonce(_ peer: RawPeer) -> Text {
        let challenges = peer.final(.register, 1)?.headers.all(.wwwAuthenticate) ?? []
        return challenges.lazy.compactMap { try? DigestChallenge(parsing: $0) }.first { $0.algorithm == .md5 }?.nonce ?? "none"
    }
}
