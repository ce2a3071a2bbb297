import Primitives

@testable import SDP

/// Offers as real clients write them, with what we answer and agree.
struct RealOffer: CustomStringConvertible, Sendable {
    var description: String
    var body: [UInt8]
    /// Our answer's lines from the first `m=` on.
    var answer: [String]
    /// `name receive/send`.
    var codecs: [String]
    var events: [String]
    var rtp: String
    var rtcp: String?
}

enum RealOffers {
    static let all = [baresip, pjsua, linphone, chromium, sipp, asterisk, narrowOpus]

    static let baresip = RealOffer(
        description: "baresip",
        body: body(
            """
            v=0
            o=- 3571465410 1202903712 IN IP4 198.51.100.7
            s=-
            c=IN IP4 198.51.100.7
            t=0 0
            a=tool:baresip 4.10.0
            m=audio 27834 RTP/AVP 96 9 0 8 101
            b=AS:125
            a=rtpmap:96 opus/48000/2
            a=fmtp:96 stereo=1;sprop-stereo=1
            a=rtpmap:9 G722/8000
            a=rtpmap:0 PCMU/8000
            a=rtpmap:8 PCMA/8000
            a=rtpmap:101 telephone-event/8000
            a=fmtp:101 0-15
            a=rtcp:27835
            a=sendrecv
            a=label:1
            a=rtcp-rsize
            a=ssrc:2419813482 cname:sip:alice@example.test
            a=ptime:20
            """),
        answer: [
            "m=audio 20000 RTP/AVP 96 9 0 8 101", "a=rtpmap:96 opus/48000/2", "a=fmtp:96 stereo=1;sprop-stereo=1", "a=rtpmap:9 G722/8000",
            "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:20",
            "a=rtcp:20000",
            "a=rtcp-rsize", "a=sendrecv",
        ],
        codecs: ["opus 96/96", "G722 9/9", "PCMU 0/0", "PCMA 8/8"], events: ["telephone-event 101/101"], rtp: "198.51.100.7:27834",
        rtcp: "198.51.100.7:27835")

    static let pjsua = RealOffer(
        description: "pjsua",
        body: body(
            """
            v=0
            o=- 3973241234 3973241234 IN IP4 198.51.100.8
            s=pjmedia
            b=AS:117
            t=0 0
            a=X-nat:0
            m=audio 4000 RTP/AVP 98 97 3 0 8 9 120 121
            c=IN IP4 198.51.100.8
            b=TIAS:96000
            a=rtcp:4001 IN IP4 198.51.100.8
            a=sendrecv
            a=rtpmap:98 speex/16000
            a=rtpmap:97 opus/48000/2
            a=fmtp:97 useinbandfec=1
            a=rtpmap:3 GSM/8000
            a=rtpmap:0 PCMU/8000
            a=rtpmap:8 PCMA/8000
            a=rtpmap:9 G722/8000
            a=rtpmap:120 telephone-event/48000
            a=fmtp:120 0-16
            a=rtpmap:121 telephone-event/8000
            a=fmtp:121 0-16
            a=ssrc:2127734412 cname:7f1a2b3c
            a=rtcp-mux
            """),
        answer: [
            "m=audio 20000 RTP/AVP 97 0 8 9 120 121", "a=rtpmap:97 opus/48000/2", "a=fmtp:97 useinbandfec=1", "a=rtpmap:0 PCMU/8000",
            "a=rtpmap:8 PCMA/8000", "a=rtpmap:9 G722/8000", "a=rtpmap:120 telephone-event/48000", "a=fmtp:120 0-15",
            "a=rtpmap:121 telephone-event/8000", "a=fmtp:121 0-15", "a=ptime:20", "a=rtcp:20000", "a=rtcp-mux", "a=sendrecv",
        ],
        codecs: ["opus 97/97", "PCMU 0/0", "PCMA 8/8", "G722 9/9"], events: ["telephone-event 120/120", "telephone-event 121/121"],
        rtp: "198.51.100.8:4000", rtcp: "198.51.100.8:4000")

    static let linphone = RealOffer(
        description: "linphone",
        body: body(
            """
            v=0
            o=alice 1234 3321 IN IP4 198.51.100.9
            s=Talk
            c=IN IP4 198.51.100.9
            t=0 0
            a=rtcp-xr:rcvr-rtt=all:10000 stat-summary=loss,dup,jitt,TTL voip-metrics
            a=record:off
            m=audio 7078 RTP/AVPF 96 97 0 8 101 98
            a=rtpmap:96 OPUS/48000/2
            a=fmtp:96 useinbandfec=1
            a=rtpmap:97 speex/16000
            a=fmtp:97 vbr=on
            a=rtpmap:101 telephone-event/48000
            a=rtpmap:98 telephone-event/8000
            a=rtcp-fb:* trr-int 1000
            a=rtcp-fb:* ccm tmmbr
            m=video 9078 RTP/AVPF 96
            a=rtpmap:96 VP8/90000
            """),
        answer: [
            "m=audio 20000 RTP/AVPF 96 0 8 101 98", "a=rtpmap:96 opus/48000/2", "a=fmtp:96 useinbandfec=1", "a=rtpmap:0 PCMU/8000",
            "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/48000", "a=fmtp:101 0-15", "a=rtpmap:98 telephone-event/8000",
            "a=fmtp:98 0-15",
            "a=ptime:20", "a=rtcp:20000", "a=sendrecv", "m=video 0 RTP/AVPF 96",
        ],
        codecs: ["opus 96/96", "PCMU 0/0", "PCMA 8/8"], events: ["telephone-event 101/101", "telephone-event 98/98"],
        rtp: "198.51.100.9:7078", rtcp: "198.51.100.9:7079")

