/// Why a piece of text is not the SIP value that it was read as.
public enum SyntaxError: Error, Hashable, Sendable {
    /// The text breaks the grammar of RFC 3261 §25.1.
    case malformed
    /// Something follows where the value should have ended.
    case trailingText
    /// A number is larger than its field allows.
    case numberOutOfRange
}
