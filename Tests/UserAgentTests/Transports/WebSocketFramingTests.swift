import HTTP
import Primitives
import Runtime
import SIP
import Testing

@testable import UserAgent

/// SIP in the frames of a WebSocket (RFC 7118), without a socket.
@Suite struct WebSocketFramingTests {
    /// Outputs in one word each.
    private static func words(_ outputs: [StreamFramer.Output]) -> [String] {
        outputs.map { output in
            switch output {
            case .message(let bytes): "message " + String(decoding: bytes, as: UTF8.self)
            case .pong: "pong"
            case .answered: "answered"
            case .reply(let bytes):
                bytes.starts(with: "HTTP".utf8) ? String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")[0].description : "frame"
            case .ended: "ended"
            case .failed: "failed"
            }
        }
    }

    private static func client() -> WebSocketFraming {
        WebSocketFraming(client: .init(authority: "gateway.example.test:5066", path: "/ws"), random: SystemRandomNumberGenerator())
    }

    /// Bytes of replies.
    private static func replies(_ outputs: [StreamFramer.Output]) -> [UInt8] {
        outputs.flatMap { if case .reply(let bytes) = $0 { bytes } else { [UInt8]() } }
    }

    /// Both ends after their handshake.
    private static func connected() -> (client: WebSocketFraming, server: WebSocketFraming) {
        let client = client(), server = WebSocketFraming(server: .init())
        _ = client.receive(replies(server.receive(client.takeGreeting())))
        #expect(client.isOpen && server.isOpen)
        return (client, server)
    }

