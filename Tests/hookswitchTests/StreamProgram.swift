import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization

/// A program at the other end of a stream: a WebSocket server on loopback, or a client of the control interface, that answers each message by
/// a script.
final class StreamProgram: Sendable {
    enum Message: Equatable { case text(String), binary([UInt8]) }
    /// Sent in order; `drop` breaks the connection off, `close` says goodbye, `stall` reads no more.
    enum Reply { case text(String), binary([UInt8]), close, drop, stall }

    private let listener = ListeningSocket()
    private let log = Mutex<(heads: [String], messages: [Message])>(([], []))
    private let script: @Sendable (Message) -> [Reply]
    private let stalled = DispatchSemaphore(value: 0)

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

    /// Comes to the control interface, and serves on a thread of its own where it is let in.
    ///
    /// - Returns: the status of the answer.
    func come(to address: SocketAddress, _ target: String) -> Int? {
        guard let socket = try? BlockingSocket(to: address).raw else { return nil }
        let opening = WebSocketOpening(key: String(decoding: Base64.encode([UInt8](repeating: 7, count: 16)), as: UTF8.self))
        let fields = opening.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        send(Array("GET \(target) HTTP/1.1\r\nHost: \(address)\r\n\(fields)\r\n".utf8), over: socket)
        var reader = HTTPResponseReader(to: .get), piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &piece, piece.count, 0)
            guard count > 0 else { break }
            reader.receive(Array(piece[..<count]))
            guard case .head(let head)? = reader.next() else { continue }
            guard head.status == .switchingProtocols else {
                close(socket)
                return head.status.code
            }
            let early = reader.takeRest()
            Thread.detachNewThread { self.serve(socket, early) }
            return 101
        }
        close(socket)
        return nil
    }

    private func serve(_ socket: Int32, _ early: [UInt8]) {
        defer { close(socket) }
        let session = WebSocketSession(client: .init(), random: SystemRandom())
        var piece = [UInt8](repeating: 0, count: 65_536)
        guard answer(session.receive(early), session, socket) else { return }
        while true {
            let count = recv(socket, &piece, piece.count, 0)
            guard count > 0, answer(session.receive(Array(piece[..<count])), session, socket) else { return }
        }
    }

    /// All sound in messages, in their order.
    var sound: [UInt8] {
        log.withLock { log in log.messages.flatMap { if case .binary(let bytes) = $0 { bytes } else { [UInt8]() } } }
    }

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
                case .stall: stalled.wait()
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
