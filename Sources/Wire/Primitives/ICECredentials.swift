/// The credentials of one side's connectivity checks: `a=ice-ufrag` and `a=ice-pwd` (RFC 8839 §5.4).
///
/// The password has no description, and reflection shows nothing of it.
public struct ICECredentials: Hashable, Sendable {
    private struct Words: Hashable, Sendable {
        let user: Text
        let password: Text
    }

    /// Few calls have any, and every call has several places for them.
    private let words: Boxed<Words>

    /// `ice-ufrag`: 4 to 256 letters, digits, `+` and `/`.
    public var user: Text { words.value.user }
    /// `ice-pwd`: 22 to 256 of the same. The key of message integrity (RFC 8445 §7.2.2): for no log.
    public var password: Text { words.value.password }

    /// Nil unless the two have the letters and the lengths that the RFC allows.
    public init?(user: Text, password: Text) {
        guard 4...256 ~= user.count, 22...256 ~= password.count, (user.bytes + password.bytes).allSatisfy(Self.isLetter) else { return nil }
        words = Boxed(Words(user: user, password: password))
    }

    /// 24 and 132 bits of chance (RFC 8445 §5.3).
    public init(using random: inout some RandomNumberGenerator) {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        func text(_ count: Int) -> Text { Text((0..<count).map { _ in letters[Int(random.next() & 63)] }) }
        let user = text(4)
        words = Boxed(Words(user: user, password: text(22)))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

extension ICECredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "credentials of \(user)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
