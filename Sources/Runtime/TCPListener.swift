import CLinux
import Dispatch
import Glibc
public import Primitives

/// A listening TCP socket on the lane that made it.
public final class TCPListener {
    /// A connection that was accepted and belongs to nobody yet; let go, it closes.
    public struct Accepted: ~Copyable {
        public let descriptor: FileDescriptorOwner
        public let remote: SocketAddress
        /// The address that the peer called: never the wildcard.
        public let local: SocketAddress

        consuming func release() -> FileDescriptorOwner { descriptor }
    }

    /// How many connections one wake-up takes before other work of the lane has its turn.
    public static let connectionsPerTurn = 32

    /// Where it listens, with the port that the kernel chose.
    public let localAddress: SocketAddress
    /// How often the process had no descriptor left for a connection; accepting then pauses for `pauseWhenFull`.
    public private(set) var timesFull = 0
    public static let pauseWhenFull: Duration = .milliseconds(100)

    /// Nil when closed; the source keeps it until Dispatch has done with it.
    private var descriptor: SharedDescriptor?
    private var source: (any DispatchSourceRead)?
    private var isPaused = false
    private let accept: (consuming Accepted, Instant) -> Void

    /// Binds, listens and starts to accept. Call it on the lane.
    ///
    /// - Parameter accept: called on the lane, once for each connection; it may `close` the listener.
    public init(
        bound address: SocketAddress, on lane: any LaneDoor, backlog: Int = 511, accept: @escaping (consuming Accepted, Instant) -> Void
    ) throws(SocketError) {
        let owner = try FileDescriptorOwner.tcp(listening: address, backlog: Int32(clamping: backlog))
        localAddress = owner.localAddress ?? address
        let descriptor = SharedDescriptor(owner)
        self.descriptor = descriptor
        self.accept = accept
        watch(descriptor, lane)
    }

    /// Stops listening; connections that were accepted live on.
    public func close() {
        resume()
        source?.cancel()
        source = nil
        descriptor = nil
    }

    // A suspended source must not be let go.
    deinit { close() }

    private func watch(_ descriptor: SharedDescriptor, _ lane: any LaneDoor) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.raw, queue: lane.queue)
        let confined = Confined(self, to: lane.queue)
        source.setEventHandler { @Sendable [weak lane] in
            guard let lane else { return }
            lane.turn { now in confined.open()?.drain(lane, at: now) }
        }
        source.setCancelHandler { @Sendable [descriptor] in withExtendedLifetime(descriptor) {} }
        source.activate()
        self.source = source
    }

    private func drain(_ lane: any LaneDoor, at now: Instant) {
        for _ in 0..<Self.connectionsPerTurn {
            guard let descriptor else { return }
            var storage = sockaddr_storage()
            let raw = clinux_accept(descriptor.raw, &storage)
            guard raw >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause(lane) }
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            let owner = FileDescriptorOwner(raw)
            guard let remote = SocketAddress(storage), let local = owner.localAddress else { continue }
            accept(Accepted(descriptor: owner, remote: remote, local: local), now)
        }
    }

    /// The backlog keeps the socket readable, and without a pause the lane would do nothing but fail to accept.
    private func pause(_ lane: any LaneDoor) {
        timesFull += 1
        source?.suspend()
        isPaused = true
        let confined = Confined(self, to: lane.queue)
        lane.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.pauseWhenFull.wholeNanoseconds))) { confined.open()?.resume() }
    }

    private func resume() {
        guard isPaused else { return }
        isPaused = false
        source?.resume()
    }
}
