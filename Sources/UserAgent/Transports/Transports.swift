import Primitives
import Runtime
import SIP

/// The real network of a signalling lane: UDP sockets and TCP connections (RFC 3261 §18).
///
/// Lives on its lane; every call is made there. Messages go to `endpoint` as they come in, each in one call. What fails is told at the next
/// `advance`, never from inside `send`. Bounded: connections in all and per source, the bytes of an unfinished message and the time it may take, the
/// bytes that wait for a slow peer, and the time that a connection may be idle.
public final class Transports: SignallingNetwork {
    public struct Configuration: Hashable, Sendable {
        /// What is listened on, in this order.
        public var listeners: [Listener] = []
        /// Connections in all, ours included; one more is closed at once, or fails.
        public var maximumConnections = 4_096
        /// Accepted connections from one address; one more is closed at once.
        public var maximumConnectionsPerSource = 256
        /// How long a message may take from its first byte to its last, and the first one after the connection was accepted.
        public var messageTimeout: Duration = .seconds(30)
        /// The bounds of each connection.
        public var connection = TCPConnection.Limits()

        public init(listeners: [Listener] = []) { self.listeners = listeners }
    }

    /// A transport and the address to listen on; port 0 lets the kernel choose.
    public struct Listener: Hashable, Sendable {
        public var transport: Transport
        public var address: SocketAddress

        public init(_ transport: Transport, _ address: SocketAddress) { (self.transport, self.address) = (transport, address) }
    }

    public struct Counts: Hashable, Sendable {
        /// Connections that stand or are about to.
        public var connections = 0
        public var accepted = 0
        public var opened = 0
        /// Closed at once because there were too many, in all or from that source.
        public var refused = 0
        /// Streams that could not be cut into messages, or whose message took too long to come.
        public var malformed = 0
        /// Flows that were told as failed.
        public var failed = 0
        public var datagrams = UDPSocket.Counts()
    }

    public let configuration: Configuration
    /// What is listened on, with the ports that the kernel chose.
    public private(set) var listeners: [Listener] = []
    /// Takes the messages and the failures; nothing is lost while it is nil, but what comes then is dropped.
    public weak var endpoint: (any SignallingEndpoint)?

    private let lane: any LaneDoor
    private let random = SystemRandom()
    private var sockets: [UDPSocket] = []
    private var acceptors: [TCPListener] = []
    private var streams: [UInt64: MessageStream] = [:]
    private var streamTo: [SocketAddress: UInt64] = [:]
    private var acceptedFrom: [IPAddress: Int] = [:]
    private var lastStream: UInt64 = 0
    private var patience = TimerWheel<UInt64>(at: MonotonicClock.now)
    private var lost: [Flow] = []
    private var tally = Counts()

    /// Binds everything, or nothing.
    ///
    /// - Throws: the first listener that cannot be had. Its description is a sentence for a person.
    public init(_ configuration: Configuration, on lane: any LaneDoor) throws(SocketError) {
        (self.configuration, self.lane) = (configuration, lane)
        for listener in configuration.listeners { try listen(listener) }
    }

    /// Closes every socket and connection, without a word to `endpoint`.
    public func close() {
        sockets.forEach { $0.close() }
        acceptors.forEach { $0.close() }
        streams.values.forEach { $0.connection.close() }
        (sockets, acceptors, streams, streamTo, acceptedFrom, lost) = ([], [], [:], [:], [:], [])
        patience = TimerWheel(at: MonotonicClock.now)
    }

