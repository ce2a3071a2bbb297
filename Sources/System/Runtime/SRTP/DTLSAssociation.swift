import COpenSSL
import Glibc
public import Primitives

/// One DTLS handshake for media, without a socket: datagrams in, datagrams and SRTP keys out (RFC 5764).
///
/// Its retransmissions are timed by OpenSSL's own clock, from 50 ms on, doubling up to 5 s; `retransmissionDelay` says when to come back.
/// Lives on one lane.
public final class DTLSAssociation {
    /// Tasks and news of the association.
    public enum Output: Hashable, Sendable {
        /// To the far end, as one datagram.
        case send([UInt8])
        /// The handshake is done and the far end has the certificate that was signalled. Once.
        case established(send: SRTPKey, receive: SRTPKey)
        /// The last output.
        case failed(DTLSError)
    }

    /// Bytes that the far end may send before the handshake is done.
    public static let handshakeLimit = 65_536

    /// Bytes of one flight: a certificate with a P-256 key has some hundreds.
    private static let flightRoom = 8_192

    private let session: OpaquePointer
    private let box: UnsafeMutablePointer<copenssl_datagrams>
    private let identity: DTLSIdentity
    private let peer: [UInt8]
    private let begins: Bool
    private var received = 0
    /// Whether there are keys.
    public private(set) var isEstablished = false
    /// Whether it failed, or was closed: nothing comes of it any more.
    public private(set) var isOver = false

    /// - Parameter begins: whether we send the ClientHello (`a=setup:active`).
    /// - Parameter fingerprint: SHA-256, SHA-384 or SHA-512 of the certificate that the far end must have, told by its length.
    public init(_ identity: DTLSIdentity, begins: Bool, peer fingerprint: [UInt8]) {
        precondition([32, 48, 64].contains(fingerprint.count), "no hash that certificates are named by")
        guard let session = SSL_new(identity.context), let method = Self.method, let bio = BIO_new(method) else {
            preconditionFailure("out of memory")
        }
        (self.session, self.identity, self.begins) = (session, identity, begins)
        peer = fingerprint
        box = .allocate(capacity: 1)
        let room = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.flightRoom)
        box.initialize(
            to: copenssl_datagrams(input: nil, input_count: 0, output: room, output_count: 0, output_room: Int32(Self.flightRoom)))
        BIO_set_data(bio, box)
        SSL_set_bio(session, bio, bio)
        copenssl_set_mtu(session, 1_200)
        copenssl_set_waits(session)
        if begins { SSL_set_connect_state(session) } else { SSL_set_accept_state(session) }
    }

    deinit {
        SSL_free(session)
        box.pointee.output?.deallocate()
        box.deallocate()
    }

    private nonisolated(unsafe) static let method = copenssl_datagram_method()

    /// Begins, where it is ours to begin.
    public func start() -> [Output] { begins && !isOver ? step() : [] }

    /// Takes a datagram whose first byte is 20 to 63 (RFC 7983 §7). After the handshake only its end and its repetitions mean anything.
    public func receive(_ datagram: UnsafeRawBufferPointer) -> [Output] {
        guard !isOver else { return [] }
        if !isEstablished {
            received += datagram.count
            guard received <= Self.handshakeLimit else { return fail(.tooLong) }
        }
        box.pointee.input = datagram.bindMemory(to: UInt8.self).baseAddress
        box.pointee.input_count = Int32(clamping: datagram.count)
        defer { (box.pointee.input, box.pointee.input_count) = (nil, 0) }
        return step()
    }

    /// The time until a flight is to be sent again; nil when nothing is awaited.
    public var retransmissionDelay: Duration? {
        guard !isOver, !isEstablished else { return nil }
        let left = copenssl_dtls_timeout(session)
        return left < 0 ? nil : .microseconds(left)
    }

    /// Sends again what was not answered in time.
    public func retransmit() -> [Output] {
        guard !isOver, !isEstablished else { return [] }
        ERR_clear_error()
        if copenssl_dtls_retransmit(session) < 0 { return fail(.unanswered) }
        return takeOutput()
    }

    private func step() -> [Output] {
        ERR_clear_error()
        guard !isEstablished else { return read() }
        let status = SSL_do_handshake(session)
        var outputs = takeOutput()
        guard status == 1 else {
            if SSL_get_error(session, status) != SSL_ERROR_WANT_READ { outputs += fail(.broken(reason: Self.reason)) }
            return outputs
        }
        guard isPeerGenuine else { return outputs + fail(.wrongCertificate) }
        guard let (send, receive) = exportKeys() else { return outputs + fail(.noCommonSuite) }
        isEstablished = true
        return outputs + [.established(send: send, receive: receive)]
    }

    /// There is no data here, only repetitions of the last flight, which OpenSSL answers, and the far end's farewell.
    private func read() -> [Output] {
        var nothing: UInt8 = 0
        _ = SSL_read(session, &nothing, 1)
        return takeOutput()
    }

    private var isPeerGenuine: Bool {
        guard let certificate = SSL_get1_peer_certificate(session) else { return false }
        defer { X509_free(certificate) }
        let hash = peer.count == 32 ? EVP_sha256() : peer.count == 48 ? EVP_sha384() : EVP_sha512()
        return DTLSIdentity.digest(of: certificate, hash) == peer
    }

    /// Keys of the client and of the server, then their salts (RFC 5764 §4.2).
    private func exportKeys() -> (send: SRTPKey, receive: SRTPKey)? {
        let suites: [UInt: SRTPSuite] = [1: .aes128CMSHA1_80, 2: .aes128CMSHA1_32, 7: .aes128GCM, 8: .aes256GCM]
        guard let suite = suites[copenssl_srtp_profile(session)] else { return nil }
        let (key, salt, label) = (suite.keyCount, suite.saltCount, Array("EXTRACTOR-dtls_srtp".utf8CString))
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * (key + salt)) { material in
            guard let start = material.baseAddress else { return nil }
            defer { explicit_bzero(start, material.count) }
            guard SSL_export_keying_material(session, start, material.count, label, label.count - 1, nil, 0, 0) == 1 else { return nil }
            func half(_ number: Int) -> SRTPKey? {
                var bytes =
                    Array(material[(number * key)..<((number + 1) * key)])
                    + material[(2 * key + number * salt)..<(2 * key + (number + 1) * salt)]
                defer { bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
                return SRTPKey(suite, bytes)
            }
            guard let client = half(0), let server = half(1) else { return nil }
            return begins ? (send: client, receive: server) : (send: server, receive: client)
        }
    }

    private func takeOutput() -> [Output] {
        var outputs: [Output] = []
        let bytes = UnsafeBufferPointer(start: box.pointee.output, count: Int(box.pointee.output_count))
        var offset = 0
        while offset + 2 <= bytes.count {
            let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
            outputs.append(.send(Array(bytes[(offset + 2)..<(offset + 2 + length)])))
            offset += 2 + length
        }
        box.pointee.output_count = 0
        return outputs
    }

    private func fail(_ error: DTLSError) -> [Output] {
        isOver = true
        return [.failed(error)]
    }

    private static var reason: String { ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "the peer went away" }
}

/// Why a handshake for media failed.
public enum DTLSError: Error, Hashable, Sendable {
    /// The far end showed another certificate than its description names, or none.
    case wrongCertificate
    /// It does not use the handshake for SRTP, or has no suite in common with us.
    case noCommonSuite
    /// It sent more than a handshake has.
    case tooLong
    /// It did not answer, however often it was asked.
    case unanswered
    /// With OpenSSL's reason.
    case broken(reason: String)
}
