import Foundation
import Primitives
import Runtime
import Synchronization
import Testing

/// A server that answers each connection with the next of its texts, and then ends it; nil: it says nothing, and holds it.
final class StandIn: Sendable {
    let url: URL
    private let listening: FileDescriptorOwner
    private let heard = Mutex<[String]>([])

    init(_ answers: [String?]) throws {
        listening = try FileDescriptorOwner.tcp(listening: SocketAddress(.loopback, port: 0), backlog: 8)
        let raw = listening.raw
        let local = listening.localAddress, address = try #require(local)
        url = try #require(URL(string: "http://\(address)"))
        _ = fcntl(raw, F_SETFL, 0)
        Thread.detachNewThread { [weak self] in
            for answer in answers {
                let connection = accept(raw, nil, nil)
                guard connection >= 0 else { return }
                self?.serve(connection, answer)
            }
        }
    }

    deinit { shutdown(listening.raw, Int32(SHUT_RDWR)) }

    var requests: [String] { heard.withLock(\.self) }

    private func serve(_ connection: Int32, _ answer: String?) {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &piece, piece.count, 0)
        heard.withLock { $0.append(String(decoding: piece.prefix(max(0, count)), as: UTF8.self)) }
        guard let answer else { return }
        _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
        close(connection)
    }

    static func json(_ body: String, status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A stream that ends with its last event.
    static func stream(_ events: (id: String, prev: String)...) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1000\n\n"
            + events.map { event in
                #"data: {"id":"\#(event.id)","type":"call.ended","time":"2026-11-27T02:19:23.004Z","prev":"\#(event.prev)","data":{}}"#
                    + "\n\n"
            }.joined()
    }
}
