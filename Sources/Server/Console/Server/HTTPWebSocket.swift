import Foundation
import HTTP
import Primitives
import Runtime

/// A WebSocket that a route answered with: messages that come, and messages that leave. Lane-confined.
///
/// It asks the client by pings whether it is there, and sends no more to one that does not read: that one is told to come again.
final class HTTPWebSocket {
    /// Bytes that may wait for a client that does not read: one more is the end, told by 1013.
    static let mostUnsent = 1 << 20
    /// From our last word to the client's; longer where much waits to be read before it.
    static let closingTimeout = Duration.seconds(5), slowClosingTimeout = Duration.seconds(60)

    private weak var server: HTTPServer?
    private let connection: UInt64
    fileprivate let session: WebSocketSession
    fileprivate var pulse: WebSocketPulse
    /// By when the client must have said its last word; nil while nobody has.
    fileprivate var closing: Instant?
    fileprivate let receive: (WebSocketSession.Event, Instant) -> Void

    fileprivate init(
        _ server: HTTPServer, _ connection: UInt64, _ limits: WebSocketSession.Limits, at now: Instant,
        receive: @escaping (WebSocketSession.Event, Instant) -> Void
    ) {
        (self.server, self.connection, self.receive) = (server, connection, receive)
        (session, pulse) = (WebSocketSession(server: limits), WebSocketPulse(at: now))
    }

    /// When it has something to do.
    var deadline: Instant { closing ?? pulse.deadline }

    /// Bytes that wait for the client.
    var unsentCount: Int { server?.connections[connection]?.wire?.unsentCount ?? 0 }

    /// Sends a message, which must be valid UTF-8. When too much waits for the client the socket ends.
    func send(text: [UInt8], at now: Instant) {
        guard closing == nil else { return }
        session.send(text: text)
        server?.flush(self, of: connection, at: now)
    }

    /// Ends it; nothing more is told of it.
    func close(_ code: WebSocketCloseCode, at now: Instant) {
        session.close(code)
        server?.finish(self, of: connection, at: now)
    }
}

// Sockets that were HTTP before.
extension HTTPServer {
    /// Answers with 101.
    func upgrade(
        _ id: UInt64, _ upgrade: WebSocketUpgrade, _ limits: WebSocketSession.Limits, at now: Instant,
        receive: @escaping (WebSocketSession.Event, Instant) -> Void, ended: @escaping () -> Void
    ) -> HTTPWebSocket? {
        guard let connection = connections[id], connection.state == .handling, !connection.isHalfClosed else { return nil }
        let socket = HTTPWebSocket(self, id, limits, at: now, receive: receive)
        (connection.state, connection.socket, connection.ended) = (.upgraded, socket, ended)
        counts.upgraded += 1
        counts.answers.note(connection.exchange.method, .switchingProtocols)
        send(upgrade.answer(date: Self.date, hash: Self.hash), to: connection, at: now)
        // A client that did not wait for the answer.
        let early = connection.reader.takeRest()
        if !early.isEmpty { received(early, over: socket, of: connection, at: now) }
        return connection.state == .upgraded ? socket : nil
    }

    /// Answers with 101, and forgets the connection.
    func handOver(_ id: UInt64, _ upgrade: WebSocketUpgrade, at now: Instant) -> ReleasedConnection? {
        guard let connection = connections[id], connection.state == .handling, !connection.isHalfClosed else { return nil }
        counts.upgraded += 1
        counts.answers.note(connection.exchange.method, .switchingProtocols)
        send(upgrade.answer(date: Self.date, hash: Self.hash), to: connection, at: now)
        return giveUp(connection).flatMap { ReleasedConnection($0, early: connection.reader.takeRest()) }
    }

    private static func hash(_ bytes: [UInt8]) -> String { Data(OpenSSLDigest.hash(.sha1, bytes)).base64EncodedString() }

    /// Bytes of a client.
    func received(_ bytes: [UInt8], over socket: HTTPWebSocket, of connection: HTTPConnection, at now: Instant) {
        socket.pulse.hear(at: now)
        for event in socket.session.receive(bytes) {
            switch event {
            case .closed, .failed:
                if case .failed = event { counts.refused += 1 }
                send(socket.session.takeOutput(), to: connection, at: now)
                connection.leave()
                return finish(connection, at: now)
            case .text, .binary, .ping, .pong: if socket.closing == nil { socket.receive(event, now) }
            }
            guard connection.state == .upgraded else { return }
        }
        flush(socket, of: connection.id, at: now)
    }

    func advance(_ socket: HTTPWebSocket, of connection: HTTPConnection, to now: Instant) {
        guard socket.closing == nil else { return socket.deadline <= now ? drop(connection) : () }
        switch socket.pulse.advance(to: now) {
        case nil: break
        case .ping:
            socket.session.ping()
            flush(socket, of: connection.id, at: now)
        case .gone:
            counts.silent += 1
            drop(connection)
        }
    }

    /// Sends what the session has to say, unless too much waits already.
    fileprivate func flush(_ socket: HTTPWebSocket, of id: UInt64, at now: Instant) {
        guard let connection = connections[id], connection.socket === socket, let wire = connection.wire else { return }
        send(socket.session.takeOutput(), to: connection, at: now)
        guard connections[id] != nil, socket.closing == nil, wire.unsentCount > HTTPWebSocket.mostUnsent else { return }
        counts.noteStalled(connection)
        // Told behind what waits: a client that reads on has all messages before it, and none in part.
        socket.session.close(.tryAgainLater)
        let told = connection.ended
        finish(socket, of: id, within: HTTPWebSocket.slowClosingTimeout, at: now)
        told?()
    }

    /// Our last word is said; the client's is waited for.
    fileprivate func finish(
        _ socket: HTTPWebSocket, of id: UInt64, within timeout: Duration = HTTPWebSocket.closingTimeout, at now: Instant
    ) {
        guard let connection = connections[id], connection.socket === socket, socket.closing == nil else { return }
        (socket.closing, connection.ended) = (now + timeout, nil)
        send(socket.session.takeOutput(), to: connection, at: now)
    }
}
