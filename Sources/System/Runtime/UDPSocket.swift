import CLinux
import Glibc
public import Primitives

/// A UDP socket for signalling, on the lane that made it.
///
/// The lane's poller waits for datagrams and enters the lane by `sync`: a datagram costs two thread switches and three system calls. As a
/// Dispatch source it cost four and seven, and more processor time than all the rest of a small message.
public final class UDPSocket: LaneSocket {
    /// One datagram, whole.
    public struct Datagram: Sendable {
        /// Never more than `longestDatagram`.
        public var bytes: [UInt8]
        /// The address that it came from, as it says itself.
        public var source: SocketAddress
        /// The local address that it was sent to: never the wildcard, unless the kernel did not say.
        public var destination: SocketAddress
        /// The time that it lay in the kernel before it was read.
        public var waited = Duration.zero
    }

    /// Counts of datagrams, since the socket was made.
    public struct Counts: Hashable, Sendable {
        /// Datagrams that were given to the owner.
        public var received = 0
        /// Datagrams that the kernel took.
        public var sent = 0
        /// Longer than `longestDatagram`: dropped.
        public var oversized = 0
        /// The socket's send buffer was full: the datagram is lost, as the network could have lost it.
        public var congested = 0
        /// Datagrams that the kernel refused, for another cause than a full buffer.
        public var sendFailures = 0
        /// Reads that failed.
        public var receiveFailures = 0
        /// The network said that nobody takes them where they went.
        public var portUnreachable = 0

        /// Nothing has happened.
        public init() {}
    }

    /// The longest datagram that is taken, in bytes: the longest that UDP over IPv4 can carry.
    public static let longestDatagram = 65_507
    private static let sendAttempts = 4
    /// Datagrams that one wake-up takes before other work of the lane has its turn.
    public static let datagramsPerTurn = 64
    private static let returnsPerTurn = 64

    /// The address that it is bound to, with the port that the kernel chose.
    public let localAddress: SocketAddress
    /// Counts of datagrams, since the socket was made.
    public private(set) var counts = Counts()

    /// Nil when closed.
    private var descriptor: FileDescriptorOwner?
    private let isWildcard: Bool
    private let sockets: LaneSockets
    private var token: SocketToken?
    private var buffer = [UInt8](repeating: 0, count: longestDatagram)
    private let receive: (Datagram, Instant) -> Void
    private let portUnreachable: ([UInt8], Instant) -> Void

    /// Binds and starts to receive. Call it on the lane.
    ///
    /// - Parameters:
    ///   - address: IPv6 sockets take IPv6 only; port 0 lets the kernel choose.
    ///   - receive: called on the lane, once for each datagram; it may `close` the socket.
    ///   - undelivered: called on the lane with the beginning of a datagram of which the network (ICMP) says that it was not delivered.
    /// Anybody can send such
    ///     a message: what it quotes is to be believed only where nobody else can know it. It may `close` the socket.
    public init(
        bound address: SocketAddress, on lane: any LaneDoor,
        portUnreachable: @escaping (_ beginning: [UInt8], Instant) -> Void = { _, _ in },
        receive: @escaping (Datagram, Instant) -> Void
    ) throws(SocketError) {
        let owner = try FileDescriptorOwner.udp(bound: address)
        // Bursts of signalling come in hundreds of kilobytes; the kernel's default holds about 200 datagrams.
        _ = clinux_set_buffers(owner.raw, 4 << 20, 4 << 20)
        isWildcard = address.address.isAny
        _ = clinux_set_timestamps(owner.raw)
        _ = clinux_set_returns(owner.raw, address.address.family.domain)
        if isWildcard { _ = clinux_set_packet_info(owner.raw, address.address.family.domain, 1) }
        localAddress = owner.localAddress ?? address
        sockets = lane.sockets
        let raw = owner.raw
        descriptor = consume owner
        (self.receive, self.portUnreachable) = (receive, portUnreachable)
        do throws(PollerError) { token = try sockets.watch(raw, self) } catch {
            throw .failed(operation: "watch", .udp, localAddress, code: error.code)
        }
    }

