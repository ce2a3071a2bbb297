import Primitives

extension Message {
    /// The seconds of Retry-After, without its comment and parameters; nil where there is none (RFC 3261 §20.33).
    public var retryAfter: UInt32? {
        headers[.retryAfter].flatMap { Text($0.bytes.prefix { $0 >= 0x30 && $0 <= 0x39 }).integer(UInt32.self) }
    }
}
