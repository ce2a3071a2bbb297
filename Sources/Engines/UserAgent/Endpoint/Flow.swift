import Primitives
import SIP

/// The way between one of our sockets and one peer: what a message came over, and what its answer goes back over.
public struct Flow: Hashable, Sendable {
    /// The protocol below SIP.
    public var transport: Transport
    /// The bound address of our socket.
    public var local: SocketAddress
    /// The peer's end.
    public var remote: SocketAddress
    /// The number of the connection, accepted or opened; 0 for UDP, and for a connection that is still to be opened to `remote`.
    public var connection: UInt64
    /// The name that the certificate of a TLS server that we connect to must have (RFC 5922); empty on other flows.
    public var peer: Text

    /// - Parameters:
    ///   - connection: 0 for UDP, and for a connection that is still to be opened.
    ///   - peer: whom the certificate of a TLS server must name.
    public init(transport: Transport, local: SocketAddress, remote: SocketAddress, connection: UInt64 = 0, peer: Text = .empty) {
        (self.transport, self.local, self.remote, self.connection, self.peer) = (transport, local, remote, connection, peer)
    }
}

extension Flow {
    /// Whether what was sent over this flow is lost when the other fails.
    func isCarried(by other: Flow) -> Bool {
        guard transport == other.transport, remote == other.remote else { return false }
        return connection == other.connection || connection == 0 && peer == other.peer
    }

    /// The way of a request whose next hop is this URI: one inside of a dialog, or one to a contact that was registered over this flow.
    ///
    /// A connection is used as long as it lives. Over UDP, and where the connection is gone, an address in the URI (`maddr` before the
    /// host) is followed, unless it is a private one that lies in another network than where the peer's messages come from: then the peer
    /// is behind a NAT, and only the way back works. Where the connection was TCP the URI says what is spoken at its address: UDP,
    /// if it says nothing (RFC 3263 §4.1). Names are not resolved: they stay on the flow, and so does what goes over a WebSocket.
    /// - Parameter speaksUDP: false goes on over TCP where the URI says UDP, or nothing.
    public func towards(_ uri: URI, speaksUDP: Bool = true) -> Flow {
        guard transport == .udp || connection == 0, !transport.isWebSocket, let address = uri.targetAddress,
            address.family == remote.address.family
        else {
            return self
        }
        guard !isFromNAT(address) else { return self }
        var flow = self
        flow.remote = SocketAddress(address, port: uri.port ?? transport.standardPort)
        let wanted = uri.transport
        if transport == .udp, wanted == Self.tcp { flow.transport = .tcp }
        if speaksUDP, transport == .tcp, wanted == nil || wanted == Self.udp { flow.transport = .udp }
        if wanted == Self.tls || uri.scheme == .sips {
            (flow.transport, flow.peer) = (.tls, uri.host)
            flow.remote.port = uri.port ?? flow.transport.standardPort
        }
        return flow
    }
}

extension Flow {
    /// Whether a peer that says that it is at this address sits behind a NAT: a private address in another network than where its messages
    /// come from.
    public func isFromNAT(_ address: IPAddress) -> Bool { address.isPrivate && !address.isNear(remote.address) }

    private static let udp: Text = "udp", tcp: Text = "tcp", tls: Text = "tls"
}

extension IPAddress {
    /// Whether both are of one network, as far as their addresses tell: this machine, the same 256 addresses, or the same 64 bits.
    func isNear(_ other: IPAddress) -> Bool {
        guard family == other.family, !isAny else { return false }
        if isLoopback && other.isLoopback { return true }
        return family == .v4 ? low >> 8 == other.low >> 8 : high == other.high
    }

    /// Not reachable from everywhere: RFC 1918, RFC 6598, RFC 4193, loopback, link-local, unspecified.
    fileprivate var isPrivate: Bool {
        if isLoopback || isAny { return true }
        guard family == .v4 else { return high >> 57 == 0x7E || high >> 54 == 0x3FA }
        return low >> 24 == 10 || low >> 20 == 0xAC1 || low >> 16 == 0xC0A8 || low >> 16 == 0xA9FE || low >> 22 == 0x191
    }
}

/// The carrier of the bytes of a `UserAgent`: real sockets, or a rehearsal's virtual network.
public protocol SignallingNetwork: AnyObject {
    /// Sends one whole message. Over TCP the connection of the flow is used; when `connection` is 0, one to `flow.remote` that is
    /// open already, or a new one. It must not call the agent back from inside: a failure is told later by
    /// `UserAgent.failed(_:at:)`, with the flow of the lost connection, or that of the message when none could be opened.
    func send(_ bytes: [UInt8], over flow: Flow)

    /// Begins a connection of its own to the flow's peer, beside those that stand: what is sent over the flow that is returned goes over
    /// it alone. Nil where none can be had.
    func connect(_ flow: Flow) -> Flow?

    /// Closes the connection of a flow that nothing comes over any more; `UserAgent.failed(_:at:)` tells so later.
    func close(_ flow: Flow)

    /// Whether requests can still be sent over the connection of this flow.
    func isOpen(_ flow: Flow) -> Bool

    /// Whether a message over this flow, which names no connection, goes over one that stands already.
    func isConnected(_ flow: Flow) -> Bool

    /// The connection that a message over this flow was just given to; 0 where there is none.
    func carrier(of flow: Flow) -> UInt64

    /// Sends requests for the host and port of a Via over this TLS connection, too, because a request with that Via came over it (RFC
    /// 5923). Only a peer whose certificate names that host is to be believed.
    func reuse(_ flow: Flow, for host: Text, port: UInt16?)

    /// Whether there is a UDP socket that can send to such an address.
    func speaksUDP(with address: IPAddress) -> Bool

    /// The time that the message that is being taken lay unread; zero where nobody knows. It grows where work does not get done.
    var backlog: Duration { get }
}

extension SignallingNetwork {
    /// A network of datagrams has no connections.
    public func connect(_ flow: Flow) -> Flow? { flow }
    public func close(_ flow: Flow) {}
    public func isOpen(_ flow: Flow) -> Bool { true }
    public func isConnected(_ flow: Flow) -> Bool { false }
    public func carrier(of flow: Flow) -> UInt64 { flow.connection }
    public func reuse(_ flow: Flow, for host: Text, port: UInt16?) {}
    public func speaksUDP(with address: IPAddress) -> Bool { true }
    public var backlog: Duration { .zero }
}
