import Primitives

@testable import SDP

/// A description from lines, as a client sends it.
func body(_ lines: String) -> [UInt8] {
    Array(
        lines.split(separator: "\n", omittingEmptySubsequences: true).map { $0.trimmingPrefix(while: { $0 == " " }) + "\r\n" }.joined().utf8
    )
}

let here = LocalMedia(address: IPAddress("192.0.2.10")!, port: 20_000, codecs: Codec.usual)
let noMux = LocalMedia(address: IPAddress("192.0.2.10")!, port: 20_000, rtcpPort: 20_001, codecs: Codec.usual, offersMux: false)

func engine(_ local: LocalMedia = here) -> OfferAnswer { OfferAnswer(local: local, sessionID: 400) }

/// The lines of a description, without the first five of the session's.
func mediaLines(_ description: SessionDescription) -> [String] {
    let lines = String(decoding: description.serialized(), as: UTF8.self).split(separator: "\r\n").map(String.init)
    return Array(lines.drop { !$0.hasPrefix("m=") })
}

/// A plain offer of PCMU at 198.51.100.5:4000, with lines to add to the stream.
func plainOffer(address: String = "IN IP4 198.51.100.5", session: String = "", stream: String = "", version: Int = 1) -> [UInt8] {
    body(
        """
        v=0
        o=- 77 \(version) IN IP4 198.51.100.5
        s=-
        c=\(address)
        t=0 0
        \(session)
        m=audio 4000 RTP/AVP 0
        \(stream)
        """)
}

extension NegotiatedCodec {
    /// `name receive/send`.
    var summary: String { "\(codec.name) \(receivePayloadType)/\(sendPayloadType)" }
}
