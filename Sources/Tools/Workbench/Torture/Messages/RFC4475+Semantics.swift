import SIP

extension TortureMessage {
    /// RFC 4475 §3.2 to §3.4: messages that can be read, and must be understood rightly.
    static let rfc4475Semantics: [TortureMessage] = [
        TortureMessage(
            .rfc4475, "badbranch", "§3.2.1", "a branch without an identifier", .tolerated,
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                To: sip:user@example.com
                From: sip:caller@example.org;tag=33242
                Max-Forwards: 3
                Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK
                Accept: application/sdp
                Call-ID: badbranch.sadonfo23i420jv0as0derf3j3n
                CSeq: 8 OPTIONS
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "insuf", "§3.3.1", "header fields that must be there are missing", .status([400]), [.maySilence],
            text: #"""
                INVITE sip:user@example.com SIP/2.0
                CSeq: 193942 INVITE
                Via: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf
                Content-Type: application/sdp
                l: 152

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.95
                s=-
                c=IN IP4 192.0.2.95
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "unkscm", "§3.3.2", "a Request-URI with an unknown scheme", .status([416]),
            text: #"""
                OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0
                To: sip:user@example.com
                From: sip:caller@example.net;tag=384
                Max-Forwards: 3
                Call-ID: unkscm.nasdfasser0q239nwsdfasdkl34
                CSeq: 3923423 OPTIONS
                Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc4475, "novelsc", "§3.3.3", "a Request-URI with a known scheme that is not of SIP", .status([416, 404]),
            text: #"""
                OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0
                To: sip:user@example.com
                From: sip:caller@example.net;tag=384
                Max-Forwards: 3
                Call-ID: novelsc.asdfasser0q239nwsdfasdkl34
                CSeq: 3923423 OPTIONS
                Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc4475, "unksm2", "§3.3.4", "unknown schemes in To, From and Contact of a REGISTER", .status([400, 403, 404, 405, 501]),
            text: #"""
                REGISTER sip:example.com SIP/2.0
                To: isbn:2983792873
                From: <http://www.example.com>;tag=3234233
                Call-ID: unksm2.daksdj@hyphenated-host.example.com
                CSeq: 234902 REGISTER
                Max-Forwards: 70
                Via: SIP/2.0/UDP 192.0.2.21:5060;branch=z9hG4bKkdjuw
                Contact: <name:John_Smith>
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "bext01", "§3.3.5", "Require and Proxy-Require of what nobody supports", .status([420], has: "Unsupported"),
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                To: sip:j_user@example.com
                From: sip:caller@example.net;tag=242etr
                Max-Forwards: 6
                Call-ID: bext01.0ha0isndaksdj
                Require: nothingSupportsThis, nothingSupportsThisEither
                Proxy-Require: noProxiesSupportThis, norDoAnyProxiesSupportThis
                CSeq: 8 OPTIONS
                Via: SIP/2.0/TLS fold-and-staple.example.com;branch=z9hG4bKkdjuw
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc4475, "invut", "§3.3.6", "an unknown Content-Type", .status([415], has: "Accept"), [.addressComesFirst],
            text: #"""
                INVITE sip:user@example.com SIP/2.0
                Contact: <sip:caller@host5.example.net>
                To: sip:j.user@example.com
                From: sip:caller@example.net;tag=8392034
                Max-Forwards: 70
                Call-ID: invut.0ha0isndaksdjadsfij34n23d
                CSeq: 235448 INVITE
                Via: SIP/2.0/UDP somehost.example.com;branch=z9hG4bKkdjuw
                Content-Type: application/unknownformat
                Content-Length: 40

                <audio>
                 <pcmu port="443"/>
                </audio>

                """#),
        TortureMessage(
            .rfc4475, "regaut01", "§3.3.7", "an unknown authorization scheme", .understood,
            text: #"""
                REGISTER sip:example.com SIP/2.0
                To: sip:j.user@example.com
                From: sip:j.user@example.com;tag=87321hj23128
                Max-Forwards: 8
                Call-ID: regaut01.0ha0isndaksdj
                CSeq: 9338 REGISTER
                Via: SIP/2.0/TCP 192.0.2.253;branch=z9hG4bKkdjuw
                Authorization: NoOneKnowsThisScheme opaque-data=here
                Content-Length:0


                """#),
        TortureMessage(
            .rfc4475, "multi01", "§3.3.8", "several values where one is allowed", .status([400]),
            text: #"""
                INVITE sip:user@company.com SIP/2.0
                Contact: <sip:caller@host25.example.net>
                Via: SIP/2.0/UDP 192.0.2.25;branch=z9hG4bKkdjuw
                Max-Forwards: 70
                CSeq: 5 INVITE
                Call-ID: multi01.98asdh@192.0.2.1
                CSeq: 59 INVITE
                Call-ID: multi01.98asdh@192.0.2.2
                From: sip:caller@example.com;tag=3413415
                To: sip:user@example.com
                To: sip:other@example.net
                From: sip:caller@example.net;tag=2923420123
                Content-Type: application/sdp
                l: 154
                Contact: <sip:caller@host36.example.net>
                Max-Forwards: 5

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.25
                s=-
                c=IN IP4 192.0.2.25
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC


                """#),
        TortureMessage(
            .rfc4475, "mcl01", "§3.3.9", "several Content-Lengths", .status([400]), [.breaksStream],
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bK293423
                To: sip:user@example.com
                From: sip:other@example.net;tag=3923942
                Call-ID: mcl01.fhn2323orihawfdoa3o4r52o3irsdf
                CSeq: 15932 OPTIONS
                Content-Length: 13
                Max-Forwards: 60
                Content-Length: 5
                Content-Type: text/plain

                There's no way to know how many octets are supposed to be here.


                """#),
        TortureMessage(
            .rfc4475, "bcast", "§3.3.10", "a 200 whose second Via is the broadcast address", .silence,
            text: #"""
                SIP/2.0 200 OK
                Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
                Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23
                Call-ID: bcast.0384840201234ksdfak3j2erwedfsASdf
                CSeq: 35 INVITE
                From: sip:user@example.com;tag=11141343
                To: sip:user@example.edu;tag=2229
                Content-Length: 154
                Content-Type: application/sdp
                Contact: <sip:user@host28.example.com>

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.198
                s=-
                c=IN IP4 192.0.2.198
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "zeromf", "§3.3.11", "Max-Forwards of zero", .understood,
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                To: sip:user@example.com
                From: sip:caller@example.net;tag=3ghsd41
                Call-ID: zeromf.jfasdlfnm2o2l43r5u0asdfas
                CSeq: 39234321 OPTIONS
                Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bKkdjuw2349i
                Max-Forwards: 0
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc4475, "cparam01", "§3.3.12", "an unknown parameter of Contact", .understood,
            text: #"""
                REGISTER sip:example.com SIP/2.0
                Via: SIP/2.0/UDP saturn.example.com:5060;branch=z9hG4bKkdjuw
                Max-Forwards: 70
                From: sip:watson@example.com;tag=DkfVgjkrtMwaerKKpe
                To: sip:watson@example.com
                Call-ID: cparam01.70710@saturn.example.com
                CSeq: 2 REGISTER
                Contact: sip:+19725552222@gw1.example.net;unknownparam
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "cparam02", "§3.3.13", "an unknown parameter of the URI in Contact", .understood,
            text: #"""
                REGISTER sip:example.com SIP/2.0
                Via: SIP/2.0/UDP saturn.example.com:5060;branch=z9hG4bKkdjuw
                Max-Forwards: 70
                From: sip:watson@example.com;tag=838293
                To: sip:watson@example.com
                Call-ID: cparam02.70710@saturn.example.com
                CSeq: 3 REGISTER
                Contact: <sip:+19725552222@gw1.example.net;unknownparam>
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "regescrt", "§3.3.14", "escaped header fields in the URI of Contact", .understood,
            text: #"""
                REGISTER sip:example.com SIP/2.0
                To: sip:user@example.com
                From: sip:user@example.com;tag=8
                Max-Forwards: 70
                Call-ID: regescrt.k345asrl3fdbv@192.0.2.1
                CSeq: 14398234 REGISTER
                Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
                M: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>
                L:0


                """#),
        TortureMessage(
            .rfc4475, "sdp01", "§3.3.15", "an Accept that nothing fits", .understood,
            text: #"""
                INVITE sip:user@example.com SIP/2.0
                To: sip:j_user@example.com
                Contact: <sip:caller@host15.example.net>
                From: sip:caller@example.net;tag=234
                Max-Forwards: 5
                Call-ID: sdp01.ndaksdj9342dasdd
                Accept: text/nobodyKnowsThis
                CSeq: 8 INVITE
                Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw
                Content-Length: 150
                Content-Type: application/sdp

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.5
                s=-
                c=IN IP4 192.0.2.5
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "inv2543", "§3.4.1", "an INVITE of RFC 2543", .tolerated,
            text: #"""
                INVITE sip:UserB@example.com SIP/2.0
                Via: SIP/2.0/UDP iftgw.example.com
                From: <sip:+13035551111@ift.client.example.net;user=phone>
                Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>
                To: sip:+16505552222@ss1.example.net;user=phone
                Call-ID: inv2543.1717@ift.client.example.com
                CSeq: 56 INVITE
                Content-Type: application/sdp

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.5
                s=-
                c=IN IP4 192.0.2.5
                t=0 0
                m=audio 49217 RTP/AVP 0

                """#),
    ]
}
