import Primitives
import Testing

@testable import SDP

@Suite struct CryptoAttributeTests {
    static let key30 = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"
    static let key28 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw=="
    static let key44 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKis="

    /// RFC 4568 §9.4 and §6, and what clients make of them.
    @Test(arguments: [
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)|2^20",
        "1 AES_CM_128_HMAC_SHA1_32 inline:\(key30)|1048576",
        "1 AES_CM_128_HMAC_SHA1_32 inline:\(key30)|2^48 KDR=0 WSH=128", "1 AEAD_AES_128_GCM inline:\(key28)",
        "1 AEAD_AES_128_GCM inline:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw",
        "1  AEAD_AES_256_GCM\tinline:\(key44) -NEW=thing", "1 AES_CM_128_HMAC_SHA1_80 INLINE:\(key30)",
    ])
    func `reads a suite and a key`(value: String) throws {
        let crypto = try #require(CryptoAttribute(parsing: Text(value)))
        #expect(crypto.tag == 1)
        #expect(value.contains(crypto.key.suite.rawValue))
        let again = try #require(crypto.attribute.value)
        #expect(CryptoAttribute(parsing: again) == crypto)
    }

    @Test(arguments: [
        "", "1", "1 AES_CM_128_HMAC_SHA1_80", "1 AES_CM_128_HMAC_SHA1_80 \(key30)", "1 F8_128_HMAC_SHA1_80 inline:\(key30)",
        "01 AES_CM_128_HMAC_SHA1_80 inline:\(key30)", "1234567890 AES_CM_128_HMAC_SHA1_80 inline:\(key30)",
        "x AES_CM_128_HMAC_SHA1_80 inline:\(key30)",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key28)", "1 AEAD_AES_128_GCM inline:\(key30)", "1 AES_CM_128_HMAC_SHA1_80 inline:d0Rm*mcm",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)|2^20|1:4", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)|1:4",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)|0",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30)|2^49", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30);inline:\(key30)",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) KDR=4", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) UNENCRYPTED_SRTP",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) UNENCRYPTED_SRTCP", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) UNAUTHENTICATED_SRTP",
        "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) FEC_KEY=inline:\(key30)", "1 AES_CM_128_HMAC_SHA1_80 inline:\(key30) SOMETHING",
    ])
    func `passes over what is malformed or not done here`(value: String) { #expect(CryptoAttribute(parsing: Text(value)) == nil) }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 is that of RFC 4648`(plain: String, coded: String) {
        #expect(Base64.encode(plain.utf8) == Array(coded.utf8))
        #expect(Base64.decode(coded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg===", "Z g=", "Zg=a", "=", "Zm9vY"]) func `what is no base64 is none`(coded: String) {
        #expect(Base64.decode(coded.utf8) == nil)
    }
}
