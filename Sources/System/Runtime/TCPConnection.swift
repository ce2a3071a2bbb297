import CLinux
import Glibc
public import Primitives

/// One TCP connection on the lane that made it: bytes in, bytes out, bounded in memory and in patience.
///
/// It keeps no timer: its owner calls `advance(to:)` when `deadline` has come.
public final class TCPConnection: LaneSocket {
    /// Bounds of the time that a peer may take, and of the bytes that may wait for it.
    public struct Limits: Hashable, Sendable {
        /// The time that a connection may take to stand.
        public var connectTimeout: Duration = .seconds(5)
        /// The time for which nothing may arrive and nothing leave. A call can be silent for long, and to a peer behind a NAT the
        /// connection is the only way.
        public var idleTimeout: Duration = .seconds(3_600)
        /// The time that bytes may wait for a peer that does not read.
        public var writeTimeout: Duration = .seconds(30)
        /// Bytes that may wait for the peer to read; one more closes the connection.
        public var unsentBytes = 1 << 20
        /// Bytes that the kernel keeps for the peer before they wait with us; nil: as many as it finds useful, which may be megabytes.
        public var kernelBytes: Int?
        /// The time that the connection stays after we have said our last word.
        public var lingerTimeout: Duration = .seconds(5)

        /// The bounds that a server of SIP needs.
        public init() {}
    }

    /// Why a connection is over.
    public enum End: Hashable, Sendable {
        /// It never stood: refused, unreachable, timed out (`ETIMEDOUT`).
        case connectFailed(code: Int32)
        /// We sent our last byte, and the peer has finished too or had its time to.
        case finished
        /// Nothing came and nothing left for the time of the limits.
        case idle
        /// The peer does not read: too many bytes wait for it, or too long.
        case stalled
        /// The connection broke (`errno`).
        case broken(code: Int32)
        /// Its TLS session could not be established, or broke.
        case tls(TLSError)
    }

    /// Events of a connection, in the order of the stream.
    public enum Event: Sendable {
        /// A connection of ours stands.
        case connected
        /// Never empty.
        case received([UInt8])
        /// The peer sent its last byte: it has closed the connection, or this half of it. What is sent now still leaves; `finish` ends the
        /// other half.
        case peerHalfClosed
        /// The last event of a connection. Not told for a `close()` of ours.
        case ended(End)
    }

    /// Bytes that one read takes at most.
    public static let readLength = 16_384
    /// Reads of one wake-up, of `readLength` bytes at most each, before other work of the lane has its turn.
    public static let readsPerTurn = 4

    /// The peer's address.
    public let remote: SocketAddress
    /// The kernel chose it for a connection of ours, so it is known once the connection has begun.
    public let local: SocketAddress
    /// As they were given.
    public let limits: Limits

    private enum State {
        /// `connect` has begun. Next: `open`, or closed.
        case connecting(since: Instant)
        /// Next: `peerHalfClosed`, `finishing`, or closed.
        case open
        /// We send nothing more, and what comes is thrown away. Next: closed.
        case finishing(since: Instant)
        /// The peer will send nothing more. Next: `finishing`, or closed.
        case peerHalfClosed
        /// Absorbing.
        case closed
    }

    private var state: State
    private var lastActivity: Instant
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var unsentSince: Instant?
    /// Nil when closed.
    private var descriptor: FileDescriptorOwner?
    private var sockets: LaneSockets
    private var token: SocketToken?
    /// The events that the poller is to report. A reset and an end in both directions are reported always.
    private var wanted: Poller.Events
    private var receive: (TCPConnection, Event, Instant) -> Void

    /// Takes over a connection that a listener accepted.
    public convenience init(
        _ accepted: consuming TCPListener.Accepted, limits: Limits = Limits(), on lane: any LaneDoor, at now: Instant,
        receive: @escaping (TCPConnection, Event, Instant) -> Void
    ) {
        let (remote, local) = (accepted.remote, accepted.local)
        self.init(accepted.release(), remote: remote, local: local, state: .open, limits: limits, lane: lane, at: now, receive: receive)
        // Refused the place in the poller's set, it ends at its first deadline as one that nothing is heard of.
        try? watch()
    }

