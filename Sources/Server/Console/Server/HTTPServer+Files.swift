import HTTP
import Primitives
import Runtime

// Answers whose content is a file: sent as fast as the client takes it, and never as a whole in memory.
extension HTTPServer {
    private static let pieceLength = 64 << 10
    /// Bytes of a file that may wait for the client.
    private static let mostWaiting = 1 << 20
    /// The time after which it is seen whether the client has taken some.
    private static let pause = Duration.milliseconds(10)

    /// - Parameters:
    ///   - reply: status and fields; its body is that of the file.
    ///   - file: at the part that is wanted.
    func answer(_ id: UInt64, _ reply: HTTPReply, _ file: HTTPFile, at now: Instant) {
        guard let connection = connections[id], connection.state == .handling else { return }
        let head = HTTPWriter.fileHead(reply, length: file.left, date: Self.date)
        counts.answers.note(connection.exchange.method, reply.status)
        send(head, to: connection, at: now)
        guard connection.exchange.method != .head, file.left > 0 else { return finish(connection, at: now) }
        (connection.state, connection.file) = (.streaming, file)
        pump(connection, at: now)
    }

    func pump(_ connection: HTTPConnection, at now: Instant) {
        guard let file = connection.file, let wire = connection.wire else { return }
        while file.left > 0, wire.unsentCount < Self.mostWaiting, connections[connection.id] != nil {
            guard let piece = file.piece(upTo: Self.pieceLength) else { return drop(connection) }
            send(piece, to: connection, at: now)
        }
        guard connections[connection.id] != nil else { return }
        connection.nextPiece = now + Self.pause
        guard file.left == 0 else { return }
        (connection.file, connection.nextPiece) = (nil, nil)
        finish(connection, at: now)
    }
}

extension HTTPResponder {
    /// Answers with a file, or a part of one.
    func reply(_ reply: HTTPReply, _ file: HTTPFile, at now: Instant) { use()?.answer(connection, reply, file, at: now) }
}
