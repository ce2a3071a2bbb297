import Primitives

/// Bodies of requests, as their kinds of content are written.
enum Bodies {
    /// A body for a request without an offer; nil: none.
    static func any(for method: String, using random: inout SeededRandom) -> (type: String, text: String)? {
        switch method {
        case "INFO": random.pick([keyRelay, keyRelay, ("application/dtmf", "5"), fastUpdate, nil])
        case "MESSAGE":
            random.pick([
                ("text/plain;charset=utf-8", "ciao, è un testo"),
                ("message/cpim", "From: <a>\r\nTo: <b>\r\n\r\nContent-Type: text/plain\r\n\r\nciao"), nil,
            ])
        case "NOTIFY": random.pick([fragment(100), fragment(180), fragment(200), fragment(503), ("message/sipfrag", "SIP/2.0 "), nil])
        case "PUBLISH": ("application/pidf+xml", "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\"/>")
        case "ACK", "PRACK", "OPTIONS", "BYE", "REFER", "CANCEL": random.happens(percent: 10) ? ("application/sdp", plain) : nil
        default: nil
        }
    }

    private static let keyRelay = ("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n")
    private static let fastUpdate = (
        "application/media_control+xml",
        "<?xml version=\"1.0\"?><media_control><vc_primitive><to_encoder><picture_fast_update/></to_encoder></vc_primitive></media_control>"
    )
    private static let plain = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\n"

    private static func fragment(_ status: Int) -> (String, String) { ("message/sipfrag;version=2.0", "SIP/2.0 \(status) Status\r\n") }

    /// An offer among other parts (RFC 5621).
    static func multipart(_ description: String) -> (type: String, text: String) {
        let parts = [
            "Content-Type: application/sdp\r\n\r\n\(description)",
            "Content-Type: application/pidf+xml\r\nContent-ID: <a@b>\r\n\r\n<presence/>",
        ]
        return ("multipart/mixed;boundary=\"cut\"", parts.map { "--cut\r\n\($0)\r\n" }.joined() + "--cut--\r\n")
    }
}
