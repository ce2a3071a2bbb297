import Primitives

/// The limits of a mailbox's messages, and its owners.
public struct MailboxSettings: Hashable, Sendable {
    /// The longest message; nil: no limit.
    public var maximum: Duration? = .seconds(180)
    /// The silence that ends a message; nil: none does.
    public var silenceEnd: Duration?
    /// The least sound of a message that is kept; zero keeps every one.
    public var minimum: Duration = .seconds(1)

    /// Numbers of the lines whose telephones may ask how many messages wait (RFC 3842).
    public var owners: [Text] = []

    /// Three minutes, no end by silence, a second of sound.
    public init() {}
}
