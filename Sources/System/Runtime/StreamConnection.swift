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
}

extension TCPConnection: StreamConnection {}
