import Primitives
import Runtime
import SDP

/// Session descriptions of ours.
struct Description {
    enum Protection { case none, keys, dtls(setup: String) }

    var media: SocketAddress
    /// Nil: RTCP comes on the port of RTP.
    var control: SocketAddress?
    var codecs = Self.usual
    var protection = Protection.none
    var ice: ICECredentials?
    var extra: [String] = []
    var version = 1

    static let usual = ["0 PCMU/8000", "8 PCMA/8000", "101 telephone-event/8000"]
    static let wide = [
        "96 opus/48000/2", "9 G722/8000", "0 PCMU/8000", "101 telephone-event/48000", "100 telephone-event/8000", "13 CN/8000",
    ]

    var text: String {
        let formats = codecs.map { $0.prefix { $0 != " " } }.joined(separator: " ")
        var lines = [
            "v=0", "o=fuzz 1 \(version) IN IP4 \(media.address)", "s=-", "c=IN IP4 \(media.address)", "t=0 0",
            "m=audio \(media.port) \(profile) \(formats)",
        ]
        lines += codecs.map { "a=rtpmap:\($0)" } + ["a=sendrecv"] + protectionLines + iceLines + extra
        lines.append(control.map { "a=rtcp:\($0.port)" } ?? "a=rtcp-mux")
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    private var profile: String {
        switch protection {
        case .none: "RTP/AVP"
        case .keys: "RTP/SAVP"
        case .dtls: "UDP/TLS/RTP/SAVP"
        }
    }

    private var protectionLines: [String] {
        switch protection {
        case .none: []
        case .keys: ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(Self.key)"]
        case .dtls(let setup):
            ["a=setup:\(setup)"]
                + [Fingerprint(.sha256, DTLSIdentity.ofThisProcess.fingerprint)].compactMap { $0.map { "a=fingerprint:\($0.text)" } }
        }
    }

    /// Our key in a description, 16 bytes and a salt of 14: we encrypt with it.
    static let keyBytes = [UInt8](1...30)
    private static let key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0e"

    private var iceLines: [String] {
        guard let ice else { return [] }
        let candidate = "a=candidate:1 1 UDP 2130706431 \(media.address) \(media.port) typ host"
        return ["a=ice-ufrag:\(ice.user)", "a=ice-pwd:\(ice.password)", candidate]
    }
}

extension Description {
    /// Lines that peers add, or might.
    static let attributes = [
        "a=ptime:20", "a=maxptime:60", "a=ptime:0.125", "a=fmtp:96 maxplaybackrate=16000;stereo=1;useinbandfec=1;maxaveragebitrate=510000",
        "a=fmtp:101 0-16",
        "a=fmtp:101 0-4294967295", "a=sendonly", "a=recvonly", "a=inactive", "b=AS:64", "b=RS:0", "a=rtcp-rsize", "a=rtcp-fb:* nack",
        "a=mid:audio", "a=msid:a b",
        "a=ssrc:1 cname:a", "a=candidate:2 1 TCP 1 127.0.0.1 9 typ host tcptype active",
        "a=candidate:3 1 UDP 99 127.0.0.9 9 typ srflx raddr 0.0.0.0 rport 0",
        "a=end-of-candidates", "a=ice-options:trickle", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuv", "a=ice-lite",
        "a=ice-mismatch",
        "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0e|2^20|1:4",
        "a=crypto:2 AEAD_AES_256_GCM inline:AA==",
        "a=setup:actpass", "a=setup:holdconn", "a=connection:new", "a=tls-id:abcdefghijklmnopqrst", "a=fingerprint:sha-256 00:11",
        "a=fingerprint:md5 00", "a=rtcp:9 IN IP4 127.0.0.9",
        "m=video 40010 RTP/AVP 99", "m=audio 40012 RTP/AVP 0", "m=image 40014 udptl t38", "a=group:BUNDLE audio",
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
        "c=IN IP4 224.2.1.1/127/3", "c=IN IP6 ::1", "c=IN IP4 fuzz.test", "i=a", "k=prompt", "a=rtpmap:97 L16/44100/2",
        "a=rtpmap:98 opus/48000/1",
    ]

    /// Adds some of them.
    mutating func add(using random: inout SeededRandom) {
        for _ in 0..<random.pick([0, 1, 2, 4, 9]) { extra.append(random.pick(Self.attributes)) }
    }
}
