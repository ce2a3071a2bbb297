import Primitives

public enum Transport: Hashable, Sendable {
    case udp, tcp, tls

    /// True when the transport repeats lost bytes itself, so that the transactions need not.
    public var isReliable: Bool { self != .udp }
}

/// The way between one of our sockets and one peer: what a message came over, and what its answer goes back over.
public struct Flow: Hashable, Sendable {
    public var transport: Transport
    /// The bound address of our socket.
    public var local: SocketAddress
    public var remote: SocketAddress
    /// Which accepted or opened connection; 0 for UDP, and for a connection that is still to be opened to `remote`.
    public var connection: UInt64

    public init(transport: Transport, local: SocketAddress, remote: SocketAddress, connection: UInt64 = 0) {
        (self.transport, self.local, self.remote, self.connection) = (transport, local, remote, connection)
    }
}

/// What carries the bytes of a `UserAgent`: real sockets, or a rehearsal's virtual network.
public protocol SignallingNetwork: AnyObject {
    /// Sends one whole message. Over TCP the connection of the flow is used again, or one to `flow.remote` is opened when
    /// `connection` is 0. It must not call the agent back from inside; a failure is told later by `UserAgent.failed(_:at:)`.
    func send(_ bytes: [UInt8], over flow: Flow)
}
