import COpenSSL
import Primitives

/// One TLS session without a socket: what came from the wire in, what is to go there out.
///
/// Owns an `SSL` and its two memory buffers. One thread at a time.
public struct TLSSession: ~Copyable {
    /// Tasks and news of the session.
    public enum Output: Hashable, Sendable {
        /// The handshake is done and the peer is who it should be. Once, before everything else.
        case established
        /// Bytes from the peer. Never empty.
        case received([UInt8])
        /// The peer will say nothing more.
        case peerHalfClosed
        /// The last output.
        case failed(TLSError)
    }

    /// Bytes that a peer may send before the handshake is done: room for long chains, not for a flood.
    public static let handshakeLimit = 65_536

    private let raw: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let peer: String?
    private let naming: TLSNaming
    /// The contexts that ours was chosen from; they may be asked again while the handshake lasts.
    private let contexts: TLSContexts
    private var handshakeBytes = 0
    /// Whether the handshake is done, and the peer is who it should be.
    public private(set) var isEstablished = false
    private var isOver = false

    init(_ context: TLSContext, of contexts: TLSContexts, peer: String?, naming: TLSNaming = .sip) {
        guard let raw = SSL_new(context.raw), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            preconditionFailure("out of memory")
        }
        // The dot of a whole name is neither asked for nor certified (RFC 6066 §3).
        let peer = peer.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        (self.raw, self.input, self.output, self.peer, self.naming, self.contexts) = (raw, input, output, peer, naming, contexts)
        SSL_set_bio(raw, input, output)
        guard let peer else {
            SSL_set_accept_state(raw)
            return
        }
        SSL_set_connect_state(raw)
        // An address is no name to ask for (RFC 6066 §3).
        if IPAddress(peer) == nil { _ = copenssl_set_server_name(raw, peer) }
    }

    deinit { SSL_free(raw) }

    /// The client's first words; nothing for a server.
    public mutating func start() -> [Output] { step() }

    /// Takes what came from the wire.
    public mutating func receive(_ bytes: [UInt8]) -> [Output] {
        guard !isOver else { return [] }
        if !isEstablished {
            handshakeBytes += bytes.count
            guard handshakeBytes <= Self.handshakeLimit else { return fail(.tooLong) }
        }
        BIO_write(input, bytes, Int32(clamping: bytes.count))
        return step()
    }

    /// Encrypts; before `established` and after the end nothing is. What is to go to the wire is in `takeOutput`.
    public mutating func send(_ bytes: [UInt8]) -> [Output] {
        guard isEstablished, !isOver, !bytes.isEmpty else { return [] }
        ERR_clear_error()
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { SSL_write(raw, $0.baseAddress! + sent, Int32(clamping: bytes.count - sent)) }
            guard count > 0 else { return fail(.broken(reason: Self.reason)) }
            sent += Int(count)
        }
        return []
    }

    /// Says that nothing more comes from us.
    public mutating func finish() {
        guard isEstablished, !isOver else { return }
        ERR_clear_error()
        SSL_shutdown(raw)
    }

    /// Takes the bytes that are to go to the wire; to be asked after every other call.
    public mutating func takeOutput() -> [UInt8] {
        let count = copenssl_pending_output(output)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
            filled = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(clamping: buffer.count))))
        }
    }

    private mutating func step() -> [Output] {
        var outputs: [Output] = []
        if !isEstablished {
            guard shakeHands(&outputs) else { return outputs }
            isEstablished = true
            outputs.append(.established)
        }
        read(into: &outputs)
        return outputs
    }

    private mutating func shakeHands(_ outputs: inout [Output]) -> Bool {
        ERR_clear_error()
        let status = SSL_do_handshake(raw)
        guard status == 1 else {
            if SSL_get_error(raw, status) != SSL_ERROR_WANT_READ { outputs += fail(handshakeError()) }
            return false
        }
        guard let peer else { return true }
        guard let certificate = SSL_get1_peer_certificate(raw) else {
            outputs += fail(.untrusted(reason: "there is none"))
            return false
        }
        let isNamed = naming.accepts(certificate, for: peer)
        X509_free(certificate)
        if !isNamed { outputs += fail(.wrongName(expected: peer)) }
        return isNamed
    }

    /// Whether the peer has shown a certificate of an authority that we believe, with this SIP domain, host name or address in it.
    public func proves(_ name: String) -> Bool {
        guard isEstablished, SSL_get_verify_result(raw) == X509_V_OK, let certificate = SSL_get1_peer_certificate(raw) else { return false }
        defer { X509_free(certificate) }
        return TLSNaming.sip.accepts(certificate, for: name)
    }

    private mutating func read(into outputs: inout [Output]) {
        while !isOver {
            ERR_clear_error()
            var status: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, filled in
                status = SSL_read(raw, buffer.baseAddress, Int32(buffer.count))
                filled = Int(max(status, 0))
            }
            guard status <= 0 else {
                outputs.append(.received(bytes))
                continue
            }
            switch SSL_get_error(raw, status) {
            case SSL_ERROR_WANT_READ: return
            case SSL_ERROR_ZERO_RETURN:
                isOver = true
                SSL_shutdown(raw)
                outputs.append(.peerHalfClosed)
            default: outputs += fail(.broken(reason: Self.reason))
            }
        }
    }

    private mutating func fail(_ error: TLSError) -> [Output] {
        isOver = true
        return [.failed(error)]
    }

    private func handshakeError() -> TLSError {
        let verdict = SSL_get_verify_result(raw)
        guard verdict == X509_V_OK else { return .untrusted(reason: String(cString: X509_verify_cert_error_string(verdict))) }
        return .broken(reason: Self.reason)
    }

    /// OpenSSL's reason for what failed last on this thread.
    private static var reason: String { ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "the peer went away" }
}
