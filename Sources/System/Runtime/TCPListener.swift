import CLinux
import Dispatch
import Glibc
public import Primitives

/// A listening TCP socket on the lane that made it.
public final class TCPListener: LaneSocket {
    /// A connection that was accepted and belongs to nobody yet; let go, it closes.
    public struct Accepted: ~Copyable {
        /// The socket.
        public let descriptor: FileDescriptorOwner
        /// The peer's address.
        public let remote: SocketAddress
        /// The address that the peer called: never the wildcard.
        public let local: SocketAddress

        consuming func release() -> FileDescriptorOwner { descriptor }
    }

    /// Connections that one wake-up takes before other work of the lane has its turn.
    public static let connectionsPerTurn = 32

    /// The address that it listens on, with the port that the kernel chose.
    public let localAddress: SocketAddress
    /// Times that the process had no descriptor left for a connection; accepting then pauses for `pauseWhenFull`.
    public private(set) var timesFull = 0
    /// The time that accepting rests when the process has no descriptor left.
    public static let pauseWhenFull: Duration = .milliseconds(100)

    /// Nil when closed.
    private var descriptor: FileDescriptorOwner?
    private let sockets: LaneSockets
    private var token: SocketToken?
    private let accept: (consuming Accepted, Instant) -> Void
    /// The path of a socket in the file system.
    private let path: String?

    /// Binds, listens and starts to accept. Call it on the lane.
    ///
    /// - Parameter accept: called on the lane, once for each connection; it may `close` the listener.
    public init(
        bound address: SocketAddress, on lane: any LaneDoor, backlog: Int = 511, accept: @escaping (consuming Accepted, Instant) -> Void
    ) throws(SocketError) {
        let owner = try FileDescriptorOwner.tcp(listening: address, backlog: Int32(clamping: backlog))
        localAddress = owner.localAddress ?? address
        path = nil
        let raw = owner.raw
        descriptor = consume owner
        (sockets, self.accept) = (lane.sockets, accept)
        do throws(PollerError) { token = try sockets.watch(raw, self) } catch {
            throw .failed(operation: "watch", .tcp, localAddress, code: error.code)
        }
    }

    /// Listens on a socket in the file system (unix(7)), which this user alone may open. One that was left behind there is replaced; the
    /// caller knows that nobody uses it. Connections have the loopback address, port 0, at both ends.
    public init(path: String, on lane: any LaneDoor, backlog: Int = 128, accept: @escaping (consuming Accepted, Instant) -> Void)
        throws(SocketError)
    {
        let owner = try FileDescriptorOwner.local(listening: path, backlog: Int32(clamping: backlog))
        localAddress = Self.nowhere
        self.path = path
        let raw = owner.raw
        descriptor = consume owner
        (sockets, self.accept) = (lane.sockets, accept)
        do throws(PollerError) { token = try sockets.watch(raw, self) } catch {
            throw .failedPath(operation: "watch", path, code: error.code)
        }
    }

    /// The address of both ends of a connection in the file system.
    static let nowhere = SocketAddress(.loopback, port: 0)

    private var raw: Int32? { descriptor?.raw }

    /// Stops listening; connections that were accepted live on.
    public func close() {
        if let raw, let token { sockets.forget(raw, token) }
        if descriptor != nil, let path { unlink(path) }
        descriptor = nil
    }

    deinit { close() }

    func ready(_ events: Poller.Events, at now: Instant) { drain(at: now) }

    private func drain(at now: Instant) {
        for _ in 0..<Self.connectionsPerTurn {
            guard let raw else { return }
            var storage = sockaddr_storage()
            let accepted = clinux_accept(raw, &storage)
            guard accepted >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            let owner = FileDescriptorOwner(accepted)
            if path != nil {
                accept(Accepted(descriptor: owner, remote: Self.nowhere, local: Self.nowhere), now)
                continue
            }
            guard let remote = SocketAddress(storage), let local = owner.localAddress else { continue }
            accept(Accepted(descriptor: owner, remote: remote, local: local), now)
        }
    }

    /// The backlog keeps the socket readable, and without a pause the lane would do nothing but fail to accept.
    private func pause() {
        timesFull += 1
        want([])
        let confined = Confined(self, to: sockets.queue)
        sockets.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.pauseWhenFull.wholeNanoseconds))) {
            confined.open()?.want(.readable)
        }
    }

    private func want(_ events: Poller.Events) {
        guard let raw, let token else { return }
        try? sockets.change(raw, token, to: events)
    }
}