    /// Sends one datagram.
    ///
    /// - Parameter source: the local address to send from, where the socket is bound to the wildcard; nil lets the kernel choose.
    /// - Throws: when the kernel knows at once that it cannot be delivered (no route, too long). A full buffer is only counted.
    public func send(_ bytes: [UInt8], to remote: SocketAddress, from source: IPAddress? = nil) throws(SocketError) {
        guard let raw else { return }
        guard remote.address.family == localAddress.address.family else { throw .familyUnavailable(.udp, remote) }
        var status = -1, attempts = 0
        // The first failures may be those of other datagrams, which ICMP told since: the kernel gives them to whoever comes next.
        repeat {
            status = trySending(bytes, to: remote, from: source, by: raw)
            attempts += 1
        } while status < 0 && attempts < Self.sendAttempts && errno != EAGAIN && errno != ENOBUFS
        if status >= 0 {
            counts.sent += 1
        } else if errno == EAGAIN || errno == ENOBUFS {
            counts.congested += 1
        } else {
            counts.sendFailures += 1
            throw SocketError("send to", .udp, remote)
        }
    }

    private func trySending(_ bytes: [UInt8], to remote: SocketAddress, from source: IPAddress?, by raw: Int32) -> Int {
        remote.withSockaddr { address, length in
            guard isWildcard, let source, !source.isAny, source.family == remote.address.family else {
                return clinux_send(raw, bytes, UInt(bytes.count), address, length, nil)
            }
            return withUnsafePointer(to: SocketAddress(source, port: 0).storage) {
                clinux_send(raw, bytes, UInt(bytes.count), address, length, $0)
            }
        }
    }

    private var raw: Int32? { descriptor?.raw }

    /// Stops receiving and gives the port back. The socket sends nothing afterwards.
    public func close() {
        if let raw, let token { sockets.forget(raw, token) }
        descriptor = nil
    }

    deinit { close() }

    func ready(_ events: Poller.Events, at now: Instant) { drain(hasReturns: events.contains(.failed), at: now) }

    /// - Parameter hasReturns: whether an ICMP message waits in its own queue, which wakes as long as something is in it.
    private func drain(hasReturns: Bool, at now: Instant) {
        var taken = 0, hasReturns = hasReturns
        reading: while taken < Self.datagramsPerTurn, let raw {
            switch next(from: raw) {
            case .whole(let datagram): receive(datagram, now)
            case .unusable: break
            case .returned: hasReturns = true
            case .nothing: break reading
            }
            taken += 1
        }
        if hasReturns { drainReturns(at: now) }
    }

    private func drainReturns(at now: Instant) {
        for _ in 0..<Self.returnsPerTurn {
            guard let raw else { return }
            var unreachable: Int32 = 0
            let count = buffer.withUnsafeMutableBytes { clinux_receive_return(raw, $0.baseAddress, UInt($0.count), &unreachable) }
            guard count >= 0 else { return }
            guard unreachable != 0 else { continue }
            counts.portUnreachable += 1
            portUnreachable(Array(buffer[..<count]), now)
        }
    }

    /// The errors that ICMP leaves behind.
    private static let returns: Set<Int32> = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENOPROTOOPT, EMSGSIZE, EPROTO, EACCES]

    private enum Received { case whole(Datagram), unusable, returned, nothing }

    private func next(from raw: Int32) -> Received {
        var from = sockaddr_storage()
        var to = sockaddr_storage()
        var truncated: Int32 = 0, waited: Int64 = 0
        let count = buffer.withUnsafeMutableBytes { clinux_receive(raw, $0.baseAddress, UInt($0.count), &from, &to, &truncated, &waited) }
        guard count >= 0 else { return failure(errno) }
        guard truncated == 0, let source = SocketAddress(from) else {
            counts.oversized += 1
            return .unusable
        }
        counts.received += 1
        let destination = SocketAddress(to).map { SocketAddress($0.address, port: localAddress.port) } ?? localAddress
        return .whole(Datagram(bytes: Array(buffer[0..<count]), source: source, destination: destination, waited: .nanoseconds(waited)))
    }

    private func failure(_ code: Int32) -> Received {
        if code == EAGAIN || code == EINTR { return .nothing }
        if Self.returns.contains(code) { return .returned }
        counts.receiveFailures += 1
        return .unusable
    }
}
