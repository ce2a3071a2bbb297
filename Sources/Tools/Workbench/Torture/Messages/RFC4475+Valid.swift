import SIP

extension TortureMessage {
    /// RFC 4475 §3.1.1: messages that are valid, however odd they look.
    static let rfc4475Valid: [TortureMessage] = [
        TortureMessage(
            .rfc4475, "wsinv", "§3.1.1.1", "a short tortuous INVITE", .understood,
            text: #"""
                INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
                TO :
                 sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
                from   : "J Rosenberg \\\""       <sip:jdrosen@example.com>
                  ;
                  tag = 98asjd8
                MaX-fOrWaRdS: 0068
                Call-ID: wsinv.ndaksdj@192.0.2.1
                Content-Length   : 150
                cseq: 0009
                  INVITE
                Via  : SIP  /   2.0
                 /UDP
                    192.0.2.2;branch=390skdjuw
                s :
                NewFangledHeader:   newfangled value
                 continued newfangled value
                UnknownHeaderWithUnusualValue: ;;,,;;,;
                Content-Type: application/sdp
                Route:
                 <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
                v:  SIP  / 2.0  / TCP     spindle.example.com   ;
                  branch  =   z9hG4bK9ikj8  ,
                 SIP  /    2.0   / UDP  192.168.255.111   ; branch=
                 z9hG4bK30239
                m:"Quoted string \"\"" <sip:jdrosen@example.com> ; newparam =
                      newvalue ;
                  secondparam ; q = 0.33

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.3
                s=-
                c=IN IP4 192.0.2.4
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "intmeth", "§3.1.1.2", "a wide range of valid characters, in a method that nobody knows", .unknownMethod,
            text: #"""
                !interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.co\#
                m SIP/2.0
                Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~
                To: "BEL:\<hex>07</hex> NUL:\<hex>00</hex> DEL:\<hex>7F</hex>" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
                From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="<hex>D180D0B0D0B1D0BED182D0B0D18ED189D0B8D0B9</hex>";tag=_token~1'\#
                +`*%!-.
                Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\/"][?}{
                CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~
                Max-Forwards: 255
                extensionHeader-!.%*+_`'~:<hex>EFBBBFE5A4A7E5819CE99BBB</hex>
                Content-Length: 0


                """#),
        TortureMessage(
            .rfc4475, "esc01", "§3.1.1.3", "escapes in the user part", .understood,
            text: #"""
                INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0
                To: sip:%75se%72@example.com
                From: <sip:I%20have%20spaces@example.net>;tag=938
                Max-Forwards: 87
                i: esc01.239409asdfakjkn23onasd0-3234
                CSeq: 234234 INVITE
                Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bKkdjuw
                C: application/sdp
                Contact:
                  <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>
                Content-Length: 150

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.1
                s=-
                c=IN IP4 192.0.2.1
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "escnull", "§3.1.1.4", "escaped null characters in URIs", .understood,
            text: #"""
                REGISTER sip:example.com SIP/2.0
                To: sip:null-%00-null@example.com
                From: sip:null-%00-null@example.com;tag=839923423
                Max-Forwards: 70
                Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd
                CSeq: 14398234 REGISTER
                Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
                Contact: <sip:%00@host5.example.com>
                Contact: <sip:%00%00@host5.example.com>
                L:0


                """#),
        TortureMessage(
            .rfc4475, "esc02", "§3.1.1.5", "a percent sign where it escapes nothing: no REGISTER", .unknownMethod,
            text: #"""
                RE%47IST%45R sip:registrar.example.com SIP/2.0
                To: "%Z%45" <sip:resource@example.com>
                From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
                Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
                Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
                CSeq: 29344 RE%47IST%45R
                Max-Forwards: 70
                Contact: <sip:alias1@host1.example.com>
                C%6Fntact: <sip:alias2@host2.example.com>
                Contact: <sip:alias3@host3.example.com>
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "lwsdisp", "§3.1.1.6", "no space between a display name and <", .understood,
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                To: sip:user@example.com
                From: caller<sip:caller@example.com>;tag=323
                Max-Forwards: 70
                Call-ID: lwsdisp.1234abcd@funky.example.com
                CSeq: 60 OPTIONS
                Via: SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "longreq", "§3.1.1.7", "long values in header fields", .understood,
            text: #"""
                INVITE sip:user@example.com SIP/2.0
                To: "I have a user name of extremeextremeextremeextremeextremeextremeextremeextremeextremeextreme proportion"<sip:user@example.com:6000;unknownparam1=\#
                verylonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglongvalue;longparamnamenamenamenamenamenamenamenamenamenamenamenamenam\#
                enamenamenamenamenamenamenamenamenamenamenamename=shortvalue;verylonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglongl\#
                onglonglonglongParameterNameWithNoValue>
                F: sip:amazinglylongcallernameamazinglylongcallernameamazinglylongcallernameamazinglylongcallernameamazinglylongcallername@example.net;tag=12982982982\#
                982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982982424;unkno\#
                wnheaderparamnamenamenamenamenamenamenamenamenamenamenamenamenamenamenamenamenamenamenamename=unknowheaderparamvaluevaluevaluevaluevaluevaluevaluevalu\#
                evaluevaluevaluevaluevaluevaluevalue;unknownValuelessparamnameparamnameparamnameparamnameparamnameparamnameparamnameparamnameparamnameparamname
                Call-ID: longreq.onereallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallyreallylongcallid
                CSeq: 3882340 INVITE
                Unknown-LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong-Name: unknown-longlonglonglonglonglonglonglonglonglonglonglon\#
                glonglonglonglonglonglonglonglong-value; unknown-longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong-parameter-name = unk\#
                nown-longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong-parameter-value
                Via: SIP/2.0/TCP sip33.example.com
                v: SIP/2.0/TCP sip32.example.com
                V: SIP/2.0/TCP sip31.example.com
                Via: SIP/2.0/TCP sip30.example.com
                ViA: SIP/2.0/TCP sip29.example.com
                VIa: SIP/2.0/TCP sip28.example.com
                VIA: SIP/2.0/TCP sip27.example.com
                via: SIP/2.0/TCP sip26.example.com
                viA: SIP/2.0/TCP sip25.example.com
                vIa: SIP/2.0/TCP sip24.example.com
                vIA: SIP/2.0/TCP sip23.example.com
                V :  SIP/2.0/TCP sip22.example.com
                v :  SIP/2.0/TCP sip21.example.com
                V  : SIP/2.0/TCP sip20.example.com
                v  : SIP/2.0/TCP sip19.example.com
                Via : SIP/2.0/TCP sip18.example.com
                Via  : SIP/2.0/TCP sip17.example.com
                Via: SIP/2.0/TCP sip16.example.com
                Via: SIP/2.0/TCP sip15.example.com
                Via: SIP/2.0/TCP sip14.example.com
                Via: SIP/2.0/TCP sip13.example.com
                Via: SIP/2.0/TCP sip12.example.com
                Via: SIP/2.0/TCP sip11.example.com
                Via: SIP/2.0/TCP sip10.example.com
                Via: SIP/2.0/TCP sip9.example.com
                Via: SIP/2.0/TCP sip8.example.com
                Via: SIP/2.0/TCP sip7.example.com
                Via: SIP/2.0/TCP sip6.example.com
                Via: SIP/2.0/TCP sip5.example.com
                Via: SIP/2.0/TCP sip4.example.com
                Via: SIP/2.0/TCP sip3.example.com
                Via: SIP/2.0/TCP sip2.example.com
                Via: SIP/2.0/TCP sip1.example.com
                Via: SIP/2.0/TCP host.example.com;received=192.0.2.5;branch=verylonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglo\#
                nglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglongbranchvalue
                Max-Forwards: 70
                Contact: <sip:amazinglylongcallernameamazinglylongcallernameamazinglylongcallernameamazinglylongcallernameamazinglylongcallername@host5.example.net>
                Content-Type: application/sdp
                l: 150

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.1
                s=-
                c=IN IP4 192.0.2.1
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m=video 3227 RTP/AVP 31
                a=rtpmap:31 LPC

                """#),
        TortureMessage(
            .rfc4475, "dblreq", "§3.1.1.8", "bytes behind the end of the message", .understood, [.datagramsOnly],
            text: #"""
                REGISTER sip:example.com SIP/2.0
                To: sip:j.user@example.com
                From: sip:j.user@example.com;tag=43251j3j324
                Max-Forwards: 8
                I: dblreq.0ha0isndaksdj99sdfafnl3lk233412
                Contact: sip:j.user@host.example.com
                CSeq: 8 REGISTER
                Via: SIP/2.0/UDP 192.0.2.125;branch=z9hG4bKkdjuw23492
                Content-Length: 0


                INVITE sip:joe@example.com SIP/2.0
                t: sip:joe@example.com
                From: sip:caller@example.net;tag=141334
                Max-Forwards: 8
                Call-ID: dblreq.0ha0isnda977644900765@192.0.2.15
                CSeq: 8 INVITE
                Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw380234
                Content-Type: application/sdp
                Content-Length: 150

                v=0
                o=mhandley 29739 7272939 IN IP4 192.0.2.15
                s=-
                c=IN IP4 192.0.2.15
                t=0 0
                m=audio 49217 RTP/AVP 0 12
                m =video 3227 RTP/AVP 31
                a=rtpmap:31 LPC


                """#),
        TortureMessage(
            .rfc4475, "semiuri", "§3.1.1.9", "parameters separated by semicolons in the user part", .understood,
            text: #"""
                OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0
                To: sip:j_user@example.com
                From: sip:caller@example.org;tag=33242
                Max-Forwards: 3
                Call-ID: semiuri.0ha0isndaksdj
                CSeq: 8 OPTIONS
                Accept: application/sdp, application/pkcs7-mime,
                        multipart/mixed, multipart/signed,
                        message/sip, message/sipfrag
                Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "transports", "§3.1.1.10", "varied and unknown transport types in Via", .understood,
            text: #"""
                OPTIONS sip:user@example.com SIP/2.0
                To: sip:user@example.com
                From: <sip:caller@example.com>;tag=323
                Max-Forwards: 70
                Call-ID:  transports.kijh4akdnaqjkwendsasfdj
                Accept: application/sdp
                CSeq: 60 OPTIONS
                Via: SIP/2.0/UDP t1.example.com;branch=z9hG4bKkdjuw
                Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf
                Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj
                Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en
                Via: SIP/2.0/TCP t5.example.com;branch=z9hG4bK0a9idfnee
                l: 0


                """#),
        TortureMessage(
            .rfc4475, "mpart01", "§3.1.1.11", "a MESSAGE of several parts, one of them binary", .understood,
            text: #"""
                MESSAGE sip:kumiko@example.org SIP/2.0
                Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK-d87543-4dade06d0bdb11ee-1--d87543-;rport
                Max-Forwards: 70
                Route: <sip:127.0.0.1:5080>
                Identity: r5mwreLuyDRYBi/0TiPwEsY3rEVsk/G2WxhgTV1PF7hHuLIK0YWVKZhKv9Mj8UeXqkMVbnVq37CD+813gvYjcBUaZngQmXc9WNZSDNGCzA+fWl9MEUHWIZo1CeJebdY/XlgKeTa0Olvq\#
                0rt70Q5jiSfbqMJmQFteeivUhkMWYUA=
                Contact: <sip:fluffy@127.0.0.1:5070>
                To: <sip:kumiko@example.org>
                From: <sip:fluffy@example.com>;tag=2fb0dcc9
                Call-ID: 3d9485ad0c49859b@Zmx1ZmZ5LW1hYy0xNi5sb2NhbA..
                CSeq: 1 MESSAGE
                Content-Transfer-Encoding: binary
                Content-Type: multipart/mixed;boundary=7a9cbec02ceef655
                Date: Sat, 15 Oct 2005 04:44:56 GMT
                User-Agent: SIPimp.org/0.2.5 (curses)
                Content-Length: 553

                --7a9cbec02ceef655
                Content-Type: text/plain
                Content-Transfer-Encoding: binary

                Hello
                --7a9cbec02ceef655
                Content-Type: application/octet-stream
                Content-Transfer-Encoding: binary

                <hex>3082015206092A864886F70D010702A08201433082013F0201013109300706052B0E03021A300B06092A864886F70D010701318201203082011C020101307C3070310B300906\#
                0355040613025553311330110603550408130A43616C69666F726E69613111300F0603550407130853616E204A6F7365310E300C060355040A1305736970697431293027060355040B1320\#
                5369706974205465737420436572746966696361746520417574686F7269747902080195007102330113300706052B0E03021A300D06092A864886F70D01010105000481808EF466F948F0\#
                522DD2E5978E9D95AAE9F2FE15A06659716292E8DA2AA8D8350A68CEFFAE3CBD2BFF1675DDD5648E593DD64728F26220F7E941749E330D9A15EDABDB93D10C42102E7B7289D29CC0C9AE2E\#
                FBC7C0CFF9172F3B027E4FC027E1546DE4B6AA3ABB3E66CCCB5DD6C64B8383149CB8E6FF182D944FE57B65BC99D005</hex>
                --7a9cbec02ceef655--

                """#),
        TortureMessage(
            .rfc4475, "unreason", "§3.1.1.12", "an unusual reason phrase", .silence,
            text: #"""
                SIP/2.0 200 = 2**3 * 5**2 <hex>D0BDD0BE</hex> <hex>D181D182D0BE</hex> <hex>D0B4D0B5D0B2D18FD0BDD0BED181D182D0BE</hex> <hex>D0B4D0B5D0B2D18FD182D18C</h\#
                ex> - <hex>D0BFD180D0BED181D182D0BED0B5</hex>
                Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
                Call-ID: unreason.1234ksdfak3j2erwedfsASdf
                CSeq: 35 INVITE
                From: sip:user@example.com;tag=11141343
                To: sip:user@example.edu;tag=2229
                Content-Length: 154
                Content-Type: application/sdp
                Contact: <sip:user@host198.example.com>

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
            .rfc4475, "noreason", "§3.1.1.13", "an empty reason phrase", .silence,
            text: #"""
                SIP/2.0 100<hex>20</hex>
                Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
                Call-ID: noreason.asndj203insdf99223ndf
                CSeq: 35 INVITE
                From: <sip:user@example.com>;tag=39ansfi3
                To: <sip:user@example.edu>;tag=902jndnke3
                Content-Length: 0
                Contact: <sip:user@host105.example.com>


                """#),
    ]
}
