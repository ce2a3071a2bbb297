import Primitives
import Testing

@testable import SDP

@Suite struct OfferAnswerTests {
    @Test(arguments: RealOffers.all)
    func `answers the offers of real clients`(offer: RealOffer) throws {
        var callee = engine()
        try callee.receive(offer: offer.body)
        let (description, audio) = try callee.answer()
        #expect(mediaLines(description) == offer.answer)
        let agreed = try #require(audio)
        #expect(agreed.codecs.map(\.summary) == offer.codecs)
        #expect(agreed.telephoneEvents.map(\.summary) == offer.events)
        #expect(agreed.remoteRTP == SocketAddress(offer.rtp))
        #expect(agreed.remoteRTCP == offer.rtcp.flatMap { SocketAddress($0) })
        #expect(callee.audio == agreed)
        #expect(callee.state == .stable)
    }

    @Test func `offers everything, with events at both clocks`() {
        var caller = engine(noMux)
        #expect(
            String(decoding: caller.offer().serialized(), as: UTF8.self).split(separator: "\r\n") == [
                "v=0", "o=- 100 1 IN IP4 192.0.2.10", "s=-", "c=IN IP4 192.0.2.10", "t=0 0", "m=audio 20000 RTP/AVP 111 9 0 8 110 101",
                "a=rtpmap:111 opus/48000/2", "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
                "a=rtpmap:110 telephone-event/48000", "a=fmtp:110 0-15", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
                "a=ptime:20",
                "a=sendrecv",
            ])
    }

    static let eventTable: [([Codec], Bool, [String])] = [
        ([.opus], true, ["110 telephone-event/48000"]), ([.pcmu, .g722], true, ["101 telephone-event/8000"]),
        ([.pcma, .opus], true, ["110 telephone-event/48000", "101 telephone-event/8000"]), ([.pcma, .opus], false, []),
    ]

    @Test(arguments: eventTable)
    func `offers events at the clocks of its codecs`(codecs: [Codec], events: Bool, expected: [String]) {
        var local = here
        (local.codecs, local.telephoneEvents) = (codecs, events)
        var caller = engine(local)
        let maps = caller.offer().media[0].attributes.filter { $0.name == "rtpmap" }.compactMap { $0.value?.description }
        #expect(maps.filter { $0.contains("telephone-event") } == expected)
    }

    @Test func `an answer repeats the times of its offer, and what follows them does`() throws {
        var callee = engine()
        for (index, times) in ["3034423619 3042462419", "0 0"].enumerated() {
            let offer = String(decoding: plainOffer(version: index + 1), as: UTF8.self).replacing("t=0 0", with: "t=\(times)")
            try callee.receive(offer: Array(offer.utf8))
            #expect(try callee.answer().description.timing == Text(times))
            #expect(callee.offer().timing == Text(times))
            callee.rollback()
        }
    }

    @Test func `writes IPv6 and takes a peer of that family alone`() throws {
        var local = here
        local.address = IPAddress("2001:db8::5")!
        var callee = engine(local)
        #expect(throws: NegotiationError.unusableAddress) { try callee.receive(offer: plainOffer()) }
        try callee.receive(offer: plainOffer(address: "IN IP6 2001:db8::99"))
        let (description, audio) = try callee.answer()
        #expect(description.connection == .init(addressType: "IP6", host: "2001:db8::5"))
        #expect(description.origin.addressType == "IP6")
        #expect(audio?.remoteRTP == SocketAddress("[2001:db8::99]:4000"))
    }

    @Test func `an answer may use other numbers than the offer`() throws {
        var caller = engine()
        _ = caller.offer()
        let audio = try caller.receive(answer: plainOffer())
        #expect(audio.codecs.map(\.summary) == ["PCMU 0/0"])
        _ = caller.offer()
        let other = try caller.receive(
            answer: body(
                """
                v=0
                o=- 77 2 IN IP4 198.51.100.5
                s=-
                c=IN IP4 198.51.100.5
                t=0 0
                m=audio 4000 RTP/AVP 8 120 99
                a=rtpmap:120 opus/48000/2
                a=fmtp:120 maxaveragebitrate=20000
                a=rtpmap:99 telephone-event/48000
                """))
        #expect(other.codecs.map(\.summary) == ["PCMA 8/8", "opus 111/120"])
        #expect(other.codecs[1].codec.fmtp == "maxaveragebitrate=20000")
        #expect(other.telephoneEvents.map(\.summary) == ["telephone-event 110/99"])
        #expect(other.telephoneEvent(for: .opus)?.sendPayloadType == 99)
        #expect(other.telephoneEvent(for: .pcma)?.sendPayloadType == 99)
    }

    @Test func `answers with the codecs that the other leg agreed, in their order`() throws {
        var callee = engine()
        try callee.receive(offer: RealOffers.baresip.body)
        var opus = Codec.opus
        opus.fmtp = "useinbandfec=1"
        let (description, audio) = try callee.answer(codecs: [.pcma, opus, .pcma, Codec(name: "GSM", clockRate: 8_000)])
        #expect(description.media[0].formats == ["8", "96", "101"])
        #expect(description.media[0].attributes.contains(.init("fmtp", "96 useinbandfec=1")))
        #expect(audio?.codecs.map(\.summary) == ["PCMA 8/8", "opus 96/96"])
    }

    @Test func `a restriction without a common codec leaves the offer to be refused`() throws {
        var callee = engine()
        try callee.receive(offer: RealOffers.sipp.body)
        #expect(throws: NegotiationError.noCommonCodec) { try callee.answer(codecs: [.opus]) }
        #expect(callee.state == .haveRemoteOffer)
        callee.rollback()
        #expect(callee.state == .stable)
        #expect(callee.audio == nil)
    }

    @Test func `tells what was offered before it is answered`() throws {
        var callee = engine()
        try callee.receive(offer: RealOffers.pjsua.body)
        let offer = try #require(callee.remoteOffer)
        #expect(offer.codecs.map(\.name.description) == ["speex", "opus", "GSM", "PCMU", "PCMA", "G722"])
        #expect(offer.codecs[1].fmtp == "useinbandfec=1")
        #expect(offer.hasTelephoneEvents)
        #expect(!offer.removesAudio)
        #expect(offer.hold == .none)
    }

    static let refusals: [(String, [UInt8], NegotiationError)] = [
        ("nothing", [], .malformed(.version)),
        ("no stream", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5"), .noAudio),
        ("video alone", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=video 5000 RTP/AVP 96"), .noAudio),
        ("audio at port 0", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 0 RTP/AVP 0"), .noAudio),
        ("SRTP", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/SAVP 0"), .unsupportedProfile),
        ("DTLS", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 UDP/TLS/RTP/SAVPF 0"), .unsupportedProfile),
        ("G.729", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/AVP 18"), .noCommonCodec),
        (
            "events alone",
            body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/AVP 101\na=rtpmap:101 telephone-event/8000"),
            .noCommonCodec
        ),
        ("a dynamic number without a map", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/AVP 111"), .noCommonCodec),
        (
            "a number that RTCP uses", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/AVP 72\na=rtpmap:72 PCMU/8000"),
            .noCommonCodec
        ),
        (
            "PCMU at another clock", body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 5000 RTP/AVP 96\na=rtpmap:96 PCMU/16000"),
            .noCommonCodec
        ),
        ("no address", body("v=0\no=- 1 1 IN IP4 h\nm=audio 5000 RTP/AVP 0"), .unusableAddress),
        ("a name", plainOffer(address: "IN IP4 phone.example"), .unusableAddress),
        ("multicast", plainOffer(address: "IN IP4 224.2.1.1/127"), .unusableAddress),
        ("broadcast", plainOffer(address: "IN IP4 255.255.255.255"), .unusableAddress),
        ("IPv6", plainOffer(address: "IN IP6 2001:db8::1"), .unusableAddress),
    ]

    @Test(arguments: refusals)
    func `refuses an offer and says why`(name: String, offer: [UInt8], reason: NegotiationError) {
        var callee = engine()
        #expect(throws: reason, "\(name)") { try callee.receive(offer: offer) }
        #expect(callee.state == .stable)
        #expect(reason.status == 488)
    }

    @Test func `an answer that cannot be used ends the exchange and leaves the session`() throws {
        var caller = engine()
        _ = caller.offer()
        let before = try caller.receive(answer: plainOffer())
        let bad: [([UInt8], NegotiationError)] = [
            (body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 0 RTP/AVP 0"), .refused),
            (body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5"), .refused),
            (body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 6 RTP/AVP 18"), .noCommonCodec), ([1], .malformed(.version)),
        ]
        for (answer, reason) in bad {
            _ = caller.offer()
            #expect(throws: reason) { try caller.receive(answer: answer) }
            #expect(caller.state == .stable)
            #expect(caller.audio == before)
        }
    }

    @Test func `offers and answers out of turn are the peer's error`() throws {
        var party = engine()
        #expect(throws: NegotiationError.outOfTurn) { try party.receive(answer: plainOffer()) }
        _ = party.offer()
        #expect(throws: NegotiationError.outOfTurn) { try party.receive(offer: plainOffer()) }
        #expect(party.state == .haveLocalOffer)
        #expect(NegotiationError.outOfTurn.status == 491)
        party.rollback()
        try party.receive(offer: plainOffer())
        #expect(throws: NegotiationError.outOfTurn) { try party.receive(offer: plainOffer()) }
        #expect(throws: NegotiationError.outOfTurn) { try party.receive(answer: plainOffer()) }
        #expect(party.state == .haveRemoteOffer)
    }

    @Test func `the version grows when the description changes and only then`() throws {
        var callee = engine()
        func version(_ description: SessionDescription) -> Int? { description.origin.version.integer() }
        try callee.receive(offer: plainOffer())
        #expect(try version(callee.answer().description) == 1)
        try callee.receive(offer: plainOffer(version: 2))
        #expect(try version(callee.answer().description) == 1)
        try callee.receive(offer: plainOffer(stream: "a=sendonly", version: 3))
        #expect(try version(callee.answer().description) == 2)
        #expect(version(callee.offer()) == 3)
        callee.rollback()
        #expect(version(callee.offer()) == 3)
        #expect(version(callee.offer(direction: .sendonly)) == 4)
    }

    @Test func `the direction in force is that of our last description`() throws {
        var callee = engine()
        #expect(callee.direction == nil)
        try callee.receive(offer: plainOffer(stream: "a=sendonly"))
        _ = try callee.answer(codecs: [.pcmu])
        #expect(callee.direction == .recvonly)
        _ = callee.offer()
        callee.rollback()
        #expect(callee.direction == .recvonly)
    }

    @Test func `a rollback leaves the session as it was`() throws {
        var party = engine()
        try party.receive(offer: RealOffers.pjsua.body)
        let before = try party.answer(codecs: [.opus]).audio
        _ = party.offer(direction: .sendonly)
        party.rollback()
        #expect(party.audio == before)
        try party.receive(offer: plainOffer())
        party.rollback()
        #expect(party.audio == before)
        #expect(party.remoteOffer == nil)
        #expect(party.offer().media[0].formats == ["97", "9", "0", "8", "120", "101"])
    }

    @Test func `a re-offer lists everything again under the numbers that are in use`() throws {
        var callee = engine()
        try callee.receive(offer: RealOffers.chromium.body)
        _ = try callee.answer(codecs: [.pcmu])
        let again = callee.offer()
        #expect(again.media.map(\.port) == [0, 20_000])
        #expect(again.media.map(\.proto) == ["UDP/TLS/RTP/SAVPF", "RTP/AVPF"])
        #expect(again.media[1].formats == ["111", "9", "0", "8", "110", "126"])
    }

    @Test func `numbers that the peer took for something else are not given twice`() throws {
        var callee = engine()
        try callee.receive(
            offer: body(
                """
                v=0
                o=- 1 1 IN IP4 198.51.100.5
                s=-
                c=IN IP4 198.51.100.5
                t=0 0
                m=audio 4000 RTP/AVP 0 111 110
                a=rtpmap:111 telephone-event/8000
                a=rtpmap:110 PCMA/8000
                """))
        _ = try callee.answer()
        let formats = callee.offer().media[0].formats
        #expect(formats == ["96", "9", "0", "110", "97", "111"])
    }

    @Test func `a stream of the peer's second choice is taken when the first goes`() throws {
        var callee = engine()
        let two = { (first: Int, second: Int) in
            body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio \(first) RTP/AVP 0\nm=audio \(second) RTP/AVP 8")
        }
        try callee.receive(offer: two(4_000, 5_000))
        var (description, audio) = try callee.answer()
        #expect(description.media.map(\.port) == [20_000, 0])
        try callee.receive(offer: two(0, 5_000))
        (description, audio) = try callee.answer()
        #expect(description.media.map(\.port) == [0, 20_000])
        #expect(audio?.remoteRTP.port == 5_000)
        try callee.receive(offer: two(4_000, 5_000))
        (description, audio) = try callee.answer()
        #expect(description.media.map(\.port) == [0, 20_000], "the stream in use is kept")
    }

    @Test func `a re-offer of something else in place of the sound is refused, and nothing has changed`() throws {
        var callee = engine()
        try callee.receive(offer: plainOffer())
        let agreed = try callee.answer().audio
        for media in ["", "m=image 49170 udptl t38", "m=audio 0 RTP/AVP 0\nm=image 49170 udptl t38"] {
            #expect(throws: NegotiationError.noAudio) {
                try callee.receive(offer: body("v=0\no=- 1 2 IN IP4 h\nc=IN IP4 198.51.100.5\n" + media))
            }
        }
        #expect(callee.state == .stable && callee.audio == agreed)
    }

    @Test func `a re-offer may remove the stream, and another may bring it back`() throws {
        var callee = engine()
        try callee.receive(offer: plainOffer())
        _ = try callee.answer()
        try callee.receive(offer: body("v=0\no=- 1 2 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 0 RTP/AVP 0"))
        #expect(callee.remoteOffer?.removesAudio == true)
        let (description, audio) = try callee.answer()
        #expect(description.media.map(\.port) == [0])
        #expect(audio == nil)
        #expect(callee.audio == nil)
        try callee.receive(offer: plainOffer(version: 3))
        #expect(try callee.answer().audio != nil)
    }

    /// RFC 3264 §8, also where our offer was the first.
    @Test(arguments: [true, false]) func `an offer of ours after the peer removed the stream has none in its place`(isOurs: Bool) throws {
        var party = engine()
        if isOurs {
            _ = party.offer()
            _ = try party.receive(answer: plainOffer())
        } else {
            try party.receive(offer: body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=video 5000 RTP/AVP 96\nm=audio 4000 RTP/AVP 0"))
            _ = try party.answer()
            try party.receive(offer: body("v=0\no=- 1 2 IN IP4 h\nc=IN IP4 198.51.100.5\nm=video 0 RTP/AVP 96\nm=audio 0 RTP/AVP 0"))
            _ = try party.answer()
        }
        let offer = party.offerWithoutAudio()
        #expect(
            offer.media.map(\.kind) == (isOurs ? ["audio"] : ["video", "audio"])
                && offer.media.allSatisfy { $0.port == 0 && !$0.formats.isEmpty })
        #expect(throws: NegotiationError.refused) { try party.receive(answer: offer.serialized()) }
        #expect(party.state == .stable)
        try party.receive(offer: plainOffer(version: 3))
        #expect(try party.answer().audio != nil)
    }

    @Test func `a re-offer with fewer streams is taken while the sound is among them`() throws {
        var callee = engine()
        try callee.receive(offer: body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=video 5000 RTP/AVP 96\nm=audio 4000 RTP/AVP 0"))
        #expect(try callee.answer().description.media.map(\.port) == [0, 20_000])
        #expect(throws: NegotiationError.noAudio) {
            try callee.receive(offer: body("v=0\no=- 1 2 IN IP4 h\nc=IN IP4 198.51.100.5\nm=video 5000 RTP/AVP 96"))
        }
        try callee.receive(offer: plainOffer(version: 3))
        #expect(try callee.answer().description.media.map(\.port) == [20_000])
    }

    static let rtcpTable: [(String, LocalMedia, String?, Bool)] = [
        ("", here, "198.51.100.5:4001", false), ("a=rtcp:5555", here, "198.51.100.5:5555", false),
        ("a=rtcp:5555 IN IP4 198.51.100.77", here, "198.51.100.77:5555", false),
        ("a=rtcp:5555 IN IP4 224.0.0.1", here, "198.51.100.5:5555", false), ("a=rtcp:0", here, "198.51.100.5:4001", false),
        ("a=rtcp:5555\na=rtcp-mux", here, "198.51.100.5:4000", true), ("a=rtcp-mux", noMux, "198.51.100.5:4000", true),
    ]

    @Test(arguments: rtcpTable)
    func `finds the port of RTCP in an offer`(lines: String, local: LocalMedia, rtcp: String?, mux: Bool) throws {
        var callee = engine(local)
        try callee.receive(offer: plainOffer(stream: lines))
        let (description, audio) = try callee.answer()
        #expect(audio?.remoteRTCP == rtcp.flatMap { SocketAddress($0) })
        #expect(audio?.rtcpMux == mux)
        #expect((description.media[0].attribute("rtcp-mux") != nil) == mux)
    }

    @Test func `one port only when both asked for it`() throws {
        for (local, line, mux) in [(here, "a=rtcp-mux", true), (here, "", false), (noMux, "a=rtcp-mux", false)] {
            var caller = engine(local)
            #expect((caller.offer().media[0].attribute("rtcp-mux") != nil) == local.offersMux)
            let audio = try caller.receive(answer: plainOffer(stream: line))
            #expect(audio.rtcpMux == mux)
            #expect(audio.remoteRTCP?.port == (mux ? 4_000 : 4_001))
        }
    }

    @Test func `a peer at the last port has none for RTCP`() throws {
        var callee = engine()
        try callee.receive(offer: body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 65535 RTP/AVP 0"))
        let audio = try callee.answer().audio
        #expect(audio?.remoteRTCP == nil)
        #expect(audio?.sendsRTCP == false)
    }

    static let ptimes: [(String, Int)] = [
        ("", 20), ("a=ptime:30", 30), ("a=ptime:25", 20), ("a=ptime:5", 10), ("a=ptime:500", 120), ("a=ptime:60\na=maxptime:40", 40),
        ("a=maxptime:10", 10), ("a=ptime:0", 20), ("a=ptime:x", 20), ("a=ptime:40.5", 40), ("a=ptime:99999999999999999999", 20),
    ]

    /// So that one leg of a bridge can be offered what the other one takes.
    @Test func `an offer tells how long packets should be and may be, and is read so`() throws {
        var local = here
        (local.ptime, local.maxptime) = (20, 10)
        var caller = OfferAnswer(local: local, sessionID: 400), callee = OfferAnswer(local: here, sessionID: 404)
        let offer = caller.offer()
        #expect(mediaLines(offer).contains("a=ptime:10") && mediaLines(offer).contains("a=maxptime:10"))
        try callee.receive(offer: offer.serialized())
        #expect(callee.remoteOffer?.ptime == 10 && callee.remoteOffer?.maxptime == 10)
        #expect(try callee.answer().audio?.ptime == 10)
    }

    @Test(arguments: ptimes)
    func `sends packets as long as the peer likes, within reason`(lines: String, expected: Int) throws {
        var callee = engine()
        try callee.receive(offer: plainOffer(stream: lines))
        #expect(try callee.answer().audio?.ptime == expected)
    }

    @Test(arguments: [("L16/44100", 10), ("L16/48000", 10), ("L16/16000", 40), ("L16/8000", 60)])
    func `asks for no packet of L16 that is longer than an Ethernet frame`(map: String, expected: Int) throws {
        var local = here
        local.codecs = Codec.catalogue
        var callee = engine(local)
        try callee.receive(
            offer: body("v=0\no=- 1 1 IN IP4 h\nc=IN IP4 198.51.100.5\nm=audio 4000 RTP/AVP 96\na=rtpmap:96 \(map)\na=ptime:60"))
        let answer = try callee.answer()
        #expect(answer.audio?.ptime == expected)
        #expect(mediaLines(answer.description).contains("a=ptime:\(expected)"))
    }
}
