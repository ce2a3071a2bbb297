/// Connections of ours that are over though we did not end them, by cause.
public struct ConnectionEnds: Codable, Hashable, Sendable {
    /// Never stood: nobody listens, or the server turned it away in a handshake of TCP, TLS or the WebSocket.
    public var refused = 0
    /// Closed by the server.
    public var closedByPeer = 0
    /// Closed by us, because nothing came after a ping: the pong is missing.
    public var unanswered = 0
    /// Reset, not read by its peer, or not to be understood.
    public var broken = 0

    /// None has ended.
    public init() {}

    /// Adds those of other connections.
    public mutating func add(_ other: ConnectionEnds) {
        (refused, closedByPeer) = (refused + other.refused, closedByPeer + other.closedByPeer)
        (unanswered, broken) = (unanswered + other.unanswered, broken + other.broken)
    }

    /// All of them.
    public var total: Int { refused + closedByPeer + unanswered + broken }
}
