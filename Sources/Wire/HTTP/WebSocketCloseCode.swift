/// Why a WebSocket connection is closed (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let normal = Self(rawValue: 1000)
    /// The server stops, or the page was left.
    public static let goingAway = Self(rawValue: 1001)
    public static let protocolError = Self(rawValue: 1002)
    /// No code was given. Never sent.
    public static let none = Self(rawValue: 1005)
    /// Text that is no UTF-8.
    public static let invalidData = Self(rawValue: 1007)
    public static let policyViolation = Self(rawValue: 1008)
    public static let messageTooBig = Self(rawValue: 1009)
    /// Come again later (IANA's registry).
    public static let tryAgainLater = Self(rawValue: 1013)

    /// May stand in a frame: one of the protocol's, of a library's or of an application's.
    public var maySend: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    var bytes: [UInt8] { [UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)] }
}
