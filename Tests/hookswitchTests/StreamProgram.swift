import Foundation
import HTTP
import Runtime
import Synchronization

/// A program at the other end of a stream: a WebSocket server on loopback that answers each message by a script.
final class StreamProgram: Sendable {
    enum Message: Equatable { case text(String), binary([UInt8]) }
    /// Sent in order; `drop` breaks the connection off, `close` says goodbye.
    enum Reply { case text(String), binary([UInt8]), close, drop }

    private let listener = ListeningSocket()
    private let log = Mutex<(heads: [String], messages: [Message])>(([], []))
    private let script: @Sendable (Message) -> [Reply]

    /// - Parameter script: called with each message, on a thread of its own.
    init(_ script: @escaping @Sendable (Message) -> [Reply]) {
        self.script = script
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let socket = accept(listener.raw, nil, nil)
                guard socket >= 0, let self else { return }
                Thread.detachNewThread { self.serve(socket) }
            }
        }
    }

    deinit { shutdown(listener.raw, Int32(SHUT_RDWR)) }

    var url: String { "ws://127.0.0.1:\(listener.port)/calls?key=secret" }

    /// The requests that opened WebSockets, as they came.
    var heads: [String] { log.withLock { $0.heads } }
    /// All messages but those of sound.
    var words: [String] {
        log.withLock { log in
            log.messages.compactMap { if case .text(let text) = $0, !text.contains(#""event":"media""#) { text } else { nil } }
        }
    }
    /// The kinds of those, in order.
    var events: [String] {
        words.map { word in word.range(of: #""event":""#).map { String(word[$0.upperBound...].prefix { $0 != "\"" }) } ?? word }
    }
    /// Messages of sound.
    var soundCount: Int { log.withLock { $0.messages.count } - words.count }

    private func serve(_ socket: Int32) {
        defer { close(socket) }
        var reader = HTTPRequestReader(), session: WebSocketSession?, piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &piece, piece.count, 0)
            guard count > 0 else { return }
            var bytes = Array(piece[..<count])
            if session == nil {
                reader.receive(bytes)
                log.withLock { $0.heads.append(String(decoding: bytes, as: UTF8.self)) }
                guard case .request(let request)? = reader.next(), let upgrade = try? WebSocketUpgrade(request) else { return }
                send(upgrade.answer(date: "now", hash: { Data(OpenSSLDigest.hash(.sha1, $0)).base64EncodedString() }), over: socket)
                session = WebSocketSession(server: .init())
                bytes = reader.takeRest()
            }
            guard let session, answer(session.receive(bytes), session, socket) else { return }
        }
    }

    /// False: the connection is over.
    private func answer(_ events: [WebSocketSession.Event], _ session: WebSocketSession, _ socket: Int32) -> Bool {
        for event in events {
            let message: Message
            switch event {
            case .text(let text): message = .text(String(decoding: text, as: UTF8.self))
            case .binary(let bytes): message = .binary(bytes)
            case .ping, .pong: continue
            case .closed, .failed:
                send(session.takeOutput(), over: socket)
                return false
            }
            log.withLock { $0.messages.append(message) }
            for reply in script(message) {
                switch reply {
                case .text(let text): session.send(text: Array(text.utf8))
                case .binary(let bytes): session.send(binary: bytes)
                case .close: session.close(.normal)
                case .drop: return false
                }
            }
        }
        send(session.takeOutput(), over: socket)
        return true
    }

    private func send(_ bytes: [UInt8], over socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
