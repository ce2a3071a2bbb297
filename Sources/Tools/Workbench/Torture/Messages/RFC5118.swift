import SIP

extension TortureMessage {
    /// RFC 5118 §4: addresses of IPv6.
    static let rfc5118: [TortureMessage] = [
        TortureMessage(
            .rfc5118, "ipv6-good", "§4.1", "a valid request with IPv6 references", .understood,
            text: #"""
                REGISTER sip:[2001:db8::10] SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Max-Forwards: 70
                Contact: "Caller" <sip:caller@[2001:db8::1]>
                CSeq: 98176 REGISTER
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "ipv6-bad", "§4.2", "an IPv6 address without its brackets", .status([400]),
            text: #"""
                REGISTER sip:2001:db8::10 SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Max-Forwards: 70
                Contact: "Caller" <sip:caller@[2001:db8::1]>
                CSeq: 98176 REGISTER
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "port-ambiguous", "§4.3", "a port inside of the brackets, which is no port", .understood,
            text: #"""
                REGISTER sip:[2001:db8::10:5070] SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Contact: "Caller" <sip:caller@[2001:db8::1]>
                Max-Forwards: 70
                CSeq: 98176 REGISTER
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "port-unambiguous", "§4.4", "a port behind the brackets", .understood,
            text: #"""
                REGISTER sip:[2001:db8::10]:5070 SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Contact: "Caller" <sip:caller@[2001:db8::1]>
                Max-Forwards: 70
                CSeq: 98176 REGISTER
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "via-received-param-with-delim", "§4.5", "received with brackets", .understood,
            text: #"""
                BYE sip:[2001:db8::10] SIP/2.0
                To: sip:user@example.com;tag=bd76ya
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];received=[2001:db8::9:255];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Max-Forwards: 70
                CSeq: 321 BYE
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "via-received-param-no-delim", "§4.5", "received without brackets", .understood,
            text: #"""
                OPTIONS sip:[2001:db8::10] SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255;branch=z9hG4bKas3
                Call-ID: SSG95523997077@hlau_4100
                Max-Forwards: 70
                Contact: "Caller" <sip:caller@[2001:db8::9:1]>
                CSeq: 921 OPTIONS
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "ipv6-in-sdp", "§4.6", "IPv6 addresses in a session description", .understood,
            text: #"""
                INVITE sip:user@[2001:db8::10] SIP/2.0
                To: sip:user@[2001:db8::10]
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::20];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Contact: "Caller" <sip:caller@[2001:db8::20]>
                CSeq: 8612 INVITE
                Max-Forwards: 70
                Content-Type: application/sdp
                Content-Length: 251

                v=0
                o=assistant 971731711378798081 0 IN IP6 2001:db8::20
                s=Live video feed for today's meeting
                c=IN IP6 2001:db8::20
                t=3338481189 3370017201
                m=audio 6000 RTP/AVP 2
                a=rtpmap:2 G726-32/8000
                m=video 6024 RTP/AVP 107
                a=rtpmap:107 H263-1998/90000

                """#),
        TortureMessage(
            .rfc5118, "mult-ip-in-header", "§4.7", "addresses of both families in header fields", .understood,
            text: #"""
                BYE sip:user@host.example.net SIP/2.0
                Via: SIP/2.0/UDP [2001:db8::9:1]:6050;branch=z9hG4bKas3-111
                Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKjhja8781hjuaij65144
                Via: SIP/2.0/TCP [2001:db8::9:255];branch=z9hG4bK451jj;received=192.0.2.200
                Call-ID: 997077@lau_4100
                Max-Forwards: 70
                CSeq: 89187 BYE
                To: sip:user@example.net;tag=9817--94
                From: sip:user@example.com;tag=81x2
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "mult-ip-in-sdp", "§4.8", "addresses of both families in a session description", .understood,
            text: #"""
                INVITE sip:user@[2001:db8::10] SIP/2.0
                To: sip:user@[2001:db8::10]
                From: sip:user@example.com;tag=81x2
                Via: SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Contact: "Caller" <sip:caller@[2001:db8::9:1]>
                Max-Forwards: 70
                CSeq: 8912 INVITE
                Content-Type: application/sdp
                Content-Length: 181

                v=0
                o=bob 280744730 28977631 IN IP4 host.example.com
                s=
                t=0 0
                m=audio 22334 RTP/AVP 0
                c=IN IP4 192.0.2.1
                m=video 6024 RTP/AVP 107
                c=IN IP6 2001:db8::1
                a=rtpmap:107 H263-1998/90000

                """#),
        TortureMessage(
            .rfc5118, "ipv4-mapped-ipv6", "§4.9", "IPv6 addresses that map those of IPv4", .understood,
            text: #"""
                INVITE sip:user@example.com SIP/2.0
                To: sip:user@example.com
                From: sip:user@east.example.com;tag=81x2
                Via: SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19
                Via: SIP/2.0/UDP [::ffff:192.0.2.2];branch=z9hG4bKas3-111
                Call-ID: SSG9559905523997077@hlau_4100
                Contact: "T. desk phone" <sip:ted@[::ffff:192.0.2.2]>
                CSeq: 612 INVITE
                Max-Forwards: 70
                Content-Type: application/sdp
                Content-Length: 236

                v=0
                o=assistant 971731711378798081 0 IN IP6 ::ffff:192.0.2.2
                s=Call me soon, please!
                c=IN IP6 ::ffff:192.0.2.2
                t=3338481189 3370017201
                m=audio 6000 RTP/AVP 2
                a=rtpmap:2 G726-32/8000
                m=video 6024 RTP/AVP 107
                a=rtpmap:107 H263-1998/90000

                """#),
        TortureMessage(
            .rfc5118, "ipv6-bug-abnf-3-colons", "§4.10", "the three colons that the grammar of RFC 3261 allows by mistake", .tolerated,
            text: #"""
                OPTIONS sip:user@[2001:db8:::192.0.2.1] SIP/2.0
                To: sip:user@[2001:db8:::192.0.2.1]
                From: sip:user@example.com;tag=810x2
                Via: SIP/2.0/UDP lab1.east.example.com;branch=z9hG4bKas3-111
                Call-ID: G9559905523997077@hlau_4100
                CSeq: 689 OPTIONS
                Max-Forwards: 70
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc5118, "ipv6-correct-abnf-2-colons", "§4.10", "the two colons that are right", .understood,
            text: #"""
                OPTIONS sip:user@[2001:db8::192.0.2.1] SIP/2.0
                To: sip:user@[2001:db8::192.0.2.1]
                From: sip:user@example.com;tag=810x2
                Via: SIP/2.0/UDP lab1.east.example.com;branch=z9hG4bKas3-111
                Call-ID: G9559905523997077@hlau_4100
                CSeq: 689 OPTIONS
                Max-Forwards: 70
                Content-Length: 0


                """#),
    ]
}
