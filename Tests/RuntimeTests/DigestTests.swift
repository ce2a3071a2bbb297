import Primitives
import Runtime
import Testing

extension RealTime {
    @Suite struct DigestTests {
        /// RFC 1321 A.5, FIPS 180-4 examples, and NIST's SHA-512/256 example.
        @Test(arguments: [
            (OpenSSLDigest.Algorithm.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha512_256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ])
        func `hashes are those of the standards`(algorithm: OpenSSLDigest.Algorithm, message: String, expected: String) {
            #expect(String(decoding: OpenSSLDigest.hexadecimal(algorithm, Array(message.utf8)), as: UTF8.self) == expected)
        }

        /// RFC 2202 §2 and §3 case 2, RFC 4231 case 2.
        @Test(arguments: [
            (OpenSSLDigest.Algorithm.md5, "750c783e6ab0b503eaa86e310a5db738"),
            (.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        ])
        func `keyed hashes are those of the RFCs`(algorithm: OpenSSLDigest.Algorithm, expected: String) {
            let code = OpenSSLDigest.hmac(algorithm, key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
            #expect(String(decoding: OpenSSLDigest.lowercaseHexadecimal(code), as: UTF8.self) == expected)
        }

        @Test func `random numbers do not repeat over a refill`() {
            let random = SystemRandom()
            let numbers = (0..<1_000).map { _ in random.next() }
            #expect(Set(numbers).count == 1_000)
        }

        @Test func `the clocks go forward`() {
            let (before, wall) = (MonotonicClock.now, WallClock.now)
            #expect(MonotonicClock.now >= before)
            // 2020-09-13, so that a clock which counts from boot is noticed.
            #expect(wall > 1_600_000_000_000_000_000)
        }

        @Test func `the process may open as many descriptors as the system allows, and knows what it used`() {
            let limit = ProcessResources.raiseDescriptorLimit()
            #expect(limit >= 1_024)
            #expect(ProcessResources.raiseDescriptorLimit() == limit)
            let usage = ProcessResources.usage
            #expect(usage.user > .zero)
            #expect(usage.peakMemory > 1 << 20)
        }
    }
}
