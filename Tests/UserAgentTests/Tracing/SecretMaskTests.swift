import Primitives
import Testing
import UserAgent

/// What nobody reads in a trace, and what stays.
@Suite struct SecretMaskTests {
    private static func masked(_ text: String) -> String { String(decoding: SecretMask.masked(Array(text.utf8)), as: UTF8.self) }

    @Test(arguments: [
        ("Authorization: Digest username=\"1001\", response=\"abc\"", "Authorization: Digest **************** **************"),
        ("proxy-authorization : Digest a=b", "proxy-authorization : Digest ***"),
        ("Authorization: a=b, c=d", "Authorization: **** ***"), ("Authorization:Basic QWxh", "Authorization:Basic ****"),
        ("Authorization: QWxh", "Authorization: ****"),
        (
            "Authorization: Digest a=b,\r\n\tresponse=\"x\"\r\nTo: <sip:a@b>",
            "Authorization: Digest ****\r\n\t************\r\nTo: <sip:a@b>"
        ),
        ("Authentication-Info: rspauth=\"x\"", "Authentication-Info: ***********"),
        (
            "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|2^20;inline:REVG",
            "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:****|2^20;inline:****"
        ),
        ("a=ice-pwd:secret\nk=clear:abc", "a=ice-pwd:******\nk=*********"),
        (
            "Contact: <sip:1@a;pn-provider=apns;pn-prid=t0ken;pn-param=x>;q=1",
            "Contact: <sip:1@a;pn-provider=apns;pn-prid=*****;pn-param=*>;q=1"
        ),
        ("REGISTER sip:1001:pass@b.test SIP/2.0\r\nTo: <sips:2:x@c>", "REGISTER sip:1001:****@b.test SIP/2.0\r\nTo: <sips:2:*@c>"),
    ]) func `secrets are covered, and keep their length`(text: String, expected: String) {
        #expect(Self.masked(text) == expected)
        #expect(Self.masked(text).utf8.count == text.utf8.count)
    }

    @Test(arguments: [
        "WWW-Authenticate: Digest realm=\"a\", nonce=\"b\"", "To: <sip:1001@b:5060>", "a=rtpmap:0 PCMU/8000", "a=ice-ufrag:abcd", "",
        "\r\n\r\n",
        "Via: SIP/2.0/UDP a:5060;branch=z9hG4bK1", "Subject: Authorization: Digest a=b", "Contact: \"sip:a:b\" <sip:a@[::1]:5060>",
    ]) func `everything else stays`(text: String) { #expect(Self.masked(text) == text) }
}
