import Primitives
import Testing

@testable import SDP

@Suite struct ICETests {
    static let password = "VOkJxbRl1RmTxUk/WvJxBt"
    static let mine = ICECredentials(user: "mine", password: "0123456789abcdefghijkl")!
    static let checks = "a=ice-ufrag:evtj\na=ice-pwd:\(password)\na=candidate:1 1 UDP 2130706431 198.51.100.5 4000 typ host"

    private func engine(_ policy: ICEPolicy = .auto, mux: Bool = true) -> OfferAnswer {
        var local = here
        local.rtcpPort = 20_001
        local.offersMux = mux
        (local.ice.policy, local.ice.credentials) = (policy, Self.mine)
        return OfferAnswer(local: local, sessionID: 400)
    }

    private func answer(_ engine: inout OfferAnswer, to offer: [UInt8]) throws -> (text: String, audio: NegotiatedAudio) {
        try engine.receive(offer: offer)
        let (description, audio) = try engine.answer()
        return (String(decoding: description.serialized(), as: UTF8.self), try #require(audio))
    }

    @Test(arguments: [true, false]) func `an offer with checks is answered as a lite agent, with a candidate for each port`(mux: Bool)
        throws
    {
        var engine = engine()
        let (text, audio) = try answer(&engine, to: plainOffer(stream: Self.checks + (mux ? "\na=rtcp-mux" : "")))
        #expect(audio.ice == NegotiatedICE(local: Self.mine, remoteUser: "evtj"))
        #expect(text.contains("a=ice-lite\r\na=ice-options:ice2\r\nm=audio"), "at the level of the session: \(text)")
        #expect(
            text.contains(
                "a=ice-ufrag:mine\r\na=ice-pwd:0123456789abcdefghijkl\r\na=candidate:1 1 UDP 2130706431 192.0.2.10 20000 typ host\r\n"))
        #expect(text.contains("a=candidate:1 2 UDP 2130706430 192.0.2.10 20001 typ host\r\n") == !mux)
    }

    @Test func `an offer to a browser is a bundle with feedback over a handshake, and others are not`() throws {
        var local = here
        local.security = dtls(.required)
        (local.ice.policy, local.ice.credentials) = (.lite, Self.mine)
        local.furtherCandidates = [try #require(IPAddress("10.0.0.7"))]
        var engine = OfferAnswer(local: local, sessionID: 400)
        let offer = engine.offer(), text = String(decoding: offer.serialized(), as: UTF8.self)
        #expect(offer.media[0].proto == "UDP/TLS/RTP/SAVPF" && offer.media[0].attribute("mid")?.value == "0")
        #expect(text.contains("\r\na=group:BUNDLE 0\r\n") && text.contains("\r\na=rtcp-mux\r\n"))
        #expect(text.contains("a=candidate:1 1 UDP 2130706431 192.0.2.10 20000 typ host\r\n"))
        #expect(text.contains("a=candidate:2 1 UDP 2130706175 10.0.0.7 20000 typ host\r\n"))
        local.ice.policy = .auto
        engine = OfferAnswer(local: local, sessionID: 400)
        let plain = engine.offer()
        #expect(plain.media[0].proto == "UDP/TLS/RTP/SAVP" && plain.media[0].attribute("mid") == nil)
        #expect(!plain.attributes.contains { $0.name == "group" })
    }

    private func dtls(_ policy: SRTPPolicy) -> LocalSecurity {
        var random: any RandomNumberGenerator = SeededRandom(seed: 1)
        var security = LocalSecurity(policy, using: &random)
        security.keying = .dtls
        security.fingerprint = Fingerprint(.sha256, [UInt8](repeating: 7, count: 32))
        return security
    }

    @Test(arguments: [
        ("without checks", plainOffer()),
        ("without a password", plainOffer(stream: "a=ice-ufrag:evtj\na=candidate:1 1 UDP 1 198.51.100.5 4000 typ host")),
        ("with a short password", plainOffer(stream: checks.replacing(password, with: "short"))),
    ])
    func `an offer that has none is answered without`(name: String, offer: [UInt8]) throws {
        var engine = engine()
        let (text, audio) = try answer(&engine, to: offer)
        #expect(audio.ice == nil && !text.contains("ice") && !text.contains("candidate"), "\(name)")
    }

    @Test func `a line that is to have none passes over them`() throws {
        var engine = engine(.off)
        let (text, audio) = try answer(&engine, to: plainOffer(stream: Self.checks))
        #expect(audio.ice == nil && !text.contains("ice"))
        #expect(engine.remoteOffer == nil)
        #expect(throws: NegotiationError.unusableAddress) {
            try engine.receive(offer: plainOffer(address: "IN IP6 2001:db8::1", stream: Self.checks))
        }
    }

    @Test(arguments: ["198.51.100.6 4000", "198.51.100.5 4002"])
    func `where somebody on the way put other addresses there are no checks, and we say so`(candidate: String) throws {
        var engine = engine()
        let (text, audio) = try answer(&engine, to: plainOffer(stream: Self.checks.replacing("198.51.100.5 4000", with: candidate)))
        #expect(audio.ice == nil && audio.remoteRTP == SocketAddress("198.51.100.5:4000")!)
        #expect(text.contains("a=ice-mismatch\r\n") && !text.contains("ice-ufrag") && !text.contains("ice-lite"))
    }

