import COpenSSL

/// The hashes of SIP digest authentication and of STIR-like uses, by OpenSSL.
///
/// Any thread. They cannot fail on a Debian OpenSSL; one that was built without an algorithm traps at its first use.
public enum OpenSSLDigest {
    /// The hash functions of digest authentication (RFC 7616), and SHA-1 for STUN (RFC 8489 §14.5).
    public enum Algorithm: Hashable, Sendable, CaseIterable { case md5, sha1, sha256, sha512_256 }

    /// The hash of `bytes`: 16 bytes for MD5, 20 for SHA-1, 32 for the others.
    public static func hash(_ algorithm: Algorithm, _ bytes: [UInt8]) -> [UInt8] {
        var count: UInt32 = 0
        let hash = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, filled in
            let status = EVP_Digest(bytes, bytes.count, output.baseAddress, &count, method(algorithm), nil)
            precondition(status == 1, "OpenSSL has no \(algorithm)")
            filled = Int(count)
        }
        return hash
    }

    /// The hash in lower-case hexadecimal digits, as digest authentication writes it (RFC 8760 §2.3).
    public static func hexadecimal(_ algorithm: Algorithm, _ bytes: [UInt8]) -> [UInt8] { lowercaseHexadecimal(hash(algorithm, bytes)) }

    /// 16 bytes.
    public static func md5(_ bytes: [UInt8]) -> [UInt8] { hash(.md5, bytes) }
    /// 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { hash(.sha256, bytes) }
    /// SHA-512 truncated to 256 bits: 32 bytes.
    public static func sha512_256(_ bytes: [UInt8]) -> [UInt8] { hash(.sha512_256, bytes) }

    /// HMAC (RFC 2104) of `message` under `key`.
    public static func hmac(_ algorithm: Algorithm, key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var count: UInt32 = 0
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, filled in
            let code = HMAC(method(algorithm), key, Int32(key.count), message, message.count, output.baseAddress, &count)
            precondition(code != nil, "OpenSSL has no \(algorithm)")
            filled = Int(count)
        }
    }

    /// Two lower-case digits for each byte.
    public static func lowercaseHexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 0xF))
        }
        return digits
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }

    // Fetched once: OpenSSL 3 searches its providers by name at every use of EVP_md5() and its like.
    private nonisolated(unsafe) static let fetchedMD5 = EVP_MD_fetch(nil, "MD5", nil)
    private nonisolated(unsafe) static let fetchedSHA1 = EVP_MD_fetch(nil, "SHA1", nil)
    private nonisolated(unsafe) static let fetchedSHA256 = EVP_MD_fetch(nil, "SHA256", nil)
    private nonisolated(unsafe) static let fetchedSHA512_256 = EVP_MD_fetch(nil, "SHA512-256", nil)

    private static func method(_ algorithm: Algorithm) -> OpaquePointer? {
        switch algorithm {
        case .md5: fetchedMD5
        case .sha1: fetchedSHA1
        case .sha256: fetchedSHA256
        case .sha512_256: fetchedSHA512_256
        }
    }
}
