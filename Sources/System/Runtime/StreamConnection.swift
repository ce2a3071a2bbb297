public import Primitives

/// A connection that carries bytes in order, on the lane that made it: plain TCP, or TLS over it.
///
/// It keeps no timer: its owner calls `advance(to:)` when `deadline` has come.
public protocol StreamConnection: AnyObject {
    /// The peer's address.
    var remote: SocketAddress { get }
    /// Our end.
    var local: SocketAddress { get }
    /// When `advance` next has something to do; nil when it is over.
    var deadline: Instant? { get }
    /// Bytes that wait to be sent.
    var unsentCount: Int { get }
    /// Sends, or keeps what the peer does not take yet, within the connection's limits.
    func send(_ bytes: [UInt8], at now: Instant)
    /// Sends what waits, and then the end. What still comes is thrown away.
    func finish(at now: Instant)
    /// Closes at once; what waits is lost. No event follows.
    func close()
    /// Ends the connection when its patience has run out.
    func advance(to now: Instant)
    /// Takes it off its lane: nothing is sent, read or told until a lane adopts it. False: it does not stand.
    func release() -> Bool
    /// Goes on upon the lane that calls this, where it was released before.
    ///
    /// - Parameter receive: in the place of who was told before.
    func adopt(on lane: any LaneDoor, at now: Instant, receive: @escaping (TCPConnection.Event, Instant) -> Void)
}

/// A connection on its way from one lane to another, with what was read of it and not used. It closes where nobody takes it.
///
/// Unchecked: it was released, so no lane has it, and one takes it out.
public struct ReleasedConnection: @unchecked Sendable {
    /// To be adopted.
    public let connection: any StreamConnection
    /// Bytes that came already.
    public let early: [UInt8]

    /// nil: the connection does not stand, and is closed.
    public init?(_ connection: any StreamConnection, early: [UInt8]) {
        guard connection.release() else {
            connection.close()
            return nil
        }
        (self.connection, self.early) = (connection, early)
    }
}

extension TCPConnection: StreamConnection {}