    private static func get(_ fields: [String]) -> [UInt8] {
        Array((["GET / HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }

    private static let upgrade = [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    @Test func `messages of both ends come out whole, and what was sent too early leaves after the handshake`() {
        let client = Self.client(), server = WebSocketFraming(server: .init())
        #expect(client.frame(Array("early".utf8)) == [], "the handshake is not over")
        let greeting = client.takeGreeting(), text = String(decoding: greeting, as: UTF8.self)
        #expect(
            text.hasPrefix("GET /ws HTTP/1.1\r\nHost: gateway.example.test:5066\r\n") && text.contains("Sec-WebSocket-Protocol: sip\r\n"))
        #expect(client.takeGreeting() == [])
        let answer = server.receive(greeting)
        #expect(Self.words(answer) == ["HTTP/1.1 101 Switching Protocols"])
        let late = client.receive(Self.replies(answer))
        #expect(Self.words(late) == ["frame"])
        #expect(Self.words(server.receive(Self.replies(late))) == ["message early"])
        #expect(Self.words(client.receive(server.frame(Array("back".utf8)))) == ["message back"])
        #expect(Self.words(server.receive(client.frame([0xFF, 0xFE]))).count == 1, "no text, and a message all the same")
    }

    @Test func `it does not matter where the bytes are cut`() {
        let client = Self.client()
        _ = client.frame(Array("one".utf8))
        let greeting = client.takeGreeting(), first = WebSocketFraming(server: .init())
        let frames = Self.replies(client.receive(Self.replies(first.receive(greeting)))) + client.frame(Array("two".utf8))
        let stream = greeting + frames
        for split in stride(from: 0, through: stream.count, by: 7) {
            let server = WebSocketFraming(server: .init())
            let outputs = server.receive(Array(stream[..<split])) + server.receive(Array(stream[split...]))
            #expect(Self.words(outputs) == ["HTTP/1.1 101 Switching Protocols", "message one", "message two"], "split at \(split)")
        }
    }

    @Test func `line ends keep the way open, as over TCP`() {
        let (client, server) = Self.connected()
        #expect(Self.words(server.receive(client.frame(StreamFramer.ping))) == ["pong"])
        #expect(Self.words(client.receive(server.pong)) == ["answered"])
        #expect(Self.words(client.receive(server.ping())) == ["frame"], "a ping of the WebSocket is answered")
    }

    @Test func `the last word is answered, and is the end`() {
        let server = Self.connected().server, peer = WebSocketSession(client: .init(), random: SystemRandomNumberGenerator())
        peer.close(.normal)
        #expect(Self.words(server.receive(peer.takeOutput())) == ["frame", "ended"])
        #expect(server.frame(Array("more".utf8)) == [] && Self.words(server.receive([1, 2, 3])) == [])
    }

    @Test func `a message that is too long, or no frame at all, ends the connection`() {
        let (client, server) = Self.connected()
        let long = client.frame([UInt8](repeating: 0x61, count: Limits.message + 1))
        #expect(Self.words(server.receive(long)) == ["frame", "failed"])
        let other = Self.connected().server
        #expect(Self.words(other.receive(Array("INVITE sip:x SIP/2.0\r\n\r\n".utf8))).last == "failed")
    }

    @Test(
        arguments: [
            (["Accept: */*"], "426 Upgrade Required"), (upgrade, "400 Bad Request"),
            (upgrade + ["Sec-WebSocket-Protocol: chat"], "400 Bad Request"),
            (upgrade.dropLast() + ["Sec-WebSocket-Protocol: sip"], "400 Bad Request"),
            (upgrade.map { $0.replacing("13", with: "8") } + ["Sec-WebSocket-Protocol: sip"], "426 Upgrade Required"),
            (upgrade + ["Sec-WebSocket-Protocol: sip", "Origin: https://evil.example.test"], "403 Forbidden"),
            (["X: " + String(repeating: "a", count: 20_000)], "431 Request Header Fields Too Large"),
        ] as [([String], String)])
    func `another request is answered as HTTP, and the connection ends`(fields: [String], status: String) {
        let server = WebSocketFraming(server: .init(origins: ["https://phone.example.test"]))
        #expect(Self.words(server.receive(Self.get(fields))) == ["HTTP/1.1 " + status, "failed"])
        #expect(Self.words(server.receive(Self.get(Self.upgrade))) == [])
    }

    @Test(arguments: ["https://phone.example.test", nil]) func `pages of the origin that is let in, and programs, connect`(origin: String?)
    {
        let server = WebSocketFraming(server: .init(origins: ["https://phone.example.test"]))
        let fields = Self.upgrade + ["Sec-WebSocket-Protocol: chat, sip"] + (origin.map { ["Origin: " + $0] } ?? [])
        let outputs = server.receive(Self.get(fields))
        #expect(Self.words(outputs) == ["HTTP/1.1 101 Switching Protocols"])
        #expect(String(decoding: Self.replies(outputs), as: UTF8.self).contains("\r\nSec-WebSocket-Protocol: sip\r\n"))
    }

    @Test(
        arguments: [
            (true, ["X-Forwarded-For: 203.0.113.7, 198.51.100.9"], "198.51.100.9"),
            (true, ["X-Forwarded-For: [2001:db8::7]"], "2001:db8::7"),
            (true, ["X-Forwarded-For: nonsense"], nil), (true, [], nil), (false, ["X-Forwarded-For: 198.51.100.9"], nil),
        ] as [(Bool, [String], String?)])
    func `a proxy that is believed tells for whom it speaks`(isProxied: Bool, fields: [String], client: String?) {
        let server = WebSocketFraming(server: .init(isProxied: isProxied))
        _ = server.receive(Self.get(Self.upgrade + ["Sec-WebSocket-Protocol: sip"] + fields))
        #expect(server.isOpen && server.takeForwarded() == client.flatMap { IPAddress(Text($0)) })
        #expect(server.takeForwarded() == nil)
    }

    @Test(arguments: [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "SIP/2.0 400 Bad Request\r\n\r\n",
    ])
    func `a server that does not open the WebSocket is left`(answer: String) {
        let client = Self.client()
        #expect(Self.words(client.receive(Array(answer.utf8))) == ["failed"])
    }
}
