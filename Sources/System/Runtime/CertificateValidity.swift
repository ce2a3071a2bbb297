import COpenSSL

/// From when to when a certificate counts, seen from now by the clock of the system.
public struct CertificateValidity: Hashable, Sendable {
    /// Seconds until it counts; negative: since it did.
    public let start: Int
    /// Seconds until it counts no more; negative: since it ended.
    public let end: Int

    /// The first certificate of a PEM file; nil where there is none.
    public init?(certificateIn path: String) {
        guard let file = BIO_new_file(path, "r") else { return nil }
        defer { BIO_free(file) }
        guard let certificate = PEM_read_bio_X509(file, nil, nil, nil) else { return nil }
        defer { X509_free(certificate) }
        guard let start = Self.seconds(to: X509_get0_notBefore(certificate)), let end = Self.seconds(to: X509_get0_notAfter(certificate))
        else { return nil }
        (self.start, self.end) = (start, end)
    }

    private static func seconds(to time: UnsafePointer<ASN1_TIME>?) -> Int? {
        var days: Int32 = 0, seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, nil, time) == 1 else { return nil }
        return Int(days) * 86_400 + Int(seconds)
    }
}