    /// Begins a connection. What is sent before it stands waits, within `limits.unsentBytes`.
    ///
    /// - Parameter local: the address to call from; nil lets the kernel choose.
    /// - Throws: what the kernel knows at once (no route, no such local address). The rest comes as `.ended(.connectFailed)`.
    public convenience init(
        to remote: SocketAddress, from local: IPAddress? = nil, limits: Limits = Limits(), on lane: any LaneDoor, at now: Instant,
        receive: @escaping (TCPConnection, Event, Instant) -> Void
    ) throws(SocketError) {
        let owner = try FileDescriptorOwner.tcp(connecting: remote, from: local)
        let address = owner.localAddress ?? SocketAddress(remote.address.family == .v4 ? .anyV4 : .anyV6, port: 0)
        self.init(
            owner, remote: remote, local: address, state: .connecting(since: now), limits: limits, lane: lane, at: now, receive: receive)
        do throws(PollerError) { try watch() } catch { throw .failed(operation: "watch", .tcp, remote, code: error.code) }
    }

    /// Connects to a socket in the file system (unix(7)). It stands at once; both ends have the loopback address, port 0.
    public convenience init(
        path: String, limits: Limits = Limits(), on lane: any LaneDoor, at now: Instant,
        receive: @escaping (TCPConnection, Event, Instant) -> Void
    ) throws(SocketError) {
        let owner = try FileDescriptorOwner.local(connecting: path, isBlocking: false), nowhere = TCPListener.nowhere
        self.init(owner, remote: nowhere, local: nowhere, state: .open, limits: limits, lane: lane, at: now, receive: receive)
        do throws(PollerError) { try watch() } catch { throw .failedPath(operation: "watch", path, code: error.code) }
    }

    private init(
        _ owner: consuming FileDescriptorOwner, remote: SocketAddress, local: SocketAddress, state: State, limits: Limits,
        lane: any LaneDoor,
        at now: Instant, receive: @escaping (TCPConnection, Event, Instant) -> Void
    ) {
        // Messages are written whole; Nagle would hold back the second of two until the peer has acknowledged the first.
        _ = clinux_set_no_delay(owner.raw, 1)
        if let bytes = limits.kernelBytes { _ = clinux_set_send_buffer(owner.raw, Int32(clamping: bytes)) }
        descriptor = consume owner
        (self.remote, self.local, self.state, self.limits, self.receive) = (remote, local, state, limits, receive)
        sockets = lane.sockets
        if case .connecting = state { wanted = .writable } else { wanted = .readable }
        lastActivity = now
    }

    deinit { close() }

    /// Whether it is over: nothing is sent and nothing comes.
    public var isClosed: Bool { if case .closed = state { true } else { false } }

    private var isFinishing: Bool { if case .finishing = state { true } else { false } }
    private var isReading: Bool { if case .open = state { true } else { isFinishing } }

    /// Bytes that wait to be sent.
    public var unsentCount: Int { unsent.count - unsentStart }

    /// Sends, or keeps what the peer does not take yet. Failures come as `.ended`, possibly before this returns. Nothing after `finish` and
    /// the end.
    public func send(_ bytes: [UInt8], at now: Instant) {
        guard !isClosed, !isFinishing, !bytes.isEmpty else { return }
        guard unsentCount + bytes.count <= limits.unsentBytes else { return end(.stalled, at: now) }
        if unsentCount == 0 {
            unsent = bytes
            unsentStart = 0
        } else {
            unsent += bytes
        }
        if case .connecting = state { return }
        flush(at: now)
    }

    /// Sends what waits and then the end of the stream. What the peer still sends is thrown away, because closing over it would reset the
    /// connection and could take our last words with it. `.ended` follows when the peer has finished too, possibly before this returns, or
    /// after `lingerTimeout`.
    public func finish(at now: Instant) {
        switch state {
        case .open, .peerHalfClosed:
            state = .finishing(since: now)
            flush(at: now)
        case .finishing, .closed: break
        case .connecting: end(.finished, at: now)
        }
    }

    /// Closes without a word; bytes that wait are lost. No event follows.
    public func close() {
        state = .closed
        unsent = []
        unsentStart = 0
        if let raw, let token { sockets.forget(raw, token) }
        descriptor = nil
    }

    public func release() -> Bool {
        guard case .open = state, let raw, let released = token else { return false }
        sockets.forget(raw, released)
        token = nil
        receive = { _, _, _ in }
        return true
    }

