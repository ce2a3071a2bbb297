import Primitives

/// Header fields that requests may have, each with values that RFCs allow, or nearly.
enum RequestFields {
    static let all: [(name: String, values: [String])] = [
        (
            "Route",
            [
                "<sip:127.0.0.1;lr>", "<sip:127.0.0.1:5060>", "<sip:p1.fuzz.test;lr>, <sip:127.0.0.1;lr>",
                "<sips:127.0.0.1:5061;lr;transport=tls>",
            ]
        ),
        ("Record-Route", ["<sip:127.0.0.7:5070;lr>", "<sip:[::1]:5060;lr>", "<sip:127.0.0.7;lr>, <sip:127.0.0.8>"]),
        ("Path", ["<sip:127.0.0.7:5070;lr;ob>", "<sip:a@127.0.0.7;lr>, <sip:127.0.0.8;lr>"]),
        ("Supported", ["100rel, timer, replaces, path, outbound, norefersub, 199", "", "timer", "gruu"]),
        ("Require", ["100rel", "timer", "replaces", "path", "unheard-of", "100rel, timer"]),
        ("Proxy-Require", ["sec-agree"]),
        ("Allow", ["INVITE, ACK, BYE, CANCEL, OPTIONS, UPDATE, PRACK, INFO, REFER, NOTIFY, MESSAGE", "INVITE"]),
        ("Accept", ["application/sdp", "*/*", "text/plain;q=0.5, application/*;q=0", "message/sipfrag"]),
        ("Accept-Language", ["it, en;q=0.8"]),
        ("Expires", ["0", "60", "3600", "4294967295"]),
        ("Min-Expires", ["90"]),
        ("Session-Expires", ["90;refresher=uac", "90;refresher=uas", "1800", "4294967295", "89"]),
        ("Min-SE", ["90", "120", "86400"]),
        ("Replaces", ["abc@fuzz;to-tag=1;from-tag=2", "abc@fuzz;to-tag=1;from-tag=2;early-only"]),
        (
            "Refer-To",
            [
                "<sip:9196@fuzz.test>", "<sip:1002@fuzz.test?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>", "sip:1001@127.0.0.1",
                "<tel:+39021234>", "<http://a.test>",
            ]
        ),
        ("Refer-Sub", ["false", "true"]),
        ("Referred-By", ["<sip:1001@fuzz.test>;cid=\"1@a\""]),
        ("Event", ["refer", "refer;id=93809824", "presence", "message-summary", "dialog"]),
        ("Subscription-State", ["active;expires=60", "terminated;reason=noresource", "pending"]),
        ("RAck", ["1 1 INVITE", "776656 1 INVITE", "4294967295 2147483647 INVITE"]),
        ("RSeq", ["1", "4294967295"]),
        (
            "Reason",
            ["Q.850;cause=16;text=\"Terminated\"", "SIP;cause=200;text=\"Call completed elsewhere\"", "SIP;cause=600, Q.850;cause=17"]
        ),
        ("Retry-After", ["5", "18000;duration=3600 (in a meeting)"]),
        ("Warning", ["307 fuzz.test \"Session parameter 'foo' not understood\""]),
        ("P-Asserted-Identity", ["\"Alice\" <sip:+3902@fuzz.test>", "<tel:+3902>, <sip:1001@fuzz.test>"]),
        ("P-Preferred-Identity", ["<sip:1001@fuzz.test>"]),
        ("Privacy", ["id", "header;id;critical", "none"]),
        ("Diversion", ["<sip:1002@fuzz.test>;reason=user-busy;counter=1"]),
        ("History-Info", ["<sip:1002@fuzz.test>;index=1, <sip:1001@fuzz.test?Reason=SIP%3Bcause%3D302>;index=1.1"]),
        ("User-Agent", ["fuzz/1.0 (made up)"]),
        ("Subject", ["a call", "=?utf-8?q?a_call?="]),
        ("User-to-User", ["48656c6c6f;encoding=hex"]),
        ("Date", ["Sat, 13 Nov 2010 23:29:00 GMT"]),
        ("Timestamp", ["54.21", "54.21 0.5"]),
        ("Organization", ["A & B"]),
        ("Priority", ["emergency"]),
        ("Alert-Info", ["<http://127.0.0.1/ring.wav>;info=alert-autoanswer"]),
        ("Call-Info", ["<http://127.0.0.1/photo.jpg>;purpose=icon"]),
        ("In-Reply-To", ["70710@fuzz.test, 17320@fuzz.test"]),
        ("Info-Package", ["nihao"]),
        ("Identity", ["eyJhbGciOiJFUzI1NiJ9.e30.AA;info=<http://127.0.0.1/a.pem>;alg=ES256;ppt=shaken", "\"ZYNBbHC00VMZr2kZt6VmCg==\""]),
        ("Content-Disposition", ["session;handling=required", "render;handling=optional", "early-session"]),
        ("Content-Encoding", ["identity", "gzip"]),
        ("Content-Language", ["fr"]),
        ("MIME-Version", ["1.0"]),
        ("Target-Dialog", ["abc@fuzz;local-tag=1;remote-tag=2"]),
        ("Max-Breadth", ["60"]),
        ("Recv-Info", [""]),
        ("Flow-Timer", ["120"]),
        ("Security-Client", ["tls;q=0.2"]),
        ("Join", ["abc@fuzz;to-tag=1;from-tag=2"]),
        ("Answer-Mode", ["Auto"]),
    ]

    /// A few of them.
    static func some(using random: inout SeededRandom) -> [String] {
        (0..<random.pick([0, 1, 2, 3, 5, 8, 14])).map { _ in
            let field = random.pick(all)
            return "\(field.name): \(random.pick(field.values))"
        }
    }
}
