import Primitives
import Testing

@Suite struct SRTPKeyTests {
    /// RFC 4568 §6.2, RFC 7714 §12 and §14.1: the bytes of key, salt, tag and RTCP tag.
    @Test(arguments: [
        ("AES_CM_128_HMAC_SHA1_80", SRTPSuite.aes128CMSHA1_80, [16, 14, 10, 10]),
        ("AES_CM_128_HMAC_SHA1_32", .aes128CMSHA1_32, [16, 14, 4, 10]),
        ("AEAD_AES_128_GCM", .aes128GCM, [16, 12, 16, 16]), ("AEAD_AES_256_GCM", .aes256GCM, [32, 12, 16, 16]),
    ])
    func `a suite has its name and its lengths`(name: String, suite: SRTPSuite, lengths: [Int]) {
        #expect(SRTPSuite(name: Text(name)) == suite && suite.name.description == name && suite.isAEAD == name.hasPrefix("AEAD"))
        #expect([suite.keyCount, suite.saltCount, suite.tagCount, suite.controlTagCount] == lengths)
    }

    @Test func `names count as they are written, and every suite is in the order of preference`() {
        #expect(SRTPSuite(name: "aead_aes_128_gcm") == nil && SRTPSuite(name: "") == nil && SRTPSuite(name: "AEAD_AES_128_GCM ") == nil)
        #expect(Set(SRTPSuite.preferred) == Set(SRTPSuite.allCases) && SRTPSuite.preferred.count == SRTPSuite.allCases.count)
        #expect(SRTPSuite.common.isSubset(of: SRTPSuite.allCases))
    }

    @Test(arguments: SRTPSuite.allCases) func `a key has as many bytes as its suite asks for`(suite: SRTPSuite) throws {
        let count = suite.keyCount + suite.saltCount
        let material = (0..<count).map { UInt8($0 + 1) }
        let key = try #require(SRTPKey(suite, material))
        #expect(key.withMaterial { Array($0) } == material && key.suite == suite)
        #expect(SRTPKey(suite, material.dropLast()) == nil && SRTPKey(suite, material + [0]) == nil && SRTPKey(suite, []) == nil)
    }

    @Test(arguments: SRTPSuite.allCases) func `keys are equal by suite and by every byte`(suite: SRTPSuite) throws {
        let material = [UInt8](repeating: 7, count: suite.keyCount + suite.saltCount)
        let key = try #require(SRTPKey(suite, material))
        #expect(key == SRTPKey(suite, material) && key.hashValue == SRTPKey(suite, material)?.hashValue)
        for index in material.indices {
            var other = material
            other[index] ^= 0x80
            #expect(key != SRTPKey(suite, other), "byte \(index)")
        }
        let longTag = SRTPKey(.aes128CMSHA1_80, [UInt8](repeating: 7, count: 30))
        #expect(longTag != SRTPKey(.aes128CMSHA1_32, [UInt8](repeating: 7, count: 30)), "the suite counts too")
    }

    @Test(arguments: SRTPSuite.allCases) func `a new key takes all of its bytes from the source of chance`(suite: SRTPSuite) {
        var random = SeededRandom(seed: 7), bytes = SeededRandom(seed: 7)
        let material = SRTPKey(suite, using: &random).withMaterial { Array($0) }
        let words = (0..<(material.count + 7) / 8).flatMap { _ in withUnsafeBytes(of: bytes.next().littleEndian) { Array($0) } }
        #expect(material == Array(words.prefix(material.count)))
        #expect(SRTPKey(suite, using: &random) != SRTPKey(suite, using: &random))
    }
}
