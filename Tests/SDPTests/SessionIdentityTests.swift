import Primitives
import Testing

@testable import SDP

/// Sessions of offers and answers that another process goes on with.
@Suite struct SessionIdentityTests {
    /// An answerer whose peer has numbers of its own.
    private func answerer() throws -> OfferAnswer {
        var callee = engine()
        let formats = "m=audio 4000 RTP/AVP 96 111\r\na=rtpmap:96 opus/48000/2\r\na=rtpmap:111 telephone-event/48000\r\n"
        try callee.receive(offer: Array("v=0\r\no=- 7 1 IN IP4 198.51.100.5\r\ns=-\r\nc=IN IP4 198.51.100.5\r\nt=0 0\r\n\(formats)".utf8))
        _ = try callee.answer()
        return callee
    }

    @Test func `the next description of another process has the same name and numbers, and a later version`() throws {
        let before = try answerer(), known = before.identity
        #expect(known.payloadTypes == ["96 opus/48000/2", "111 telephone-event/48000"])
        var after = OfferAnswer(local: here, sessionID: 1 << 40)
        after.resume(SessionIdentity(id: known.id, version: known.version + 5, payloadTypes: known.payloadTypes))
        let offer = after.offer()
        #expect(offer.origin.sessionID == Text(known.id) && offer.origin.version == Text(known.version + 6))
        #expect(offer.media[0].formats.first == "96" && offer.media[0].formats.contains("111"))
        #expect(offer.media[0].attributes.contains { $0.value == "111 telephone-event/48000" })
    }

    @Test func `what cannot be read is left out`() {
        let formats: [Text] = ["", "0", "PCMU/8000", "200 PCMU/8000", "0 PCMU", "8 PCMA/8000"]
        #expect(SessionIdentity(id: 1, version: 1, payloadTypes: formats).payloadTypes == ["8 PCMA/8000"])
    }
}
