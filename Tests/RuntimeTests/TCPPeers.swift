import Glibc
import Primitives
import Runtime
import Testing

/// A listener, a client of it and the connection that it accepts, all on one lane.
struct Pair {
    let lane: Lane<Bench>
    let address: SocketAddress
    let client = Inbox(of: TCPConnection.Event.self)
    let server = Inbox(of: TCPConnection.Event.self)

    /// - Parameter acceptsRaw: leaves the client to the test.
    init(
        on lane: Lane<Bench>, _ bind: SocketAddress = anyLoopbackPort, limits: TCPConnection.Limits = .init(), firstWords: [UInt8] = [],
        acceptsRaw: Bool = false
    ) throws(SocketError) {
        self.lane = lane
        let (client, server) = (client, server)
        address = try lane.sync { [lane] bench, now throws(SocketError) in
            let listener = try TCPListener(bound: bind, on: lane) { [unowned bench] accepted, now in
                bench.held["server"] = TCPConnection(accepted, limits: limits, on: lane, at: now) { _, event, _ in server.put.yield(event) }
            }
            bench.held["listener"] = listener
            guard !acceptsRaw else { return listener.localAddress }
            let caller = try TCPConnection(to: listener.localAddress, limits: limits, on: lane, at: now) { _, event, _ in
                client.put.yield(event)
            }
            caller.send(firstWords, at: now)
            bench.held["client"] = caller
            return listener.localAddress
        }!
    }

    func send(_ end: String, _ bytes: [UInt8]) {
        lane.sync { bench, now in bench.get(end, as: TCPConnection.self).send(bytes, at: now) }
    }
}

extension Inbox<TCPConnection.Event> {
    /// The next `count` bytes at least; connects are passed over, an end ends it.
    func bytes(_ count: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let event = await next(), event.end == nil, !event.isPeerFinished { bytes += event.bytes ?? [] }
        return bytes
    }
}

extension TCPConnection.Event {
    var isConnected: Bool { if case .connected = self { true } else { false } }
    var isPeerFinished: Bool { if case .peerHalfClosed = self { true } else { false } }
    var bytes: [UInt8]? { if case .received(let bytes) = self { bytes } else { nil } }
    var end: TCPConnection.End? { if case .ended(let end) = self { end } else { nil } }
}

/// Listens and accepts nobody: the kernel takes connections for it, and no one reads. Closed, its port is one where nobody listens.
final class SilentPeer: Sendable {
    let address: SocketAddress
    private let descriptor: FileDescriptorOwner

    init(backlog: Int32 = 8) throws {
        descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let raw = descriptor.raw
        try #require(anyLoopbackPort.withSockaddr { bind(raw, $0, $1) } == 0)
        try #require(listen(raw, backlog) == 0)
        let local = descriptor.localAddress
        address = try #require(local)
    }
}

/// A blocking client on the test's own thread.
final class RawClient: Sendable {
    private let descriptor: FileDescriptorOwner
    private let began: Bool

    init(to remote: SocketAddress) throws {
        descriptor = FileDescriptorOwner(socket(remote.address.family.domain, Int32(SOCK_STREAM.rawValue), 0))
        let raw = descriptor.raw
        began = remote.withSockaddr { connect(raw, $0, $1) } == 0
        try #require(began)
    }

    /// Begins to connect and does not wait.
    init(beginning remote: SocketAddress) {
        descriptor = FileDescriptorOwner(socket(remote.address.family.domain, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK, 0))
        let raw = descriptor.raw
        let status = remote.withSockaddr { connect(raw, $0, $1) }
        began = status == 0 || errno == EINPROGRESS
    }

    func write(_ bytes: [UInt8]) { #expect(send(descriptor.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count) }

    /// Waits for `count` bytes; fewer when the peer finished.
    func read(_ count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(descriptor.raw, &buffer, count, Int32(MSG_WAITALL))
        return Array(buffer[..<max(got, 0)])
    }

    func shutdownWriting() { shutdown(descriptor.raw, Int32(SHUT_WR)) }

    /// Closes so that the peer sees a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        // Connecting to nowhere (AF_UNSPEC) resets, and leaves the number to its owner.
        var nowhere = sockaddr()
        connect(descriptor.raw, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Whether somebody takes the connection that was begun; waits for the answer.
    var connects: Bool {
        var poll = pollfd(fd: descriptor.raw, events: Int16(POLLOUT), revents: 0)
        return began && Glibc.poll(&poll, 1, 1_000) == 1 && poll.revents & Int16(POLLERR | POLLHUP) == 0
    }
}
