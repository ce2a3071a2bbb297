import Foundation
import Primitives

/// A message that a caller has left in the mailbox of a line.
public struct MailboxMessage: Sendable, Equatable, Identifiable {
    /// The call that it was left in.
    public var id: UUID
    /// The number of the line.
    public var line: String
    /// The number of the caller; empty for one who is not to be known.
    public var caller: String
    /// The name of the caller, where there is one.
    public var name: String?
    /// The number that was called.
    public var called: String
    /// The moment at which it began.
    public var received: Date
    /// Its length.
    public var duration: TimeInterval
    /// The path of its file.
    public var path: String
    /// Somebody has marked it as heard.
    public var isHeard: Bool

    public init(
        id: UUID, line: String, caller: String, name: String?, called: String, received: Date, duration: TimeInterval = 0,
        path: String = "", isHeard: Bool = false
    ) {
        (self.id, self.line, self.caller, self.name, self.called) = (id, line, caller, name, called)
        (self.received, self.duration, self.path, self.isHeard) = (received, duration, path, isHeard)
    }
}

/// A mailbox as somebody outside sees it at a moment.
public struct MailboxSummary: Sendable {
    /// The number and the name of its line.
    public var line: Text, name: Text?
    /// The newest first.
    public var messages: [MailboxMessage]

    public init(line: Text, name: Text?, messages: [MailboxMessage]) { (self.line, self.name, self.messages) = (line, name, messages) }
}
