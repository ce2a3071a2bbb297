import Primitives
import Runtime
import SIP

/// The real network of a signalling lane: UDP sockets, TCP and TLS connections (RFC 3261 §18).
///
/// Lives on its lane; every call is made there. Messages go to `endpoint` as they come in, each in one call. What fails is told at the next
/// `advance`, never from inside `send`. Bounded: connections in all and per source, the bytes of an unfinished message and the time it may
/// take, the bytes that wait for a slow peer, and the time that a connection may be idle. One that its peer has closed stays while
/// `endpoint` owes an answer over it.
public final class Transports: SignallingNetwork {
    /// The addresses to listen on, and the bounds of connections.
    public struct Configuration: Hashable, Sendable {
        /// The addresses to listen on, in this order.
        public var listeners: [Listener] = []
        /// Connections in all, ours included; one more is closed at once, or fails.
        public var maximumConnections = 4_096
        /// Accepted connections from one address; one more is closed at once.
        public var maximumConnectionsPerSource = 256
        /// Networks that the bounds for one source are not for: proxies and carriers, behind which many are.
        public var trusted: [IPNetwork] = []
        /// Accepted connections from one address whose TLS handshake is not done; one more is closed at once.
        public var maximumHandshakesPerSource = 32
        /// The time that a message may take from its first byte to its last, and the first one after the connection was accepted.
        public var messageTimeout: Duration = .seconds(30)
        /// The bounds of each connection.
        public var connection = TCPConnection.Limits()
        /// Origins of the pages whose WebSockets are taken, as `https://phone.example.test`; empty: all.
        public var webSocketOrigins: Set<String> = []
        /// Networks of the proxies before us whose word on who connected to them (X-Forwarded-For) is believed.
        public var webSocketProxies: [IPNetwork] = []
        /// WebSockets may be opened by us: true in a client, to whose server they lead.
        public var opensWebSockets = false
        /// The path at the server of a WebSocket of ours. Begins with `/`.
        public var webSocketPath = "/"

        /// - Parameter listeners: in the order in which they are bound.
        public init(listeners: [Listener] = []) { self.listeners = listeners }
    }

    /// A transport and the address to listen on; port 0 lets the kernel choose.
    public struct Listener: Hashable, Sendable {
        /// The protocol below SIP.
        public var transport: Transport
        /// Port 0 lets the kernel choose.
        public var address: SocketAddress

        /// A listener of this transport at this address.
        public init(_ transport: Transport, _ address: SocketAddress) { (self.transport, self.address) = (transport, address) }

        /// The address at which this machine reaches it itself.
        public var reachable: SocketAddress {
            guard address.address.isAny else { return address }
            return SocketAddress(address.address.family == .v4 ? .loopback : IPAddress(v6High: 0, low: 1), port: address.port)
        }
    }

    /// Numbers of connections and datagrams, since the start.
    public struct Counts: Hashable, Sendable {
        /// Connections that stand or are about to.
        public var connections = 0
        /// Connections of peers that were taken.
        public var accepted = 0
        /// Connections of ours that were begun.
        public var opened = 0
        /// Closed at once because there were too many, in all or from that source.
        public var refused = 0
        /// Streams that could not be cut into messages, or whose message took too long to come.
        public var malformed = 0
        /// TLS handshakes that failed, ours and theirs.
        public var handshakesFailed = 0
        /// Connections that could not be opened or did not end in good order.
        public var failed = 0
        /// Connections of ours that are over though we did not end them, by cause.
        public var ends = ConnectionEnds()
        /// Counts of all UDP sockets.
        public var datagrams = UDPSocket.Counts()

        /// Nothing has happened.
        public init() {}
    }

    /// As it was made, and as its limits are now.
    public private(set) var configuration: Configuration
    /// The addresses that are listened on, with the ports that the kernel chose.
    public private(set) var listeners: [Listener] = []
    /// Takes the messages and the failures; nothing is lost while it is nil, but what comes then is dropped. Held until `close`, for what
    /// is held weakly is retained and let go the slow way by everybody.
    public internal(set) var endpoint: (any SignallingEndpoint)?
    /// Certificates and whom we believe; nil: no TLS. Changed, the connections that stand keep theirs.
    public var tls: TLSContexts?
    /// The certificates of secure WebSockets that are accepted; nil: those of `tls`.
    public var webSocketTLS: TLSContexts?
    /// The time that the datagram that is being delivered lay unread; zero for what comes over a connection.
    public private(set) var backlog = Duration.zero
    /// Sees every message that comes in or leaves; nil costs nothing.
    public var tap: (any MessageTap)?
    /// Hears why a TLS session ended otherwise than by a farewell, and whether it was we who opened it.
    public var onTLSFailure: ((TLSError, Flow, _ isOurs: Bool) -> Void)?

    let lane: any LaneDoor
    private(set) lazy var tagKey = SystemRandom().next()
    private var sockets: [UDPSocket] = []
    var acceptors: [TCPListener] = []
    var streams: [UInt64: MessageStream] = [:]
    /// The connection for requests to a peer. One of TLS that we opened is for the domain alone whose name its certificate has (RFC 5923
    /// §9).
    var streamTo: [Peer: UInt64] = [:]
    var acceptedFrom: [IPAddress: Int] = [:]
    var handshakesFrom: [IPAddress: Int] = [:]
    var lastStream: UInt64 = 0
    var timeout = TimerWheel<UInt64>(at: MonotonicClock.now)
    var lost: [Flow] = []
    var tally = Counts()

