/// Pieces that mean something to the parsers, for places where they should not stand.
enum Dictionary {
    static let words = (ends + signs + addresses + parameters + tokens + fields + descriptions).map { Array($0.utf8) } + strangeText

    private static let ends = ["\r\n", "\r\n\r\n", "\r", "\n", "\n\n", "\r\n ", "\r\n\t", "\0", " ", "  ", "\t"]
    private static let signs = [
        "%00", "%", "%zz", "\"", "\\", "\\\"", "<", ">", "<>", ",", ",,,", ";", ";;", "=", ":", "@", "@@", "*", "[", "]",
    ]
    private static let addresses = [
        "sip:", "sips:", "tel:+39", "sip:1001@127.0.0.1", "<sip:1001@127.0.0.1;lr>", "[::1]", "[::ffff:127.0.0.1]", "[::", "127.0.0.1",
        "0.0.0.0", "255.255.255.255", "224.0.0.1", "localhost", "fuzz.test",
    ]
    private static let parameters = [
        ";lr", ";maddr=127.0.0.1", ";transport=tcp", ";transport=tls", ";transport=udp", ";received=", ";rport", ";rport=",
        ";branch=z9hG4bK", ";tag=", ";ttl=255", ";q=", ";expires=", ";reg-id=1",
        ";+sip.instance=\"<urn:uuid:0>\"", ";ob", ";alias", ";keep", ";user=phone",
        "?Replaces=a%3Bto-tag%3Db%3Bfrom-tag%3Dc", "?method=INVITE",
    ]
    private static let tokens = [
        "SIP/2.0", "SIP/3.0", "HTTP/1.1", "INVITE", "ACK", "BYE", "CANCEL", "REGISTER", "multipart/mixed", "--cut", "--cut--",
    ]
    private static let fields = [
        "Via: ", "Content-Length: 0\r\n", "Content-Length: 99999\r\n", "Contact: *\r\n", "Require: 100rel\r\n", "Require: timer\r\n",
        "Supported: 100rel\r\n",
    ]
    private static let descriptions = [
        "a=sendonly\r\n", "a=inactive\r\n", "a=rtcp-mux\r\n", "m=audio 0 RTP/AVP 0\r\n", "m=audio 9 RTP/AVP 0\r\n", "c=IN IP4 0.0.0.0\r\n",
        "c=IN IP6 ::1\r\n", "a=rtpmap:0 PCMU/8000\r\n", "a=rtpmap:96 opus/48000/2\r\n", "a=ice-lite\r\n",
    ]
    /// UTF-8 with a mark of its order, of letters and of a direction; and bytes that are none.
    private static let strangeText =
        ["\u{FEFF}", "é", "日本", "\u{202E}"].map { Array($0.utf8) } + [
            [0xC3], [0xFF, 0xFE], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ]

    /// Names of header fields.
    static let names =
        RequestFields.all.map(\.name) + [
            "Via", "From", "To", "Call-ID", "CSeq", "Contact", "Max-Forwards", "Content-Length", "v", "f", "t", "i", "m", "l", "c", "e",
            "k",
            "s", "r", "b", "o", "u", "x", "X-Unknown",
        ]
}
