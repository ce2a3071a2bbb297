/// The largest things that are read from a peer. What is larger is refused with a status that says so; nothing grows without bound.
public enum Limits {
    /// Bytes of a whole message: what a datagram can hold, and what is accepted on a stream (RFC 3261 §18.1.1).
    public static let message = 65_535
    /// Bytes of the start line and header fields together on a stream.
    public static let head = 32_768
    /// Header fields of one message, before lists are split.
    public static let headerFields = 256
    /// Bytes of one header field, folds included.
    public static let headerField = 8_192
    /// Bytes of a Request-URI; more is answered 414 (RFC 3261 §21.4.12).
    public static let requestURI = 2_048
    /// Elements read of one list header such as Via, Route or Contact.
    public static let listElements = 70
}
