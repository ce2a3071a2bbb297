public import Primitives

/// A connection that carries bytes in order, on the lane that made it: plain TCP, or TLS over it.
///
/// It keeps no timer: its owner calls `advance(to:)` when `deadline` has come.
public protocol StreamConnection: AnyObject {
    var remote: SocketAddress { get }
    var local: SocketAddress { get }
    var deadline: Instant? { get }
    /// How many bytes wait for the peer.
    var unsentCount: Int { get }
    func send(_ bytes: [UInt8], at now: Instant)
    func finish(at now: Instant)
    func close()
    func advance(to now: Instant)
}

extension TCPConnection: StreamConnection {}
