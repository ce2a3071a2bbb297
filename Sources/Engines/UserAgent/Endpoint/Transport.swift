import Primitives
import SIP

/// The protocol that SIP is carried over between two addresses, with all that depends on it and is no I/O.
public enum Transport: Hashable, Sendable, CaseIterable {
    /// RFC 3261 §18; TLS is over TCP.
    case udp, tcp, tls
    /// WebSocket, over TCP and over TLS (RFC 7118).
    case ws, wss

    /// True when the transport repeats lost bytes itself, so that the transactions need not.
    public var isReliable: Bool { self != .udp }

    /// True when nobody on the way reads or changes a message: what `sips` asks for.
    public var isSecure: Bool { self == .tls || self == .wss }

    /// Whether its peer is a browser, or speaks as one: only the connection that the peer opened leads to it.
    public var isWebSocket: Bool { self == .ws || self == .wss }

    /// The port of a URI or Via that names none (RFC 3261 §19.1.2, RFC 7118 §8).
    public var standardPort: UInt16 {
        switch self {
        case .udp, .tcp: 5060
        case .tls: 5061
        case .ws: 80
        case .wss: 443
        }
    }

    /// As settings and the journal have it.
    public var text: Text {
        switch self {
        case .udp: Self.texts.udp
        case .tcp: Self.texts.tcp
        case .tls: Self.texts.tls
        case .ws: Self.texts.ws
        case .wss: Self.texts.wss
        }
    }

    /// As the `transport` parameter of a URI has it: that of a secure WebSocket is `ws`, too (RFC 7118 §5.3).
    var parameter: Text { self == .wss ? Self.texts.ws : text }

    /// `udp`, `tcp`, `tls`, `ws` or `wss`; nil for any other text.
    public init?(text: Text) {
        guard let transport = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = transport
    }

    /// As a Via has it (RFC 3261 §20.42).
    var name: Text {
        switch self {
        case .udp: Self.names.udp
        case .tcp: Self.names.tcp
        case .tls: Self.names.tls
        case .ws: Self.names.ws
        case .wss: Self.names.wss
        }
    }

    /// The service of a NAPTR record (RFC 3263 §4.1); nil: it is not looked for there.
    var naptrService: Text? {
        switch self {
        case .udp: "SIP+D2U"
        case .tcp: "SIP+D2T"
        case .tls: "SIPS+D2T"
        case .ws, .wss: nil
        }
    }

    /// The first labels of an SRV record's name (RFC 3263 §4.1); nil: it is not looked for there.
    var serviceName: Text? {
        switch self {
        case .udp: "_sip._udp."
        case .tcp: "_sip._tcp."
        case .tls: "_sips._tcp."
        case .ws, .wss: nil
        }
    }

    private typealias Names = (udp: Text, tcp: Text, tls: Text, ws: Text, wss: Text)
    private static let texts: Names = ("udp", "tcp", "tls", "ws", "wss"), names: Names = ("UDP", "TCP", "TLS", "WS", "WSS")
}
