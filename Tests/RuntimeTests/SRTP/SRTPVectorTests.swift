import Primitives
import Testing

@testable import Runtime

/// What the RFCs print, byte for byte.
@Suite struct SRTPVectorTests {
    /// RFC 3711 appendix B.3: labels 0, 1 and 2.
    @Test(arguments: [
        (UInt8(0), "C61E7A93744F39EE10734AFE3FF7A087"),
        (2, "30CBBC08863D8C85D49DB34A9AE1"),
        (
            1,
            """
            CEBE321F6FF7716B6FD4AB49AF256A156D38BAA48F0A0ACF3C34E2359E6CDBCEE049646C43D9327AD175578EF72270986371C10C9A369AC2F94A8C5FBCDDDC25
            6D6E919A48B610EF17C2041E474035766B68642C59BBFC2F34DB60DBDFB2
            """
        ),
    ])
    func `session keys come out of the master key as RFC 3711 prints them`(label: UInt8, expected: String) throws {
        let key = try #require(SRTPKey(.aes128CMSHA1_80, hexadecimal("E1F97A0D3E018BE0D64FA32C06DE4139 0EC675AD498AFEEBB6960B3AABE6")))
        SRTPKeyDerivation.withSessionKey(key, label: label, count: hexadecimal(expected).count) {
            #expect(Array($0) == hexadecimal(expected))
        }
    }

    /// RFC 3711 appendix B.2: with SSRC and index 0 the cipher text of zeros is the key stream.
    @Test func `the key stream of counter mode is that of RFC 3711`() {
        let cipher = SRTPCipher(.aes128CMSHA1_80, .rtp, encrypts: true)
        hexadecimal("2B7E151628AED2A6ABF7158809CF4F3C").withUnsafeBytes { cipher.use(key: $0) }
        hexadecimal("F0F1F2F3F4F5F6F7F8F9FAFBFCFD").withUnsafeBytes { cipher.use(salt: $0) }
        var stream = [UInt8](repeating: 0, count: 0xFF02 * 16)
        #expect(stream.withUnsafeMutableBytes { cipher.crypt($0, ssrc: 0, index: 0) })
        #expect(
            Array(stream[..<48])
                == hexadecimal("E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"))
        #expect(
            Array(stream[(0xFEFF * 16)...])
                == hexadecimal("EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"))
    }

    static let key128 = "000102030405060708090a0b0c0d0e0f"
    static let key256 = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    static let salt = "517569642070726f2071756f"
    static let rtp = "8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573"
    static let rtcp = "81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef"

    struct Sealed: CustomTestStringConvertible, Sendable {
        var section: String, suite: SRTPSuite, key: String, packet: String
        var testDescription: String { "RFC 7714 §\(section)" }
    }

    static let sealedRTP = [
        Sealed(
            section: "16.1", suite: .aes128GCM, key: key128,
            packet: """
                8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf
                765ee439 0cce
                """),
        Sealed(
            section: "16.2", suite: .aes256GCM, key: key256,
            packet: """
                8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b7aa3 db36dfff d6b0f9bb
                7878d7a7 6c13
                """),
    ]

    static let sealedRTCP = [
        Sealed(
            section: "17.1", suite: .aes128GCM, key: key128,
            packet: """
                81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f
                c5abf872 45d9eade 800005d4
                """),
        Sealed(
            section: "17.2", suite: .aes256GCM, key: key256,
            packet: """
                81c8000d 4d617273 d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658 c61de047 6f1b6fad 1d1eb30c 4446839f
                57ff6f6c b26ac3be 800005d4
                """),
    ]

    private func cipher(_ sealed: Sealed, _ purpose: SRTPCipher.Purpose, encrypts: Bool) -> SRTPCipher {
        let cipher = SRTPCipher(sealed.suite, purpose, encrypts: encrypts)
        hexadecimal(sealed.key).withUnsafeBytes { cipher.use(key: $0) }
        hexadecimal(Self.salt).withUnsafeBytes { cipher.use(salt: $0) }
        return cipher
    }

    private func sender(_ sealed: Sealed) -> SRTPSender {
        SRTPSender(
            .test(sealed.suite), rtp: cipher(sealed, .rtp, encrypts: true), rtcp: cipher(sealed, .rtcp, encrypts: true), controlIndex: 0x5D4
        )
    }

    private func receiver(_ sealed: Sealed) -> SRTPReceiver {
        SRTPReceiver(.test(sealed.suite), rtp: cipher(sealed, .rtp, encrypts: false), rtcp: cipher(sealed, .rtcp, encrypts: false))
    }

    @Test(arguments: sealedRTP) func `RTP in Galois counter mode is that of RFC 7714`(sealed: Sealed) throws {
        #expect(try sender(sealed).protected(hexadecimal(Self.rtp)) == hexadecimal(sealed.packet))
        #expect(try receiver(sealed).opened(hexadecimal(sealed.packet)) == hexadecimal(Self.rtp))
    }

    @Test(arguments: sealedRTCP) func `RTCP in Galois counter mode is that of RFC 7714`(sealed: Sealed) throws {
        #expect(try sender(sealed).protectedControl(hexadecimal(Self.rtcp)) == hexadecimal(sealed.packet))
        #expect(try receiver(sealed).openedControl(hexadecimal(sealed.packet)) == hexadecimal(Self.rtcp))
    }

    /// RFC 7714 §17.3: authentic, and not what was agreed.
    @Test func `RTCP that is authentic but not encrypted is refused`() {
        let packet = """
            81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef 841dd968 3dd78ec9
            2ae58790 125f62b3 000005d4
            """
        let receiver = receiver(Self.sealedRTCP[0])
        #expect(throws: SRTPRefusal.unencrypted) { try receiver.openedControl(hexadecimal(packet)) }
        #expect(receiver.counts.unencrypted == 1)
    }
}
