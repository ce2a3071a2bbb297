import Testing

@testable import HTTP

@Suite struct WebSocketUpgradeTests {
    /// The key of RFC 6455 §1.3.
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let usual = [
        "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
    ]

    private static func request(_ fields: [String], _ line: String = "GET /v1/events HTTP/1.1") throws -> IncomingRequest {
        var reader = HTTPRequestReader()
        reader.receive(Array(([line, "Host: x"] + fields + ["", ""]).joined(separator: "\r\n").utf8))
        guard case .request(let request) = reader.next() else { throw NoRequest() }
        return request
    }

    private struct NoRequest: Error {}

    private static func refusal(_ fields: [String], _ line: String = "GET /v1/events HTTP/1.1") throws -> WebSocketUpgrade.Refusal? {
        let request = try request(fields, line)
        do throws(WebSocketUpgrade.Refusal) {
            _ = try WebSocketUpgrade(request)
            return nil
        } catch { return error }
    }

    /// Shows what is hashed.
    private static func plain(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `the answer proves that the key was read, and names the subprotocol that was chosen`() throws {
        let request = try Self.request(Self.usual + ["Sec-WebSocket-Protocol: b, a", "Sec-WebSocket-Extensions: permessage-deflate"])
        #expect(WebSocketUpgrade.isAsked(by: request))
        let upgrade = try WebSocketUpgrade(request, subprotocols: ["a", "b"])
        #expect(
            Self.plain(upgrade.answer(date: "D", hash: Self.plain))
                == "HTTP/1.1 101 Switching Protocols\r\nDate: D\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(Self.key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11\r\nSec-WebSocket-Protocol: a\r\n\r\n")
        #expect(try WebSocketUpgrade(request, subprotocols: ["c"]).subprotocol == nil)
    }

    @Test func `a plain request asks for nothing`() throws {
        #expect(try !WebSocketUpgrade.isAsked(by: Self.request([])) && !WebSocketUpgrade.isAsked(by: Self.request(["Upgrade: h2c"])))
        #expect(try WebSocketUpgrade.isAsked(by: Self.request(["Upgrade: h2c, WebSocket"])))
    }

    @Test func `what is no handshake is refused with what is wrong`() throws {
        func words(_ index: Int, _ field: String?, _ line: String = "GET / HTTP/1.1") throws -> String {
            var fields = Self.usual
            fields.replaceSubrange(index...index, with: field.map { [$0] } ?? [])
            guard case .malformed(let words) = try Self.refusal(fields, line) else { return "" }
            return words
        }
        #expect(try Self.refusal(Self.usual) == nil)
        #expect(try words(0, nil).contains("Connection") && words(0, "Connection: keep-alive").contains("Connection"))
        for key in [nil, "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25j====", "dGhlIHNhbXBsZSBub25j!Q=="] {
            #expect(try words(3, key.map { "Sec-WebSocket-Key: \($0)" }).contains("16 bytes"), "\(key ?? "none")")
        }
        #expect(try words(1, "Upgrade: websocket", "POST / HTTP/1.1").contains("GET"))
        #expect(try words(1, "Upgrade: websocket", "GET / HTTP/1.0").contains("GET"))
        #expect(try Self.refusal(Self.usual.filter { !$0.contains("Version") } + ["Sec-WebSocket-Version: 8"]) == .version)
        #expect(try Self.refusal(Self.usual + ["Sec-WebSocket-Version: 13"]) == .version, "twice is once too often")
        #expect(try Self.refusal(Self.usual + ["Sec-WebSocket-Key: \(Self.key)"]) != nil)
    }

    @Test func `a client takes the answer to its own key only`() throws {
        let opening = WebSocketOpening(key: Self.key, subprotocols: ["sip"])
        #expect(opening.fields[.secWebSocketProtocol] == "sip" && opening.fields[.secWebSocketVersion] == "13")
        func answer(_ changes: HTTPFields, status: Int = 101) -> HTTPResponse {
            var fields: HTTPFields = [
                .upgrade: "WebSocket", .connection: "upgrade", .secWebSocketAccept: "\(Self.key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
            ]
            for field in changes { fields[field.name] = field.value }
            return HTTPResponse(status: .init(code: status), headerFields: fields)
        }
        #expect(opening.isAccepted(answer([.secWebSocketProtocol: "sip"]), hash: Self.plain))
        #expect(opening.isAccepted(answer([:]), hash: Self.plain))
        #expect(!opening.isAccepted(answer([:], status: 200), hash: Self.plain))
        for wrong: HTTPFields in [
            [.secWebSocketAccept: "x"], [.upgrade: "h2c"], [.connection: "close"], [.secWebSocketProtocol: "other"],
            [.secWebSocketExtensions: "permessage-deflate"],
        ] { #expect(!opening.isAccepted(answer(wrong), hash: Self.plain), "\(wrong)") }
    }
}
