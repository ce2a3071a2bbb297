import Primitives
import Testing

@testable import SDP

@Suite struct SecurityNegotiationTests {
    static let crypto80 = "a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj|2^31"
    static let crypto32 = "a=crypto:3 AES_CM_128_HMAC_SHA1_32 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"
    static let withIdentifier = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4"

    private func peerKey(_ line: String) -> SRTPKey { CryptoAttribute(parsing: Text(String(line.dropFirst("a=crypto:".count))))!.key }

    // MARK: Their offer

    @Test(arguments: ["RTP/SAVP", "RTP/SAVPF"], [SRTPPolicy.required, .optional])
    func `an encrypted offer is answered under its own tag with our key`(profile: String, policy: SRTPPolicy) throws {
        var callee = engine(policy)
        try callee.receive(offer: offer(over: profile, Self.crypto32, Self.crypto80))
        let (answer, audio) = try callee.answer()
        #expect(answer.media[0].proto.description == profile)
        #expect(answer.values("crypto").count == 1)
        #expect(answer.values("crypto")[0].hasPrefix("3 AES_CM_128_HMAC_SHA1_32 inline:"))
        #expect(audio?.security == .keys(send: callee.local.security.key(.aes128CMSHA1_32), receive: peerKey(Self.crypto32)))
    }

    @Test func `an attribute with a key identifier is passed over for one that we can do`() throws {
        var callee = engine(.required)
        try callee.receive(offer: offer(over: "RTP/SAVP", Self.withIdentifier, Self.crypto80))
        #expect(try callee.answer().description.values("crypto")[0].hasPrefix("7 "))
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        var policy: SRTPPolicy, profile: String, lines: [String], error: NegotiationError
        var testDescription: String { "\(policy) \(profile) \(lines.count)" }
    }

    static let refusals = [
        Refusal(policy: .required, profile: "RTP/AVP", lines: [], error: .securityRequired),
        Refusal(policy: .required, profile: "RTP/AVP", lines: [withIdentifier], error: .securityRequired),
        Refusal(policy: .required, profile: "RTP/SAVP", lines: [], error: .noCommonSecurity),
        Refusal(policy: .optional, profile: "RTP/SAVP", lines: [withIdentifier], error: .noCommonSecurity),
        Refusal(policy: .optional, profile: "UDP/TLS/RTP/SAVPF", lines: [crypto80], error: .noCommonSecurity),
        Refusal(policy: .off, profile: "RTP/SAVP", lines: [crypto80], error: .unsupportedProfile),
        Refusal(policy: .required, profile: "RTP/AVPX", lines: [crypto80], error: .unsupportedProfile),
    ]

    @Test(arguments: refusals) func `an offer that cannot be is refused with 488`(refusal: Refusal) {
        var callee = engine(refusal.policy)
        #expect(throws: refusal.error) { try callee.receive(offer: offer(over: refusal.profile, refusal.lines.joined(separator: "\n"))) }
        #expect(refusal.error.status == 488)
        #expect(callee.state == .stable)
    }

    /// RFC 8643.
    @Test func `a plain offer that says that it could is taken at its word, and one that does not stays plain`() throws {
        var callee = engine(.optional)
        try callee.receive(offer: offer(over: "RTP/AVP", Self.crypto80))
        let (answer, audio) = try callee.answer()
        #expect(answer.media[0].proto == "RTP/AVP")
        #expect(audio?.security == .keys(send: callee.local.security.key(.aes128CMSHA1_80), receive: peerKey(Self.crypto80)))

        var other = engine(.optional)
        try other.receive(offer: offer(over: "RTP/AVP"))
        let plain = try other.answer()
        #expect(plain.description.values("crypto").isEmpty)
        #expect(plain.audio?.security == NegotiatedSecurity.none)
    }

    @Test func `with encryption off nothing is said about it`() throws {
        var callee = engine(.off)
        try callee.receive(offer: offer(over: "RTP/AVP", Self.crypto80))
        let (answer, audio) = try callee.answer()
        #expect(answer.values("crypto").isEmpty)
        #expect(audio?.security == NegotiatedSecurity.none)
        var caller = engine(.off)
        #expect(caller.offer().values("crypto").isEmpty)
    }

    @Test func `of two streams the one is taken that may be`() throws {
        let both = offer(over: "RTP/AVP", "m=audio 4002 RTP/SAVP 0", Self.crypto80)
        var callee = engine(.required)
        try callee.receive(offer: both)
        let (answer, audio) = try callee.answer()
        #expect(answer.media.map(\.port) == [0, 20_000])
        #expect(audio?.remoteRTP.port == 4_002)
    }

