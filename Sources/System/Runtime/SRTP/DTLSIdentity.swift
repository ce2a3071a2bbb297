import COpenSSL
import Primitives

/// Our identity in the DTLS handshakes of media: a certificate with a P-256 key, made here and known by its hash alone (RFC 5763 §5). Any
/// thread.
public final class DTLSIdentity: Sendable {
    /// The identity of this process: made at its first use, and the same for every call.
    public static let ofThisProcess = DTLSIdentity()

    /// SHA-256 of the certificate.
    public let fingerprint: [UInt8]
    /// Not changed once it is made, and OpenSSL counts the sessions that share it.
    nonisolated(unsafe) let context: OpaquePointer

    /// A new key and a new certificate. They cannot fail on a Debian OpenSSL.
    public init() {
        var certificate: OpaquePointer?
        var key: OpaquePointer?
        defer {
            X509_free(certificate)
            EVP_PKEY_free(key)
        }
        guard copenssl_make_certificate(&certificate, &key) == 1, let certificate, let context = copenssl_media_context(certificate, key)
        else {
            preconditionFailure("OpenSSL makes no certificate")
        }
        self.context = context
        fingerprint = Self.digest(of: certificate, EVP_sha256())
    }

    deinit { SSL_CTX_free(context) }

    static func digest(of certificate: OpaquePointer, _ hash: OpaquePointer?) -> [UInt8] {
        var count: UInt32 = 0
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, filled in
            filled = X509_digest(certificate, hash, buffer.baseAddress, &count) == 1 ? Int(count) : 0
        }
    }
}
