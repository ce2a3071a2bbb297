public import Primitives

/// A TLS session over a TCP connection, on the lane that made it, with the same events: `connected` comes when the handshake is done.
///
/// Bounded as TCP is, and in the time and the bytes of the handshake.
public final class TLSConnection: StreamConnection {
    /// The time that a handshake may take, from the connection's begin or acceptance on.
    public static let handshakeTimeout: Duration = .seconds(10)

    /// The peer's address.
    public let remote: SocketAddress
    /// Our end; no address once it is closed.
    public var local: SocketAddress { tcp?.local ?? SocketAddress(remote.address.family == .v4 ? .anyV4 : .anyV6, port: 0) }

    private var session: TLSSession
    private let limits: TCPConnection.Limits
    private var receive: (TLSConnection, TCPConnection.Event, Instant) -> Void
    private var tcp: TCPConnection?
    /// Said before the handshake was done.
    private var early: [UInt8] = []
    private var handshakeDeadline: Instant?
    private var isFinishing = false
    private var isOver = false

    /// Takes over a connection that a listener accepted.
    public init(
        _ accepted: consuming TCPListener.Accepted, session: consuming TLSSession, limits: TCPConnection.Limits, on lane: any LaneDoor,
        at now: Instant,
        receive: @escaping (TLSConnection, TCPConnection.Event, Instant) -> Void
    ) {
        remote = accepted.remote
        self.session = session
        (self.limits, self.receive) = (limits, receive)
        handshakeDeadline = now + Self.handshakeTimeout
        tcp = TCPConnection(accepted, limits: limits, on: lane, at: now) { [weak self] _, event, now in self?.tcp(did: event, at: now) }
    }

    /// Begins a connection. What is sent before the handshake is done waits, within `limits.unsentBytes`.
    ///
    /// - Throws: as that of TCP.
    public init(
        to remote: SocketAddress, from local: IPAddress?, session: consuming TLSSession, limits: TCPConnection.Limits,
        on lane: any LaneDoor, at now: Instant,
        receive: @escaping (TLSConnection, TCPConnection.Event, Instant) -> Void
    ) throws(SocketError) {
        self.remote = remote
        self.session = session
        (self.limits, self.receive) = (limits, receive)
        handshakeDeadline = now + Self.handshakeTimeout
        tcp = try TCPConnection(to: remote, from: local, limits: limits, on: lane, at: now) { [weak self] _, event, now in
            self?.tcp(did: event, at: now)
        }
    }

    /// Whether the handshake is done, and the peer is who it should be.
    public var isEstablished: Bool { session.isEstablished }

    /// Whether the peer's certificate, which was checked, names this domain, host or address.
    public func proves(_ name: String) -> Bool { session.proves(name) }

    public var unsentCount: Int { early.count + (tcp?.unsentCount ?? 0) }

    /// Encrypts and sends, or keeps it until the handshake is done.
    public func send(_ bytes: [UInt8], at now: Instant) {
        guard !isOver, !isFinishing, !bytes.isEmpty else { return }
        guard unsentCount + bytes.count <= limits.unsentBytes else { return end(.stalled, at: now) }
        guard session.isEstablished else { return early += bytes }
        apply(session.send(bytes), at: now)
    }

    public func finish(at now: Instant) {
        guard !isOver, !isFinishing else { return }
        isFinishing = true
        session.finish()
        flush(at: now)
        tcp?.finish(at: now)
    }

    public func close() {
        isOver = true
        early = []
        tcp?.close()
        tcp = nil
    }

    public func release() -> Bool {
        guard session.isEstablished, !isOver, !isFinishing, tcp?.release() == true else { return false }
        receive = { _, _, _ in }
        return true
    }

    public func adopt(on lane: any LaneDoor, at now: Instant, receive: @escaping (TCPConnection.Event, Instant) -> Void) {
        self.receive = { receive($1, $2) }
        tcp?.adopt(on: lane, at: now) { [weak self] event, now in self?.tcp(did: event, at: now) }
    }

    public var deadline: Instant? {
        guard let due = tcp?.deadline else { return nil }
        return min(due, handshakeDeadline ?? .distantFuture)
    }

    public func advance(to now: Instant) {
        if let handshakeDeadline, handshakeDeadline <= now { return end(.tls(.tooSlow), at: now) }
        tcp?.advance(to: now)
    }

    private func tcp(did event: TCPConnection.Event, at now: Instant) {
        switch event {
        case .connected: apply(session.start(), at: now)
        case .received(let bytes): apply(session.receive(bytes), at: now)
        case .peerHalfClosed:
            if session.isEstablished {
                receive(self, .peerHalfClosed, now)
            } else {
                end(.tls(.broken(reason: "the peer went away")), at: now)
            }
        case .ended(let reason): end(reason, at: now)
        }
    }

    /// Carries out the outputs of the session. Its bytes go out first: an alert tells the peer why.
    private func apply(_ outputs: [TLSSession.Output], at now: Instant) {
        flush(at: now)
        for output in outputs where !isOver {
            switch output {
            case .established: establish(at: now)
            case .received(let bytes): if !isFinishing { receive(self, .received(bytes), now) }
            case .peerHalfClosed:
                receive(self, .peerHalfClosed, now)
                // Its word of farewell is answered with ours, and nothing is sent after that (RFC 5246 §7.2.1).
                finish(at: now)
            case .failed(let error): end(.tls(error), at: now)
            }
        }
    }

    private func establish(at now: Instant) {
        handshakeDeadline = nil
        receive(self, .connected, now)
        let words = early
        early = []
        if !isOver { apply(session.send(words), at: now) }
    }

    private func flush(at now: Instant) {
        let bytes = session.takeOutput()
        if !bytes.isEmpty { tcp?.send(bytes, at: now) }
    }

    private func end(_ reason: TCPConnection.End, at now: Instant) {
        guard !isOver else { return }
        close()
        receive(self, .ended(reason), now)
    }
}
