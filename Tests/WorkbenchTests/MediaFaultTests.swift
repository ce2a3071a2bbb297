import Primitives
import SDP
import Testing

@testable import Workbench

@Suite struct MediaFaultTests {
    private static let body = Array("v=0\r\n".utf8)

    @Test(
        arguments: [
            (NegotiationError.malformed(.missingOrigin), [], "the 200 has no description"),
            (.malformed(.missingOrigin), body, "the description of the 200 cannot be read: it has no o= line"),
            (.malformed(.version), body, "the description of the 200 cannot be read: it does not begin with v=0"),
            (.malformed(.tooLarge), body, "the description of the 200 cannot be read: it is too large"),
            (.malformed(.malformed(line: 7)), body, "the description of the 200 cannot be read: line 7 is no line of SDP"),
        ] as [(NegotiationError, [UInt8], Text)])
    func `a description that cannot be read is told with the cause and the message`(error: NegotiationError, body: [UInt8], text: Text) {
        #expect(MediaFault(error, in: "200", body: body).text == text)
    }

    @Test func `any other cause is told in its own words`() {
        struct Odd: Error, CustomStringConvertible { var description: String { "the socket is gone" } }
        #expect(MediaFault(Odd(), in: "ACK", body: Self.body).text == "no media: the socket is gone")
        #expect(MediaFault(NegotiationError.noCommonCodec, in: "ACK", body: []).text == "no media: " + NegotiationError.noCommonCodec.text)
    }
}
