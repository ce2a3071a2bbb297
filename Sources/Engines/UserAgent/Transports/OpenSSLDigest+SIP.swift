import Runtime
import SIP

extension OpenSSLDigest {
    /// The hash functions of SIP's digest authentication (RFC 7616, RFC 8760), by OpenSSL: lower-case hexadecimal digits.
    public static let sip: DigestHash = { algorithm, bytes in
        switch algorithm {
        case .md5: hexadecimal(.md5, bytes)
        case .sha256: hexadecimal(.sha256, bytes)
        case .sha512_256: hexadecimal(.sha512_256, bytes)
        }
    }
}