    public var counts: Counts {
        var counts = tally
        counts.connections = streams.count
        counts.datagrams = sockets.reduce(into: UDPSocket.Counts()) { $0 += $1.counts }
        return counts
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { lost.isEmpty ? patience.nextDeadline : .zero }

    /// Ends connections whose time is over, and tells what failed.
    public func advance(to now: Instant) {
        for id in patience.advance(to: now) {
            guard let stream = streams[id] else { continue }
            stream.alarm = nil
            stream.connection.advance(to: now)
            if let due = stream.messageDeadline, due <= now { giveUp(stream, at: now) }
            watch(stream)
        }
        let failed = lost
        lost = []
        tally.failed += failed.count
        for flow in failed { endpoint?.failed(flow, at: now) }
    }

    public func send(_ bytes: [UInt8], over flow: Flow) {
        switch flow.transport {
        case .udp: sendDatagram(bytes, over: flow)
        case .tcp: sendStream(bytes, over: flow)
        case .tls: lost.append(flow)  // There is no TLS listener yet, and so no way to such a peer.
        }
    }
}

// UDP.
extension Transports {
    private func listen(_ listener: Listener) throws(SocketError) {
        switch listener.transport {
        case .udp:
            let socket = try UDPSocket(bound: listener.address, on: lane) { [weak self] datagram, now in
                self?.endpoint?.receive(datagram.bytes, over: Flow(transport: .udp, local: datagram.destination, remote: datagram.source), at: now)
            }
            sockets.append(socket)
            listeners.append(Listener(.udp, socket.localAddress))
        case .tcp:
            let acceptor = try TCPListener(bound: listener.address, on: lane) { [weak self] accepted, now in self?.accept(accepted, at: now) }
            acceptors.append(acceptor)
            listeners.append(Listener(.tcp, acceptor.localAddress))
        case .tls:
            preconditionFailure("TLS listeners do not exist yet; the configuration does not offer them")
        }
    }

    private func sendDatagram(_ bytes: [UInt8], over flow: Flow) {
        guard let socket = socket(for: flow) else { return lost.append(flow) }
        do throws(SocketError) {
            try socket.send(bytes, to: flow.remote, from: flow.local.address)
        } catch {
            lost.append(flow)
        }
    }

    /// The socket of the flow's own address; else the one on all addresses; else any that can reach the peer.
    private func socket(for flow: Flow) -> UDPSocket? {
        sockets.first { $0.localAddress == flow.local }
            ?? sockets.first { $0.localAddress.address.isAny && $0.localAddress.port == flow.local.port && $0.isFor(flow) }
            ?? sockets.first { $0.isFor(flow) }
    }
}

extension UDPSocket {
    fileprivate func isFor(_ flow: Flow) -> Bool { localAddress.address.family == flow.remote.address.family }
}

extension UDPSocket.Counts {
    fileprivate static func += (sum: inout Self, other: Self) {
        sum.received += other.received
        sum.sent += other.sent
        sum.oversized += other.oversized
        sum.congested += other.congested
        sum.sendFailures += other.sendFailures
        sum.receiveFailures += other.receiveFailures
    }
}

// TCP.
extension Transports {
    private func accept(_ accepted: consuming TCPListener.Accepted, at now: Instant) {
        let (local, remote) = (accepted.local, accepted.remote)
        guard streams.count < configuration.maximumConnections, acceptedFrom[remote.address, default: 0] < configuration.maximumConnectionsPerSource
        else { return tally.refused += 1 }
        let flow = Flow(transport: .tcp, local: local, remote: remote, connection: nextID())
        let connection = TCPConnection(accepted, limits: configuration.connection, on: lane, at: now) { [weak self] _, event, now in
            self?.stream(flow.connection, did: event, at: now)
        }
        tally.accepted += 1
        acceptedFrom[remote.address, default: 0] += 1
        keep(MessageStream(flow: flow, connection: connection, isAccepted: true, firstMessageBy: now + configuration.messageTimeout))
    }

    private func sendStream(_ bytes: [UInt8], over flow: Flow) {
        let id = flow.connection == 0 ? streamTo[flow.remote] : flow.connection
        guard let stream = id.flatMap({ streams[$0] }) ?? (flow.connection == 0 ? open(flow) : nil) else { return lost.append(flow) }
        stream.connection.send(bytes, at: MonotonicClock.now)
        watch(stream)
    }