    struct Peer: Hashable {
        let transport: Transport
        let address: SocketAddress
        let name: Text

        init(_ flow: Flow) { (transport, address, name) = (flow.transport, flow.remote, flow.peer) }
    }

    /// Binds everything, or nothing.
    ///
    /// - Parameters:
    ///   - tls: needed by TLS listeners, and by connections of ours over TLS.
    ///   - webSocketTLS: for listeners of secure WebSockets; nil: `tls`.
    /// - Throws: the first listener that cannot be had. Its description is a sentence for a person.
    public init(
        _ configuration: Configuration, tls: TLSContexts? = nil, webSocketTLS: TLSContexts? = nil, on lane: any LaneDoor
    ) throws(SocketError) {
        for listener in configuration.listeners where listener.transport.isSecure {
            let own = listener.transport == .wss ? webSocketTLS ?? tls : tls
            precondition(own?.canServe == true, "a listener of TLS needs a certificate")
        }
        (self.configuration, self.lane, self.tls, self.webSocketTLS) = (configuration, lane, tls, webSocketTLS)
        for listener in configuration.listeners { try listen(listener) }
    }

    /// Sets the bounds of connections that come from now on; those that stand stay.
    public func limit(connections: Int, perSource: Int, exceptFrom trusted: [IPNetwork]) {
        (configuration.maximumConnections, configuration.maximumConnectionsPerSource) = (connections, perSource)
        configuration.trusted = trusted
    }

    /// Closes every socket and connection, without a word to `endpoint`, which it lets go.
    public func close() {
        endpoint = nil
        sockets.forEach { $0.close() }
        acceptors.forEach { $0.close() }
        streams.values.forEach { $0.connection.close() }
        (sockets, acceptors, streams, streamTo, acceptedFrom, lost) = ([], [], [:], [:], [:], [])
        handshakesFrom = [:]
        timeout = TimerWheel(at: MonotonicClock.now)
    }

    /// Numbers of connections and datagrams until now.
    public var counts: Counts {
        var counts = tally
        counts.connections = streams.count
        counts.datagrams = sockets.reduce(into: UDPSocket.Counts()) { $0 += $1.counts }
        return counts
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { lost.isEmpty ? timeout.nextDeadline : .zero }

    /// Ends connections whose time is over, and tells what failed.
    public func advance(to now: Instant) {
        for id in timeout.advance(to: now) {
            guard let stream = streams[id] else { continue }
            stream.alarm = nil
            stream.connection.advance(to: now)
            if let due = stream.messageDeadline, due <= now { giveUp(stream, at: now) }
            if let due = stream.nextQuestion, due <= now { leave(stream, at: now) }
            if !stream.askWebSocket(at: now) {
                note(\.unanswered, stream)
                closeSilent(stream)
            }
            watch(stream)
        }
        let failed = lost
        lost = []
        for flow in failed { endpoint?.failed(flow, at: now) }
    }

    public func send(_ bytes: [UInt8], over flow: Flow) {
        switch flow.transport {
        case .udp: sendDatagram(bytes, over: flow)
        case .tcp, .tls, .ws, .wss: sendStream(bytes, over: flow)
        }
    }

    public func connect(_ flow: Flow) -> Flow? { flow.transport.isReliable ? open(flow, isShared: false)?.flow : flow }

    public func close(_ flow: Flow) {
        if flow.transport.isReliable { closeStream(of: flow) }
    }
}

// UDP.
extension Transports {
    private func receive(_ datagram: UDPSocket.Datagram, at now: Instant) {
        backlog = datagram.waited
        let flow = Flow(transport: .udp, local: datagram.destination, remote: datagram.source)
        tap?.note(.received, datagram.bytes, over: flow)
        endpoint?.receive(datagram.bytes, over: flow, at: now)
        backlog = .zero
    }

    private func listen(_ listener: Listener) throws(SocketError) {
        switch listener.transport {
        case .udp:
            let socket = try UDPSocket(bound: listener.address, on: lane) { [weak self] beginning, now in
                self?.endpoint?.portUnreachable(beginning, at: now)
            } receive: { [weak self] datagram, now in
                self?.receive(datagram, at: now)
            }
            sockets.append(socket)
            listeners.append(Listener(.udp, socket.localAddress))
        case .tcp, .tls, .ws, .wss:
            let transport = listener.transport
            let acceptor = try TCPListener(bound: listener.address, on: lane) { [weak self] accepted, now in
                self?.accept(accepted, transport, at: now)
            }
            acceptors.append(acceptor)
            listeners.append(Listener(transport, acceptor.localAddress))
        }
    }

    private func sendDatagram(_ bytes: [UInt8], over flow: Flow) {
        // It says nothing of its peer, with whom others speak; who sent it knows.
        guard bytes.count <= UDPSocket.longestDatagram else { return tally.failed += 1 }
        guard let socket = socket(for: flow) else { return lost.append(flow) }
        tap?.note(.sent, bytes, over: flow)
        do throws(SocketError) {
            try socket.send(bytes, to: flow.remote, from: flow.local.address)
        } catch  where !bytes.starts(with: "SIP/".utf8) {
            lost.append(flow)
        } catch {
            // An answer that cannot be sent concerns nobody's requests: its transaction ends on its own time (RFC 3261 §17.2.4).
        }
    }

    public func speaksUDP(with address: IPAddress) -> Bool { sockets.contains { $0.localAddress.address.family == address.family } }

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
        sum.portUnreachable += other.portUnreachable
    }
}
