import Primitives
import Runtime

/// One bound UDP port of a leg, on one media lane. The port is free again when the object is gone.
public protocol MediaSocket: AnyObject {
    /// Sends one datagram to the far end given last; false when there is none or the network did not take it.
    func send(_ packet: UnsafeRawBufferPointer) -> Bool

    /// Sends one datagram to somebody else; false when the network did not take it.
    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool

    /// Sets the destination of `send`; nil for none. Datagrams of any sender still arrive.
    func aim(at remote: SocketAddress?)

    /// From now on only this sender is heard, and `send` goes to it. Datagrams of others that wait already may still come.
    func lock(to remote: SocketAddress)

    /// The next datagram; nil when none waits. Bytes beyond the buffer are lost and `isWhole` is false.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram?

    /// Locked, and all that had come before that was received: every datagram that waits is the locked sender's. The engine then takes one
    /// datagram each time; before, it takes all.
    var isSourceVerified: Bool { get }
}

/// The datagram that `MediaSocket.receive` put into the buffer.
public struct ReceivedDatagram: Hashable, Sendable {
    /// Bytes in the buffer.
    public var count: Int
    /// The source address.
    public var sender: SocketAddress
    /// False where the buffer was too short for it.
    public var isWhole: Bool

    /// - Parameter isWhole: false where the buffer was too short.
    public init(count: Int, sender: SocketAddress, isWhole: Bool = true) {
        self.count = count
        self.sender = sender
        self.isWhole = isWhole
    }
}

/// Binds ports: the kernel's in a server, virtual ones in a rehearsal, and in a test one that fails.
public protocol PortBinder: AnyObject {
    /// Binds `address` and reports arrivals under `token` to whoever drives the engine, as long as the socket lives.
    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket

    /// Stops reporting a socket of this binder, which goes to another one.
    func release(_ socket: any MediaSocket)

    /// Reports arrivals on a socket that another binder of the same kind has released.
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError)
}
