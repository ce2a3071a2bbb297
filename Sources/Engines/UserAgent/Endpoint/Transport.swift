import Primitives
import SIP

/// The protocol that SIP is carried over between two addresses, with all that depends on it and is no I/O.
public enum Transport: Hashable, Sendable, CaseIterable {
    /// RFC 3261 §18; TLS is over TCP.
    case udp, tcp, tls

    /// True when the transport repeats lost bytes itself, so that the transactions need not.
    public var isReliable: Bool { self != .udp }

    /// True when nobody on the way reads or changes a message: what `sips` asks for.
    public var isSecure: Bool { self == .tls }

    /// The port of a URI or Via that names none (RFC 3261 §19.1.2).
    public var standardPort: UInt16 { isSecure ? 5061 : 5060 }

    /// As settings, the journal and the `transport` parameter of a URI have it.
    public var text: Text {
        switch self {
        case .udp: Self.texts.udp
        case .tcp: Self.texts.tcp
        case .tls: Self.texts.tls
        }
    }

    /// `udp`, `tcp` or `tls`, as in a URI; nil for any other text.
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
        }
    }

    /// The service of a NAPTR record (RFC 3263 §4.1).
    var naptrService: Text {
        switch self {
        case .udp: "SIP+D2U"
        case .tcp: "SIP+D2T"
        case .tls: "SIPS+D2T"
        }
    }

    /// The first labels of an SRV record's name (RFC 3263 §4.1).
    var serviceName: Text {
        switch self {
        case .udp: "_sip._udp."
        case .tcp: "_sip._tcp."
        case .tls: "_sips._tcp."
        }
    }

    /// Makes the framing that cuts messages out of a connection's bytes. UDP has none: its datagrams are messages.
    func makeFraming() -> any MessageFraming {
        precondition(isReliable, "a datagram is a message")
        return StreamFramer()
    }

    private typealias Names = (udp: Text, tcp: Text, tls: Text)
    private static let texts: Names = ("udp", "tcp", "tls"), names: Names = ("UDP", "TCP", "TLS")
}
