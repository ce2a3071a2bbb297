import Primitives
import Testing

@testable import SDP

/// What goes with sound in a description: L16 in three clocks, comfort noise and events at each of them.
@Suite struct CompanionTests {
    private func local(_ codecs: [Codec], noise: Bool = true) -> LocalMedia {
        var local = here
        (local.codecs, local.comfortNoise) = (codecs, noise)
        return local
    }

    private func maps(_ description: SessionDescription) -> [String] {
        description.media[0].attributes.filter { $0.name == "rtpmap" }.compactMap { $0.value?.description }
    }

    @Test func `comfort noise and events are offered at each clock, noise not at that of Opus`() {
        var caller = engine(local([.opus, .l16(16_000), .pcmu]))
        #expect(
            maps(caller.offer()) == [
                "111 opus/48000/2", "96 L16/16000", "0 PCMU/8000", "97 CN/16000", "13 CN/8000", "110 telephone-event/48000",
                "98 telephone-event/16000",
                "101 telephone-event/8000",
            ])
        var silent = engine(local([.pcmu], noise: false))
        #expect(maps(silent.offer()) == ["0 PCMU/8000", "101 telephone-event/8000"])
    }

    private static let offer = plainOffer(stream: "a=rtpmap:97 L16/16000\r\na=rtpmap:98 CN/16000\r\na=rtpmap:101 telephone-event/16000")

    private func offer(_ formats: String) -> [UInt8] {
        let text = String(decoding: Self.offer, as: UTF8.self).replacing("RTP/AVP 0", with: "RTP/AVP \(formats)")
        return Array(text.utf8)
    }

    @Test(arguments: [
        (true, "0 13 97 98 101", ["13/13 8000", "98/98 16000"]), (true, "0 13", ["13/13 8000"]), (true, "0 97", []),
        (false, "0 13 97 98", []),
        (true, "97 13", []),
    ])
    func `noise is agreed to at the clocks of what is agreed to, where we want it`(wants: Bool, formats: String, expected: [String]) throws
    {
        var callee = engine(local([.pcmu, .l16(16_000)], noise: wants))
        try callee.receive(offer: offer(formats))
        #expect(callee.remoteOffer?.hasComfortNoise == formats.contains("13"))
        let (answer, agreed) = try callee.answer(), audio = try #require(agreed)
        #expect(audio.comfortNoise.map { "\($0.receivePayloadType)/\($0.sendPayloadType) \($0.codec.clockRate)" } == expected)
        #expect(audio.codecs.allSatisfy { $0.codec.isSound })
        #expect(answer.media[0].formats.contains("13") == expected.contains { $0.hasPrefix("13") })
        if formats == "0 13 97 98 101" { #expect(audio.telephoneEvents.map(\.summary) == ["telephone-event 101/101"]) }
    }

    @Test func `an answer agrees to the noise that it repeats`() throws {
        var caller = engine(local([.pcmu, .opus]))
        _ = caller.offer()
        let audio = try caller.receive(answer: offer("0 13"))
        #expect(audio.comfortNoise(for: .pcmu)?.sendPayloadType == 13 && audio.comfortNoise(for: .opus) == nil)
        _ = caller.offer()
        #expect(try caller.receive(answer: offer("0")).comfortNoise.isEmpty)
        _ = caller.offer()
        #expect(throws: NegotiationError.noCommonCodec) { try caller.receive(answer: offer("13")) }
    }

    static let names: [(Text, Codec)] = [("opus", .opus), ("L16/16000", .l16(16_000)), ("l16/48000", .l16(48_000)), ("PCMA", .pcma)]

    @Test(arguments: names) func `a configuration names codecs, with the clock where there are several`(name: Text, codec: Codec) {
        #expect(Codec(catalogueName: name) == codec && Codec(catalogueName: codec.catalogueName) == codec)
        #expect(Codec(catalogueName: "l16") == nil && Codec(catalogueName: "CN") == nil)
    }
}
