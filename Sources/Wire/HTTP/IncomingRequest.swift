/// A whole request that a connection brought (RFC 9112 §3).
public struct IncomingRequest: Sendable, Equatable {
    /// Method, target as it came, authority, and the fields without Host.
    public var head: HTTPRequest
    /// The target, decoded.
    public var target: RequestTarget
    /// The content, without its transfer coding; as long as the limits of the reader permit.
    public var body: [UInt8] = []
    /// The client may ask again over the connection.
    public var keepsAlive: Bool
    /// HTTP/1.0: the client knows no chunks.
    public var isOld: Bool

    /// A request of a test, or of code that needs no connection. Its fields are empty.
    public init(_ method: HTTPRequest.Method, _ target: RequestTarget, body: [UInt8] = []) {
        head = HTTPRequest(method: method, scheme: nil, authority: nil, path: target.text)
        (self.target, self.body, keepsAlive, isOld) = (target, body, true, false)
    }

    init(head: HTTPRequest, target: RequestTarget, keepsAlive: Bool, isOld: Bool) {
        (self.head, self.target, self.keepsAlive, self.isOld) = (head, target, keepsAlive, isOld)
    }
}