    // MARK: Our offer

    @Test func `required offers all suites in our order, optional those of most clients beside plain RTP`() {
        var strict = engine(.required), lenient = engine(.optional)
        let (secure, opportunistic) = (strict.offer(), lenient.offer())
        #expect(secure.media[0].proto == "RTP/SAVP")
        #expect(
            secure.values("crypto").map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                "1 AEAD_AES_256_GCM", "2 AEAD_AES_128_GCM", "3 AES_CM_128_HMAC_SHA1_80",
            ])
        #expect(opportunistic.media[0].proto == "RTP/AVP")
        #expect(opportunistic.values("crypto").map { $0.split(separator: " ")[1] } == ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80"])
    }

    @Test(arguments: [SRTPPolicy.required, .optional], [SRTPPolicy.required, .optional])
    func `two of us agree on keys, crosswise`(calling: SRTPPolicy, called: SRTPPolicy) throws {
        var caller = engine(calling, seed: 1), callee = engine(called, seed: 2)
        try callee.receive(offer: caller.offer().serialized())
        let (answer, theirs) = try callee.answer()
        let ours = try caller.receive(answer: answer.serialized())
        guard case .keys(let send, let receive) = ours.security else { throw NegotiationError.noCommonSecurity }
        #expect(theirs?.security == .keys(send: receive, receive: send))
        #expect(send != receive)
        #expect(send.suite == (calling == .required ? .aes256GCM : .aes128GCM))
    }

    @Test func `an optional offer that is answered in the clear is plain, and stays so in later offers`() throws {
        var caller = engine(.optional), callee = engine(.off, seed: 2)
        try callee.receive(offer: caller.offer().serialized())
        #expect(try caller.receive(answer: callee.answer().description.serialized()).security == NegotiatedSecurity.none)
        #expect(caller.offer().values("crypto").isEmpty)
    }

    @Test(arguments: [
        ("RTP/SAVP", "a=sendrecv"), ("RTP/SAVP", "a=crypto:3 AEAD_AES_128_GCM inline:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw=="),
        ("RTP/AVP", "a=sendrecv"),
        ("RTP/SAVP", "a=crypto:9 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"),
        ("RTP/SAVP", SecurityNegotiationTests.crypto32 + "\n" + SecurityNegotiationTests.crypto80),
    ])
    func `an answer without a key for one of our attributes leaves the session as it was`(profile: String, line: String) {
        var caller = engine(.required)
        _ = caller.offer()
        #expect(throws: NegotiationError.noCommonSecurity) { try caller.receive(answer: offer(over: profile, line)) }
        #expect(caller.audio == nil)
    }

    // MARK: Who refuses best effort (RFC 8643)

    @Test(arguments: [(SRTPKeying.sdes, "RTP/SAVP"), (.dtls, "UDP/TLS/RTP/SAVP")] as [(SRTPKeying, Text)])
    func `a refused offer of best effort is made once more over the secure profile, and once`(keying: SRTPKeying, profile: Text) throws {
        var caller = engine(.optional) { ($0.fingerprint, $0.keying) = (certificate(1), keying) }
        let plain = caller.offer()
        let again = caller.offerSecurely()
        let secure = try #require(again)
        #expect(plain.media[0].proto == "RTP/AVP" && secure.media[0].proto == profile)
        #expect(secure.media[0].attributes == plain.media[0].attributes && secure.origin.version != plain.origin.version)
        let third = caller.offerSecurely()
        #expect(third == nil)
        caller.rollback()
        let next = caller.offer()
        #expect(next.media[0].proto == "RTP/AVP", "the next one is as before")
    }

    @Test(arguments: [SRTPPolicy.off, .required]) func `other offers are not made again`(policy: SRTPPolicy) {
        var caller = engine(policy)
        let before = caller.offerSecurely()
        _ = caller.offer()
        let after = caller.offerSecurely()
        #expect(before == nil && after == nil)
    }

    // MARK: Handshakes (RFC 5763)

    static let print = "a=fingerprint:sha-256 " + Array(repeating: "aB", count: 32).joined(separator: ":")
    private func certificate(_ byte: UInt8) -> Fingerprint { Fingerprint(.sha256, Array(repeating: byte, count: 32))! }

    @Test(arguments: [
        ("RTP/SAVPF", "actpass", "active", true), ("UDP/TLS/RTP/SAVP", "active", "passive", false),
        ("UDP/TLS/RTP/SAVPF", "passive", "active", true),
        ("RTP/AVP", "actpass", "active", true),
    ])
    func `an offer with a fingerprint is answered with ours and the other part`(profile: String, theirs: String, ours: String, begins: Bool)
        throws
    {
        var callee = engine(.optional) { $0.fingerprint = certificate(1) }
        try callee.receive(offer: offer(over: profile, Self.print, "a=setup:" + theirs))
        let (answer, audio) = try callee.answer()
        #expect(answer.media[0].proto.description == profile)
        #expect(answer.values("setup") == [ours])
        #expect(answer.values("fingerprint") == [certificate(1).text.description])
        #expect(answer.values("crypto").isEmpty)
        #expect(audio?.security == .dtls(begins: begins, peer: certificate(0xAB)))
    }

    /// RFC 5763 §5 leaves an answerer the choice: from behind a NAT the peer has to begin.
    @Test(arguments: [("actpass", "passive", false), ("passive", "active", true), ("active", "passive", false)])
    func `a peer behind a NAT begins the handshake where it leaves us the choice`(theirs: String, ours: String, begins: Bool) throws {
        var callee = engine(.optional) { ($0.fingerprint, $0.waits) = (certificate(1), true) }
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, "a=setup:" + theirs))
        let (answer, audio) = try callee.answer()
        #expect(answer.values("setup") == [ours] && audio?.security == .dtls(begins: begins, peer: certificate(0xAB)))
    }

    /// RFC 4145 §4: an offer without one is `active`, an answer `passive`.
    @Test func `where the far end does not say who begins a handshake, the offerer does`() throws {
        var callee = engine(.optional) { $0.fingerprint = certificate(1) }
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print))
        let (answer, theirs) = try callee.answer()
        #expect(answer.values("setup") == ["passive"])
        #expect(theirs?.security == .dtls(begins: false, peer: certificate(0xAB)))
        var caller = engine(.required) { ($0.fingerprint, $0.keying) = (certificate(1), .dtls) }
        _ = caller.offer()
        let ours = try caller.receive(answer: offer(over: "UDP/TLS/RTP/SAVP", Self.print))
        #expect(ours.security == .dtls(begins: true, peer: certificate(0xAB)))
    }

    @Test(arguments: [SRTPPolicy.required, .optional]) func `two of us agree on a handshake, and on who begins it, also later`(
        policy: SRTPPolicy
    ) throws {
        var caller = engine(policy) { ($0.fingerprint, $0.keying) = (certificate(1), .dtls) }
        var callee = engine(policy, seed: 2) { $0.fingerprint = certificate(2) }
        let offer = caller.offer()
        #expect(offer.media[0].proto == (policy == .required ? "UDP/TLS/RTP/SAVP" : "RTP/AVP"))
        #expect(offer.values("setup") == ["actpass"] && offer.values("crypto").isEmpty)
        try callee.receive(offer: offer.serialized())
        let (answer, theirs) = try callee.answer()
        #expect(theirs?.security == .dtls(begins: true, peer: certificate(1)))
        #expect(try caller.receive(answer: answer.serialized()).security == .dtls(begins: false, peer: certificate(2)))
        // The one that waited offers again, and then the other: nothing changes.
        try callee.receive(offer: caller.offer(direction: .sendonly).serialized())
        #expect(try caller.receive(answer: callee.answer().description.serialized()).security == .dtls(begins: false, peer: certificate(2)))
        try caller.receive(offer: callee.offer().serialized())
        let last = try caller.answer()
        #expect(last.description.values("setup") == ["passive"])
        #expect(last.audio?.security == .dtls(begins: false, peer: certificate(2)))
    }

    /// RFC 8842 §3.1, §5.3. We waited for the handshake; then the far end offers again.
    @Test(
        arguments: [
            ("a=setup:actpass", false, nil), ("", false, nil), ("a=setup:active", false, nil),
            ("a=setup:actpass\na=tls-id:first", false, "first"),
            ("a=setup:passive", true, nil), ("a=setup:passive\na=tls-id:first", true, "first"),
        ] as [(String, Bool, Text?)])
    func `a later offer means the handshake that there is, unless it takes the other part`(lines: String, begins: Bool, name: Text?) throws
    {
        var callee = engine(.optional) { $0.fingerprint = certificate(1) }
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, "a=setup:active"))
        #expect(try callee.answer().audio?.security == .dtls(begins: false, peer: certificate(0xAB)))
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, lines))
        let (answer, audio) = try callee.answer()
        #expect(audio?.security == .dtls(begins: begins, peer: certificate(0xAB), tlsID: name))
        #expect(answer.values("setup") == [begins ? "active" : "passive"])
    }

    /// The far end waited for ours. Under another name its offer is for a new handshake, whose parts are given anew.
    @Test(arguments: [("second", true, "second"), ("first", false, "first"), (nil, false, "first")] as [(String?, Bool, Text)])
    func `an offer under another name is for a new handshake`(name: String?, begins: Bool, expected: Text) throws {
        var callee = engine(.optional) { $0.fingerprint = certificate(1) }
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, "a=setup:active", "a=tls-id:first"))
        _ = try callee.answer()
        try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, "a=setup:actpass", name.map { "a=tls-id:" + $0 } ?? ""))
        let (answer, audio) = try callee.answer()
        #expect(audio?.security == .dtls(begins: begins, peer: certificate(0xAB), tlsID: expected))
        #expect(answer.values("setup") == [begins ? "active" : "passive"])
    }

    /// Some answer `active` whatever was agreed on: the handshake that there is goes on, unless they name another.
    @Test(
        arguments: [
            ("a=setup:active", true, "first"), ("a=setup:active\na=tls-id:first", true, "first"),
            ("a=setup:active\na=tls-id:second", false, "second"),
        ] as [(String, Bool, Text)])
    func `a later answer is a new handshake under another name alone`(lines: String, begins: Bool, name: Text) throws {
        var party = engine(.optional) { $0.fingerprint = certificate(1) }
        try party.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, "a=setup:actpass", "a=tls-id:first"))
        #expect(try party.answer().audio?.security == .dtls(begins: true, peer: certificate(0xAB), tlsID: "first"))
        #expect(party.offer().values("setup") == ["actpass"])
        let audio = try party.receive(answer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, lines))
        #expect(audio.security == .dtls(begins: begins, peer: certificate(0xAB), tlsID: name))
        // A refresh of the peer's says its last description again (RFC 4028 §7.4), and asks for nothing new.
        try party.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", Self.print, lines))
        #expect(try party.answer().audio?.security == audio.security)
    }

    @Test(arguments: [
        "sha-1 AA:BB", "sha-256 AA:BB", "sha-256 " + String(repeating: "AA", count: 32), "md5 00", "",
        "sha-256 " + Array(repeating: "GG", count: 32).joined(separator: ":"),
    ])
    func `a fingerprint that is none or too weak is none`(value: String) { #expect(Fingerprint(parsing: Text(value)) == nil) }

    @Test func `a handshake without a fingerprint, or for a later time, is refused`() {
        for lines in ["a=setup:actpass", Self.print + "\na=setup:holdconn", ""] {
            var callee = engine(.optional) { $0.fingerprint = certificate(1) }
            #expect(throws: NegotiationError.noCommonSecurity) { try callee.receive(offer: offer(over: "UDP/TLS/RTP/SAVP", lines)) }
        }
    }

    // MARK: Later

    /// RFC 3264 §8: an offer in the middle of a call contains what is in use.
    @Test(arguments: SRTPSuite.allCases) func `the suite that the far end chose is in our later offers`(suite: SRTPSuite) throws {
        var caller = engine(.required, seed: 2) { $0.keys.removeAll { $0.suite != suite } }, callee = engine(.optional)
        try callee.receive(offer: caller.offer().serialized())
        let (answer, first) = try callee.answer()
        try caller.receive(answer: answer.serialized())
        try caller.receive(offer: callee.offer().serialized())
        #expect(try callee.receive(answer: caller.answer().description.serialized()).security == first?.security)
    }

    @Test func `hold and resume keep the keys, and a new key of the peer is news`() throws {
        var callee = engine(.required)
        try callee.receive(offer: offer(over: "RTP/SAVP", Self.crypto80))
        let first = try #require(try callee.answer().audio)
        let hold = callee.offer(direction: .sendonly)
        #expect(hold.media[0].proto == "RTP/SAVP")
        #expect(hold.values("crypto").contains { $0.contains("AES_CM_128_HMAC_SHA1_80") })
        callee.rollback()

        try callee.receive(offer: offer(over: "RTP/SAVP", Self.crypto80))
        #expect(try callee.answer().audio == first)
        let rekeyed = Self.crypto80.replacing("d0Rm", with: "mR0d")
        try callee.receive(offer: offer(over: "RTP/SAVP", rekeyed))
        let second = try #require(try callee.answer().audio)
        #expect(second.security == .keys(send: callee.local.security.key(.aes128CMSHA1_80), receive: peerKey(rekeyed)))
        #expect(second != first)
    }
}
