import HTTP

/// The SIP server that the page of the telephone registers at: WebSockets of the gateway's own.
public struct PhoneServer: Sendable, Encodable {
    /// The domain of the lines.
    public var domain: String
    /// The port of WebSockets in the clear; nil: there are none.
    public var ws: UInt16?
    /// The port of WebSockets over TLS; nil: there are none.
    public var wss: UInt16?

    /// The address of another SIP server, as `wss://pbx.example.test/sip`; nil: the gateway itself.
    public var server: String?

    /// - Parameter server: in characters that may stand in a policy of a page.
    public init(domain: String, ws: UInt16? = nil, wss: UInt16? = nil, server: String? = nil) {
        (self.domain, self.ws, self.wss, self.server) = (domain, ws, wss, server)
    }

    /// The sources, as a content security policy has them, that the page may connect to besides its own: the host that it came from, at the
    /// ports of SIP.
    func sources(onHostOf request: IncomingRequest) -> String {
        if let server { return " \(server)" }
        let authority = request.head.authority ?? "", host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.mayStand) else { return "" }
        return [("ws", ws), ("wss", wss)].map { scheme, port in port.map { " \(scheme)://\(host):\($0)" } ?? "" }.joined()
    }

    private static func mayStand(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
