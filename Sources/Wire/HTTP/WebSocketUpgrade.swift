/// The opening handshake of a WebSocket connection (RFC 6455 §4), from the server's side: a request that may be answered with 101.
public struct WebSocketUpgrade: Sendable, Equatable {
    /// The reason why a request is answered by something else.
    public enum Refusal: Error, Equatable {
        /// Fields that the handshake needs are missing or wrong; a sentence for a person.
        case malformed(String)
        /// Another version than 13 (§4.4).
        case version
    }

    /// The SHA-1 of these bytes, in Base64.
    public typealias Hash = ([UInt8]) -> String

    /// The subprotocol that was chosen; nil: none, as the client offered none of ours.
    public let subprotocol: String?
    private let key: String

    /// Whether the request wants to go on as WebSocket: all others are plain HTTP.
    public static func isAsked(by request: IncomingRequest) -> Bool {
        RequestHead.tokens(request.head.headerFields[.upgrade]).contains("websocket")
    }

    /// Reads a request for which `isAsked`. Its Origin is judged by who knows whom to trust.
    ///
    /// - Parameter subprotocols: those that are served, the best first.
    public init(_ request: IncomingRequest, subprotocols: [String] = []) throws(Refusal) {
        let fields = request.head.headerFields
        guard request.head.method == .get, !request.isOld, request.body.isEmpty, request.head.authority != nil else {
            throw .malformed("a WebSocket begins with a GET of HTTP/1.1 without content")
        }
        guard RequestHead.tokens(fields[.connection]).contains("upgrade") else { throw .malformed("Connection has no 'Upgrade'") }
        guard fields[values: .secWebSocketVersion] == ["13"] else { throw .version }
        let keys = fields[values: .secWebSocketKey]
        guard keys.count == 1, Self.isKey(keys[0]) else { throw .malformed("Sec-WebSocket-Key must be 16 bytes in Base64") }
        key = keys[0]
        let offered = (fields[.secWebSocketProtocol] ?? "").split(separator: ",").map { $0.trimmingBlanks }
        subprotocol = subprotocols.first(where: offered.contains)
    }

    /// The head of the answer, behind which messages follow.
    public func answer(date: String, hash: Hash) -> [UInt8] {
        var text = "HTTP/1.1 101 Switching Protocols\r\nDate: \(date)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Accept: \(Self.accept(key, hash))\r\n"
        if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The fields of an answer with 426, by which a client learns the version that is spoken.
    public static let versionFields: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]

    /// The proof that the key was read by who speaks WebSocket (§4.2.2).
    static func accept(_ key: String, _ hash: Hash) -> String { hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)) }

    /// 16 bytes in Base64: 22 digits, of which the last has two bits, and the padding.
    private static func isKey(_ text: String) -> Bool {
        let digits = text.utf8.prefix(22)
        return text.utf8.count == 24 && text.hasSuffix("==") && "AQgw".utf8.contains(digits.last ?? 0)
            && digits.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
                }
            }
    }
}

/// The opening handshake from the client's side (§4.1).
public struct WebSocketOpening: Sendable {
    private let key: String
    private let subprotocols: [String]

    /// - Parameters:
    ///   - key: 16 random bytes in Base64, drawn for this connection.
    ///   - subprotocols: those that are offered, the best first.
    public init(key: String, subprotocols: [String] = []) { (self.key, self.subprotocols) = (key, subprotocols) }

    /// The fields of the GET, besides Host and what is the caller's.
    public var fields: HTTPFields {
        var fields: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketKey: key, .secWebSocketVersion: "13",
        ]
        if !subprotocols.isEmpty { fields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
        return fields
    }

    /// Whether the answer opens the connection, and not something else that the key was never shown to. Extensions are none.
    public func isAccepted(_ response: HTTPResponse, hash: WebSocketUpgrade.Hash) -> Bool {
        let fields = response.headerFields
        return response.status.code == 101 && RequestHead.tokens(fields[.upgrade]) == ["websocket"]
            && RequestHead.tokens(fields[.connection]).contains("upgrade") && fields[.secWebSocketExtensions] == nil
            && fields[.secWebSocketAccept] == WebSocketUpgrade.accept(key, hash)
            && fields[.secWebSocketProtocol].map(subprotocols.contains) ?? true
    }
}