    /// RFC 8839 §4.2.5. There is nothing to check then, and so whoever drives the exchange has made no credentials.
    @Test func `a mismatch is told without credentials of ours`() throws {
        var engine = engine()
        engine.local.ice.credentials = nil
        let (text, audio) = try answer(
            &engine, to: plainOffer(stream: Self.checks.replacing("198.51.100.5 4000", with: "198.51.100.6 4000")))
        #expect(audio.ice == nil && text.contains("a=ice-mismatch\r\n"))
    }

    /// RFC 8839 §4.2.5: a name, and candidates that come later or are hidden; and a family that we do not have.
    @Test(arguments: ["IN IP4 0.0.0.0|9", "IN IP4 phone.example.com|4000", "IN IP6 2001:db8::1|4000", "IN IP4 127.0.0.1|20000"])
    func `with checks the address of the lines need not be usable, and is no hold`(written: String) throws {
        let parts = written.split(separator: "|")
        let stream = Self.checks + "\na=candidate:2 1 udp 5 2001:db8::1 4000 typ host\na=candidate:3 1 udp 5 127.0.0.1 20000 typ host"
        let offer = String(decoding: plainOffer(address: String(parts[0]), stream: stream), as: UTF8.self).replacing(
            "m=audio 4000", with: "m=audio \(parts[1])")
        var engine = engine()
        engine.local.targets.ownPorts = [20_000...20_199]
        let (_, audio) = try answer(&engine, to: Array(offer.utf8))
        #expect(audio.ice != nil && audio.remoteHold == .none && audio.sends && audio.remoteRTP.address.isAny)
    }

    @Test func `between two lite agents nobody checks, and media goes where the lines say`() throws {
        var engine = engine()
        let (text, audio) = try answer(&engine, to: plainOffer(session: "a=ice-lite", stream: Self.checks))
        #expect(audio.ice == nil && audio.remoteRTP == SocketAddress("198.51.100.5:4000")!)
        #expect(text.contains("a=ice-lite\r\n") && text.contains("a=ice-ufrag:mine"))
    }

    @Test func `new credentials of the peer's are told before the answer, the same ones are not`() throws {
        var engine = engine()
        try engine.receive(offer: plainOffer(stream: Self.checks))
        #expect(engine.remoteOffer?.startsICE == true)
        _ = try engine.answer()
        try engine.receive(offer: plainOffer(stream: Self.checks, version: 2))
        #expect(engine.remoteOffer?.startsICE == false)
        let same = try #require(try engine.answer().audio?.ice)
        try engine.receive(offer: plainOffer(stream: Self.checks.replacing("evtj", with: "news"), version: 3))
        #expect(engine.remoteOffer?.startsICE == true)
        engine.local.ice.credentials = ICECredentials(user: "anew", password: "0123456789abcdefghijkl")
        let audio = try #require(try engine.answer().audio)
        #expect(audio.ice?.local.user == "anew" && audio.ice?.remoteUser == "news" && audio.ice != same)
        try engine.receive(offer: plainOffer(version: 4))
        #expect(try engine.answer().audio?.ice == nil, "without checks from here on")
    }

    @Test func `our offers have checks where the line says so, and stay with what was agreed`() throws {
        var quiet = engine()
        #expect(!quiet.offer().serialized().contains(subsequence: "ice-"))
        var engine = engine(.lite)
        let offer = String(decoding: engine.offer().serialized(), as: UTF8.self)
        #expect(
            offer.contains("a=ice-lite") && offer.contains("a=candidate:1 1 UDP 2130706431 192.0.2.10 20000")
                && offer.contains("a=candidate:1 2 UDP 2130706430 192.0.2.10 20001"))
        let audio = try engine.receive(answer: plainOffer(stream: Self.checks + "\na=rtcp-mux"))
        #expect(audio.ice == NegotiatedICE(local: Self.mine, remoteUser: "evtj"))
        let again = String(decoding: engine.offer(direction: .sendonly).serialized(), as: UTF8.self)
        #expect(again.contains("a=ice-ufrag:mine\r\na=ice-pwd:0123456789abcdefghijkl"))

        for stream in ["", "a=ice-mismatch", Self.checks.replacing("4000", with: "4002")] {
            var other = self.engine(.lite)
            _ = other.offer()
            #expect(try other.receive(answer: plainOffer(stream: stream)).ice == nil, "\(stream)")
        }
    }

    @Test func `the name and the bundle of a browser's stream are said again`() throws {
        var engine = engine()
        let (text, _) = try answer(&engine, to: plainOffer(session: "a=group:BUNDLE 0 1", stream: Self.checks + "\na=mid:0"))
        #expect(text.contains("a=group:BUNDLE 0\r\n") && text.contains("a=mid:0\r\n"))
        let again = String(decoding: engine.offer().serialized(), as: UTF8.self)
        #expect(again.contains("a=group:BUNDLE 0\r\n") && again.contains("a=mid:0\r\n"))
        var plain = self.engine()
        let (bare, _) = try answer(&plain, to: plainOffer(session: "a=group:BUNDLE video", stream: "a=mid:0"))
        #expect(!bare.contains("BUNDLE") && bare.contains("a=mid:0\r\n"))
    }

    @Test func `no password is in what a person sees of an agreement`() throws {
        var engine = engine()
        let (_, audio) = try answer(&engine, to: plainOffer(stream: Self.checks))
        let seen = "\(audio) \(engine.local) \(String(reflecting: audio))"
        #expect(!seen.contains(Self.password) && !seen.contains("0123456789abcdefghijkl"))
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
