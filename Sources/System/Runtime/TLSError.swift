/// Why TLS could not be set up, or why a session failed. The description is one sentence for a person.
public enum TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file that is not there or may not be read.
    case unreadable(path: String)
    /// The file has no certificate in PEM.
    case noCertificate(path: String)
    /// The file has no private key in PEM.
    case noKey(path: String)
    /// The key is that of another certificate.
    case keyDoesNotMatch(key: String, certificate: String)
    /// The file has no certificate of an authority.
    case noAuthorities(path: String)
    /// The peer's certificate was not accepted, with OpenSSL's reason: expired, self-signed, unknown authority.
    case untrusted(reason: String)
    /// The peer's certificate is good, and somebody else's.
    case wrongName(expected: String)
    /// The handshake took too long, or too many bytes.
    case tooSlow, tooLong
    /// Garbage, an alert of the peer, no common version or cipher; with OpenSSL's reason.
    case broken(reason: String)

    public var description: String {
        switch self {
        case .unreadable(let path): "'\(path)' cannot be read"
        case .noCertificate(let path): "'\(path)' holds no certificate (PEM)"
        case .noKey(let path): "'\(path)' holds no private key without a password (PEM)"
        case .keyDoesNotMatch(let key, let certificate): "the key '\(key)' does not belong to the certificate '\(certificate)'"
        case .noAuthorities(let path): "'\(path)' holds no certificates of authorities (PEM)"
        case .untrusted(let reason): "the peer's certificate is not trusted: \(reason)"
        case .wrongName(let expected): "the peer's certificate does not name '\(expected)'"
        case .tooSlow: "the handshake took too long"
        case .tooLong: "the handshake took too many bytes"
        case .broken(let reason): "the handshake or the stream is broken: \(reason)"
        }
    }
}
