import COpenSSL
import Glibc

/// The certificates that we show, and those that we believe. Paths of PEM files.
public struct TLSSettings: Hashable, Sendable {
    /// A certificate with the chain above it, and its key.
    public struct Identity: Hashable, Sendable {
        /// The path of a PEM file: the certificate, and behind it those up to an authority.
        public var certificate: String
        /// The path of a PEM file with its private key.
        public var key: String

        /// Paths of PEM files; nothing is read yet.
        public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// The certificates that we show: to those who connect, the one that has the name that they ask for, else the first; the first also to
    /// servers that ask.
    public var identities: [Identity] = []
    /// The authorities of clients: those who connect must show a certificate of one of them; nil asks for none.
    public var clientAuthorities: String?
    /// The authorities whose certificates are believed of servers that we connect to; nil: those that the system trusts.
    public var serverAuthorities: String?

    /// No certificate of ours; servers are believed by the authorities of the system.
    public init() {}
}

/// The rule by which the name that a certificate must have is looked for in it.
public enum TLSNaming: Sendable {
    /// RFC 5922 §7.2: the domain itself, and no wildcards.
    case sip
    /// RFC 9110 §4.3.4: wildcards for one label, and addresses.
    case web

    func accepts(_ certificate: OpaquePointer, for peer: String) -> Bool {
        switch self {
        case .sip: copenssl_names_sip_domain(certificate, peer) == 1
        case .web: X509_check_host(certificate, peer, 0, 0, nil) == 1 || X509_check_ip_asc(certificate, peer, 0) == 1
        }
    }
}

/// The two sides of TLS with one set of settings: 1.2 and 1.3, no renegotiation, certificates checked (RFC 3261 §26.3, RFC 5922).
///
/// Any thread. Sessions keep what they were made with, so that another pair can take its place while calls are up.
public final class TLSContexts: Sendable {
    /// Empty without an identity; the first one is the one that sessions are made of.
    private let servers: [TLSContext]
    private let client: TLSContext
    /// The contexts that the callback that chooses by name reads: every session keeps us, and so it.
    private nonisolated(unsafe) let choices: UnsafeMutablePointer<OpaquePointer?>

    /// Reads the files. The error names the one that is wrong.
    public init(_ settings: TLSSettings) throws(TLSError) {
        var servers: [TLSContext] = []
        for identity in settings.identities {
            let server = TLSContext(isServer: true)
            try server.use(identity)
            if let path = settings.clientAuthorities { try server.demandCertificates(ofAuthoritiesIn: path) }
            servers.append(server)
        }
        client = TLSContext(isServer: false)
        if let identity = settings.identities.first { try client.use(identity) }
        try client.believe(settings.serverAuthorities)
        self.servers = servers
        choices = .allocate(capacity: servers.count + 1)
        for (index, server) in servers.enumerated() { choices[index] = server.raw }
        choices[servers.count] = nil
        for server in servers { copenssl_choose_by_name(server.raw, choices) }
    }

    deinit { choices.deallocate() }

    /// Whether connections can be accepted.
    public var canServe: Bool { !servers.isEmpty }

    /// The session of a connection that was accepted.
    /// - Precondition: `canServe`.
    public func accept() -> TLSSession { TLSSession(servers[0], of: self, peer: nil) }

    /// The session of a connection of ours.
    /// - Parameter peer: the SIP domain, host name or address that the server's certificate must name.
    public func connect(to peer: String, naming: TLSNaming = .sip) -> TLSSession {
        TLSSession(client, of: self, peer: peer, naming: naming)
    }
}

/// Owns an `SSL_CTX`.
final class TLSContext: Sendable {
    /// Not changed once `TLSContexts` is made, and OpenSSL counts the sessions that share it.
    nonisolated(unsafe) let raw: OpaquePointer

    init(isServer: Bool) {
        guard let raw = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else { preconditionFailure("OpenSSL has no TLS") }
        self.raw = raw
        _ = copenssl_set_minimum_version(raw, TLS1_2_VERSION)
        copenssl_release_buffers(raw)
        copenssl_refuse_renegotiation(raw)
        let context = Array("sip".utf8)
        SSL_CTX_set_session_id_context(raw, context, UInt32(context.count))
        // Nobody is there to type a password.
        SSL_CTX_set_default_passwd_cb(raw) { _, _, _, _ in 0 }
    }

    deinit { SSL_CTX_free(raw) }

    func use(_ identity: TLSSettings.Identity) throws(TLSError) {
        try Self.demandReadable(identity.certificate)
        try Self.demandReadable(identity.key)
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(raw, identity.certificate) == 1 else { throw .noCertificate(path: identity.certificate) }
        ERR_clear_error()
        if SSL_CTX_use_PrivateKey_file(raw, identity.key, SSL_FILETYPE_PEM) != 1 {
            let isMismatch = [X509_R_KEY_VALUES_MISMATCH, X509_R_KEY_TYPE_MISMATCH].contains(copenssl_last_reason())
            throw isMismatch ? .keyDoesNotMatch(key: identity.key, certificate: identity.certificate) : .noKey(path: identity.key)
        }
        guard SSL_CTX_check_private_key(raw) == 1 else { throw .keyDoesNotMatch(key: identity.key, certificate: identity.certificate) }
    }

    func demandCertificates(ofAuthoritiesIn path: String) throws(TLSError) {
        try loadAuthorities(path)
        SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(path))
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    func believe(_ path: String?) throws(TLSError) {
        if let path { try loadAuthorities(path) } else { SSL_CTX_set_default_verify_paths(raw) }
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
    }

    private func loadAuthorities(_ path: String) throws(TLSError) {
        try Self.demandReadable(path)
        guard SSL_CTX_load_verify_locations(raw, path, nil) == 1 else { throw .noAuthorities(path: path) }
    }

    private static func demandReadable(_ path: String) throws(TLSError) {
        guard access(path, R_OK) == 0 else { throw .unreadable(path: path) }
    }
}