    /// Begins a connection to the flow's peer; nil when the kernel knows already that it cannot be, or there are too many.
    private func open(_ flow: Flow) -> MessageStream? {
        guard streams.count < configuration.maximumConnections else { return nil }
        let id = nextID()
        do throws(SocketError) {
            let connection = try TCPConnection(
                to: flow.remote, from: flow.local.address.isAny ? nil : flow.local.address, limits: configuration.connection, on: lane, at: MonotonicClock.now
            ) { [weak self] _, event, now in self?.stream(id, did: event, at: now) }
            tally.opened += 1
            // Our Via and Contact name the port that is listened on, not the one that this connection happens to have.
            let local = SocketAddress(connection.local.address, port: flow.local.port)
            let stream = MessageStream(
                flow: Flow(transport: .tcp, local: local, remote: flow.remote, connection: id), connection: connection, isAccepted: false,
                firstMessageBy: nil)
            keep(stream)
            return stream
        } catch {
            return nil
        }
    }

    private func nextID() -> UInt64 {
        lastStream += 1
        return lastStream
    }

    private func keep(_ stream: MessageStream) {
        streams[stream.id] = stream
        streamTo[stream.flow.remote] = stream.id
        watch(stream)
    }

    private func stream(_ id: UInt64, did event: TCPConnection.Event, at now: Instant) {
        guard let stream = streams[id] else { return }
        switch event {
        case .connected: break
        case .received(let bytes): read(bytes, from: stream, at: now)
        case .peerFinished: peerFinished(stream)
        case .ended: forget(stream)
        }
        watch(stream)
    }

    /// Answers still leave on it; a new request would never get one. Who leaves in the middle of a message waits for no answer.
    private func peerFinished(_ stream: MessageStream) {
        if streamTo[stream.flow.remote] == stream.id { streamTo[stream.flow.remote] = nil }
        guard stream.messageDeadline != nil else { return }
        stream.connection.close()
        forget(stream)
    }

    private func read(_ bytes: [UInt8], from stream: MessageStream, at now: Instant) {
        for output in stream.receive(bytes, at: now, timeout: configuration.messageTimeout) {
            // What was received may have made us close it.
            guard streams[stream.id] != nil else { return }
            switch output {
            case .message(let message): endpoint?.receive(message, over: stream.flow, at: now)
            case .pong: stream.connection.send(StreamFramer.pong, at: now)
            case .failed(let error): refuse(error, from: stream, at: now)
            }
        }
    }

    /// Answers what can be answered; the rest of the stream means nothing any more (RFC 3261 §18.3).
    private func refuse(_ error: Message.ParseError, from stream: MessageStream, at now: Instant) {
        if case .reject(var rejection) = error {
            rejection.via.stamp(source: stream.flow.remote)
            stream.connection.send(rejection.response(toTag: Text(random.next())), at: now)
        }
        giveUp(stream, at: now)
    }

    /// What it still says is not read, and nothing new is sent over it.
    private func giveUp(_ stream: MessageStream, at now: Instant) {
        guard streams[stream.id] != nil else { return }
        tally.malformed += 1
        if streamTo[stream.flow.remote] == stream.id { streamTo[stream.flow.remote] = nil }
        stream.giveUp(at: now)
    }

    private func forget(_ stream: MessageStream) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if let alarm = stream.alarm { patience.cancel(alarm.token) }
        if streamTo[stream.flow.remote] == stream.id { streamTo[stream.flow.remote] = nil }
        if stream.isAccepted {
            let left = acceptedFrom[stream.flow.remote.address, default: 1] - 1
            acceptedFrom[stream.flow.remote.address] = left == 0 ? nil : left
        }
        lost.append(stream.flow)
    }

    /// Sets the stream's timer when its deadline has come nearer. One that has moved away is left: it rings for nothing, once.
    private func watch(_ stream: MessageStream) {
        guard streams[stream.id] != nil, let due = stream.deadline, due < stream.alarm?.due ?? .distantFuture else { return }
        if let alarm = stream.alarm { patience.cancel(alarm.token) }
        stream.alarm = (patience.arm(stream.id, at: due), due)
    }
}
