import HTTP
import Primitives
import Runtime

/// The other gateways that a control interface answers for.
public struct NodeSettings: Sendable {
    /// One of them: its name, and where its control interface is.
    public struct Node: Hashable, Sendable {
        public var name: String
        /// HTTPS.
        public var isSecure: Bool
        public var host: String
        public var port: UInt16

        public init(name: String, isSecure: Bool, host: String, port: UInt16) {
            (self.name, self.isSecure, self.host, self.port) = (name, isSecure, host, port)
        }
    }

    /// Gateways that there may be: each reader has a connection to each of them.
    public static let most = 32

    /// The name of this gateway.
    public var own: String
    public var others: [Node]
    /// The secret by which these gateways know each other.
    public var secret: String
    /// The authorities of their certificates; nil only where none is reached over TLS.
    public var trust: TLSContexts?

    /// - Parameter nodes: all of them; the one of the name `own` is this gateway.
    public init(own: String, nodes: [Node], secret: String, trust: TLSContexts?) {
        (self.own, others) = (own, nodes.filter { $0.name != own }.sorted { $0.name < $1.name })
        (self.secret, self.trust) = (secret, trust)
    }

    /// Whether a name can stand in a position, and in a URL as it is.
    public static func isName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

extension NodeSettings.Node {
    /// A request to it (RFC 9112 §3).
    ///
    /// - Parameters:
    ///   - target: path and query, encoded.
    ///   - fields: beside Host and Content-Length.
    func bytes(_ method: HTTPRequest.Method, _ target: String, _ fields: HTTPFields, body: [UInt8]) -> [UInt8] {
        let name = host.contains(":") ? "[\(host)]" : host
        var text = "\(method.rawValue) \(target) HTTP/1.1\r\nHost: \(name):\(port)\r\nUser-Agent: Hookswitch\r\nConnection: close\r\n"
        for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + body
    }
}