    public func adopt(on lane: any LaneDoor, at now: Instant, receive: @escaping (Event, Instant) -> Void) {
        guard token == nil, !isClosed else { return }
        (sockets, lastActivity) = (lane.sockets, now)
        self.receive = { receive($1, $2) }
        // Refused the place in the poller's set, it ends at its first deadline as one that nothing is heard of.
        try? watch()
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? {
        let stall = unsentSince.map { $0 + limits.writeTimeout } ?? .distantFuture
        switch state {
        case .connecting(let since): return since + limits.connectTimeout
        case .open, .peerHalfClosed: return min(lastActivity + limits.idleTimeout, stall)
        case .finishing(let since): return since + limits.lingerTimeout
        case .closed: return nil
        }
    }

    /// Ends the connection when its patience has run out.
    public func advance(to now: Instant) {
        guard let deadline, deadline <= now else { return }
        switch state {
        case .connecting: end(.connectFailed(code: ETIMEDOUT), at: now)
        case .open, .peerHalfClosed: end(unsentSince == nil ? .idle : .stalled, at: now)
        case .finishing: end(.finished, at: now)
        case .closed: break
        }
    }
}

// Events of the kernel.
extension TCPConnection {
    private var raw: Int32? { descriptor?.raw }

    private func watch() throws(PollerError) {
        guard let raw else { return }
        token = try sockets.watch(raw, for: wanted, self)
    }

    private func want(_ events: Poller.Events) {
        guard events != wanted, let raw, let token else { return }
        wanted = events
        try? sockets.change(raw, token, to: events)
    }

    func ready(_ events: Poller.Events, at now: Instant) {
        if case .connecting = state { return connected(at: now) }
        guard events.isDisjoint(with: [.hungUp, .failed]) else { return isReading ? drain(at: now) : lost(at: now) }
        if events.contains(.readable) { drain(at: now) }
        if events.contains(.writable) { flush(at: now) }
    }

    private func connected(at now: Instant) {
        guard let raw else { return }
        let code = clinux_pending_error(raw)
        guard code == 0 else { return end(.connectFailed(code: code), at: now) }
        state = .open
        lastActivity = now
        want(.readable)
        receive(self, .connected, now)
        flush(at: now)
    }

    /// Reset, or ended in both directions, while nothing is read any more: what waits for the peer is lost.
    private func lost(at now: Instant) {
        guard let raw, !isFinishing else { return end(.finished, at: now) }
        let code = clinux_pending_error(raw)
        end(.broken(code: code == 0 ? EPIPE : code), at: now)
    }

    private func flush(at now: Instant) {
        while let raw, unsentCount > 0 {
            let count = unsent.withUnsafeBytes { Glibc.send(raw, $0.baseAddress! + unsentStart, unsentCount, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                unsentStart += count
                lastActivity = now
                unsentSince = nil
            } else if errno == EAGAIN {
                unsentSince = unsentSince ?? now
                compact()
                return want(wanted.union(.writable))
            } else if errno != EINTR {
                return end(.broken(code: errno), at: now)
            }
        }
        unsent = []
        unsentStart = 0
        unsentSince = nil
        want(wanted.subtracting(.writable))
        guard isFinishing, let raw else { return }
        // A peer that is not read any more has finished before us.
        if wanted.contains(.readable) { shutdown(raw, Int32(SHUT_WR)) } else { end(.finished, at: now) }
    }

    /// Without this a peer that reads slowly but for ever would let the buffer grow for ever.
    private func compact() {
        guard unsentStart > unsentCount else { return }
        unsent.removeFirst(unsentStart)
        unsentStart = 0
    }

    private func drain(at now: Instant) {
        for _ in 0..<Self.readsPerTurn {
            guard let raw, isReading else { return }
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.readLength) { buffer, filled in
                let count = recv(raw, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                failure = count < 0 ? errno : 0
                filled = max(count, 0)
            }
            switch (failure, bytes.count) {
            case (EAGAIN, _), (EINTR, _): return
            case (0, 0): return peerHalfClosed(at: now)
            case (0, let count):
                lastActivity = now
                if !isFinishing { receive(self, .received(bytes), now) }
                if count < Self.readLength { return }
            default: return end(.broken(code: failure), at: now)
            }
        }
    }

    private func peerHalfClosed(at now: Instant) {
        guard !isFinishing else { return end(.finished, at: now) }
        state = .peerHalfClosed
        want(wanted.subtracting(.readable))
        receive(self, .peerHalfClosed, now)
    }

    private func end(_ reason: End, at now: Instant) {
        close()
        receive(self, .ended(reason), now)
    }
}