    /// A browser behind something that took DTLS away; a secured audio stream stands first and is refused in its place.
    static let chromium = RealOffer(
        description: "Chromium",
        body: body(
            """
            v=0
            o=- 4611731400430051336 2 IN IP4 127.0.0.1
            s=-
            t=0 0
            a=group:BUNDLE 0 1
            a=msid-semantic: WMS stream
            m=audio 9 UDP/TLS/RTP/SAVPF 111
            c=IN IP4 0.0.0.0
            a=mid:0
            m=audio 54321 RTP/AVPF 111 63 9 0 8 13 110 126
            c=IN IP4 198.51.100.10
            a=rtcp:9 IN IP4 0.0.0.0
            a=mid:1
            a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
            a=sendrecv
            a=rtcp-mux
            a=rtcp-rsize
            a=rtpmap:111 opus/48000/2
            a=rtcp-fb:111 transport-cc
            a=fmtp:111 minptime=10;useinbandfec=1
            a=rtpmap:63 red/48000/2
            a=fmtp:63 111/111
            a=rtpmap:13 CN/8000
            a=rtpmap:110 telephone-event/48000
            a=rtpmap:126 telephone-event/8000
            a=maxptime:60
            """),
        answer: [
            "m=audio 0 UDP/TLS/RTP/SAVPF 111", "m=audio 20000 RTP/AVPF 111 9 0 8 110 126", "a=mid:1", "a=rtpmap:111 opus/48000/2",
            "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
            "a=rtpmap:110 telephone-event/48000", "a=fmtp:110 0-15", "a=rtpmap:126 telephone-event/8000", "a=fmtp:126 0-15", "a=ptime:20",
            "a=rtcp:20000", "a=rtcp-mux", "a=rtcp-rsize", "a=sendrecv",
        ],
        codecs: ["opus 111/111", "G722 9/9", "PCMU 0/0", "PCMA 8/8"], events: ["telephone-event 110/110", "telephone-event 126/126"],
        rtp: "198.51.100.10:54321", rtcp: "198.51.100.10:54321")

    static let sipp = RealOffer(
        description: "sipp",
        body: body(
            """
            v=0
            o=user1 53655765 2353687637 IN IP4 198.51.100.11
            s=-
            c=IN IP4 198.51.100.11
            t=0 0
            m=audio 6000 RTP/AVP 0
            a=rtpmap:0 PCMU/8000
            """),
        answer: ["m=audio 20000 RTP/AVP 0", "a=rtpmap:0 PCMU/8000", "a=ptime:20", "a=rtcp:20000", "a=sendrecv"],
        codecs: ["PCMU 0/0"], events: [], rtp: "198.51.100.11:6000", rtcp: "198.51.100.11:6001")

    static let asterisk = RealOffer(
        description: "Asterisk",
        body: body(
            """
            v=0
            o=- 1525912387 1525912387 IN IP4 198.51.100.12
            s=Asterisk
            c=IN IP4 198.51.100.12
            t=0 0
            m=audio 17654 RTP/AVP 8 0 107 101
            a=rtpmap:8 PCMA/8000
            a=rtpmap:0 PCMU/8000
            a=rtpmap:107 opus/48000/2
            a=rtpmap:101 telephone-event/8000
            a=fmtp:101 0-16
            a=ptime:30
            a=maxptime:140
            a=sendrecv
            """),
        answer: [
            "m=audio 20000 RTP/AVP 8 0 107 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:0 PCMU/8000", "a=rtpmap:107 opus/48000/2",
            "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:30", "a=rtcp:20000", "a=sendrecv",
        ],
        codecs: ["PCMA 8/8", "PCMU 0/0", "opus 107/107"], events: ["telephone-event 101/101"], rtp: "198.51.100.12:17654",
        rtcp: "198.51.100.12:17655")

    /// Opus without its channels, and events at a clock that no codec has: still the only digits to be had.
    static let narrowOpus = RealOffer(
        description: "opus alone",
        body: body(
            """
            v=0
            o=- 1 1 IN IP4 198.51.100.13
            s=-
            c=IN IP4 198.51.100.13
            t=0 0
            a=recvonly
            m=audio 5004 RTP/AVP 120 99 100
            a=rtpmap:120 Opus/48000
            a=rtpmap:99 Telephone-Event/8000
            a=rtpmap:100 telephone-event/16000
            """),
        answer: [
            "m=audio 20000 RTP/AVP 120 99", "a=rtpmap:120 opus/48000/2", "a=rtpmap:99 telephone-event/8000", "a=fmtp:99 0-15", "a=ptime:20",
            "a=rtcp:20000", "a=sendonly",
        ],
        codecs: ["opus 120/120"], events: ["telephone-event 99/99"], rtp: "198.51.100.13:5004", rtcp: "198.51.100.13:5005")
}
