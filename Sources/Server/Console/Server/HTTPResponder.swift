import Foundation
import Gateway
import HTTP
import Primitives
import Runtime

/// A request with what its path names.
struct HTTPAsk {
    let request: IncomingRequest
    /// By the names in the braces of the route's pattern.
    let parameters: [String: String]
    /// Came over a socket of this machine's file system: who may open that may do everything.
    let isLocal: Bool
    /// Came over TLS.
    var isSecure = false
    /// The source address of the connection.
    let source: SocketAddress
    let now: Instant
    /// The rights of the client.
    var grant = AccessGrant.everything
}

/// Answers one request. Lane-confined: to be used on the server's lane, once; when the client has gone it does nothing.
final class HTTPResponder {
    private weak var server: HTTPServer?
    let connection: UInt64
    let method: HTTPRequest.Method
    private var isUsed = false
    /// Takes the answer in place of the client; false: it goes to the client.
    private var diversion: ((HTTPReply, Instant) -> Bool)?

    init(_ server: HTTPServer, _ connection: UInt64, _ method: HTTPRequest.Method) {
        (self.server, self.connection, self.method) = (server, connection, method)
    }

    /// Answers, unless the answer is diverted.
    func reply(_ reply: HTTPReply, at now: Instant) {
        if let divert = diversion.take(), divert(reply, now) { return }
        use()?.answer(connection, reply, at: now)
    }

    /// Has the next answer looked at first. Whoever takes it answers in its place, once.
    ///
    /// - Parameter divert: whether it takes the answer. Files, streams and WebSockets are not shown to it.
    func divert(_ divert: @escaping (HTTPReply, Instant) -> Bool) { diversion = divert }

    /// The server, once.
    func use() -> HTTPServer? {
        guard !isUsed else {
            assertionFailure("a request is answered once")
            return nil
        }
        isUsed = true
        return server
    }

    /// Begins an answer that comes in pieces, and lasts until one of the two ends it.
    ///
    /// - Parameter ended: called once when the client went, or did not read; not for an end of ours.
    /// - Returns: nil when the client has gone.
    func stream(type: String, at now: Instant, ended: @escaping () -> Void) -> HTTPStream? {
        guard !isUsed, let server else { return nil }
        isUsed = true
        return server.beginStream(connection, type: type, at: now, ended: ended)
    }

    /// Answers with 101: messages follow, in both directions, until one of the two ends it.
    ///
    /// - Parameters:
    ///   - upgrade: of this request.
    ///   - limits: of what the client sends.
    ///   - receive: an event that is neither `closed` nor `failed`; for what came with the request within this call.
    ///   - ended: called once when the client went, or did not read; not for an end of ours.
    /// - Returns: nil when the client has gone.
    func open(
        _ upgrade: WebSocketUpgrade, limits: WebSocketSession.Limits, at now: Instant,
        receive: @escaping (WebSocketSession.Event, Instant) -> Void, ended: @escaping () -> Void
    ) -> HTTPWebSocket? {
        guard !isUsed, let server else { return nil }
        isUsed = true
        return server.upgrade(connection, upgrade, limits, at: now, receive: receive, ended: ended)
    }
}

extension HTTPResponder {
    /// Answers with 101, and gives the connection away: another lane goes on with it.
    ///
    /// - Returns: nil when the client has gone.
    func handOver(_ upgrade: WebSocketUpgrade, at now: Instant) -> ReleasedConnection? {
        use()?.handOver(connection, upgrade, at: now)
    }
}

/// An answer that goes on. Lane-confined.
final class HTTPStream {
    private weak var server: HTTPServer?
    private let connection: UInt64
    /// Bytes that may wait for a client that does not read: one more ends the stream.
    static let mostUnsent = 1 << 20

    init(_ server: HTTPServer, _ connection: UInt64) { (self.server, self.connection) = (server, connection) }

    /// Sends a piece. When too much waits for the client the stream ends, as if the client had gone.
    func send(_ bytes: [UInt8], at now: Instant) { server?.send(bytes, over: connection, at: now) }

    /// Bytes that wait for the client.
    var unsentCount: Int { server?.connections[connection]?.wire?.unsentCount ?? 0 }

    /// The last piece was sent.
    func end(at now: Instant) { server?.endStream(connection, at: now) }
}
