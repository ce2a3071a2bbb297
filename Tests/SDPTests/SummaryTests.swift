import Primitives
import SDP
import Testing

@Suite struct SummaryTests {
    private static func summary(_ lines: String...) throws -> String {
        let head = ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0"]
        return try SessionDescription(parsing: Text((head + lines).map { $0 + "\r\n" }.joined())).summary.description
    }

    @Test(arguments: [
        (["m=audio 4000 RTP/AVP 0 8 18", "a=sendrecv"], "audio 192.0.2.1:4000 PCMU PCMA 18"),
        (
            ["m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "a=rtpmap:111 opus/48000/2", "a=ice-ufrag:x", "a=fingerprint:sha-256 00"],
            "audio 192.0.2.1:9 opus PCMU DTLS ICE"
        ),
        (["m=audio 4000 RTP/AVP 0", "c=IN IP6 ::1", "a=inactive"], "audio ::1:4000 PCMU inactive"),
        (["m=audio 4000 RTP/AVP 0", "m=video 0 RTP/AVP 96"], "audio 192.0.2.1:4000 PCMU, video none"),
        (["m=audio 4000 RTP/AVP 97 98", "a=rtpmap:97 opus/48000/2", "a=rtpmap:98 opus/16000"], "audio 192.0.2.1:4000 opus"),
    ])
    func `a description is told in a line`(lines: [String], expected: String) throws {
        let head = ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0"]
        let text = Text((head + lines).map { $0 + "\r\n" }.joined())
        #expect(try SessionDescription(parsing: text).summary.description == expected)
    }

    @Test func `however much it offers, and whoever wrote it, the line is short and printable`() throws {
        let formats = (0..<60).map { "\($0)" }.joined(separator: " ")
        let long = try Self.summary("m=audio 4000 RTP/AVP " + formats, "m=video 4002 RTP/AVP " + formats)
        #expect(long.utf8.count == 300 && long.hasSuffix(" ..."))
        let strange = try Self.summary("m=audio 4000 RTP/AVP 96", "a=rtpmap:96 \u{1B}[2Jé/8000")
        #expect(strange.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && strange.contains("?[2J??"))
    }
}
