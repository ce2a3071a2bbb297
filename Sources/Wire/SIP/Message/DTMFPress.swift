import Primitives

/// A key of a telephone in the body of an INFO: `application/dtmf-relay` (`Signal=5`, `Duration=160`) or `application/dtmf` (`5`).
///
/// Both are older than RFC 6086 and are what telephones send.
public struct DTMFPress: Hashable, Sendable {
    /// `0`–`9`, `*`, `#`, `A`–`D`.
    public let key: UInt8
    /// Milliseconds; nil when the body does not say.
    public let duration: Int?

    /// - Parameters:
    ///   - key: `0`–`9`, `*`, `#`, `A`–`D`.
    ///   - duration: milliseconds.
    public init(key: UInt8, duration: Int?) { (self.key, self.duration) = (key, duration) }

    /// The Content-Type of `relayBody`.
    public static let contentType: Text = "application/dtmf-relay"

    /// The body of an INFO that tells of it.
    public var relayBody: [UInt8] { Array("Signal=\(Character(Unicode.Scalar(key)))\r\nDuration=\(duration ?? 160)\r\n".utf8) }

    /// nil for what is neither of the two, or names no key.
    public init?(_ request: Message) {
        switch request.contentType {
        case Self.contentType?:
            guard let signal = Self.value(of: "Signal", in: request.body), let key = Self.key(signal) else { return nil }
            (self.key, duration) = (key, Self.value(of: "Duration", in: request.body)?.integer(Int.self))
        case "application/dtmf"?:
            guard let key = Self.key(Text(request.body).trimmed) else { return nil }
            (self.key, duration) = (key, nil)
        default: return nil
        }
    }

    private static func value(of name: Text, in body: [UInt8]) -> Text? {
        for line in body.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
            if parts.count == 2, Text(parts[0]).trimmed.equalsIgnoringCase(name) { return Text(parts[1]).trimmed }
        }
        return nil
    }

    /// By the character, or by the number of the event (RFC 4733): 10 is the star, 11 the hash, 12–15 the letters.
    private static func key(_ signal: Text) -> UInt8? {
        let keys = Array("0123456789*#ABCD".utf8)
        if let number = signal.integer(Int.self) { return keys.indices.contains(number) ? keys[number] : nil }
        guard signal.count == 1, let byte = signal.bytes.first else { return nil }
        let upper = byte >= 0x61 && byte <= 0x7A ? byte - 0x20 : byte
        return keys.contains(upper) ? upper : nil
    }
}
