import HTTP

/// A right that a token gives.
public enum AccessScope: String, CaseIterable, Codable, Sendable {
    /// Calls, lines, recents, events, the journal, traces, recordings.
    case read
    /// Transactions, and what has one action.
    case control
    /// Do Not Disturb, block lists, registrations, and messages of mailboxes.
    case lines
    /// The settings; drain, reload and tests of webhooks; removal of recordings; streams to an address that the server connects to.
    case admin

    /// That of a request; nil: any token will do.
    static func needed(by request: IncomingRequest) -> AccessScope? {
        switch request.target.segments.dropFirst().first {
        case "access", "login": return nil
        case "tickets": return .read
        case "settings": return .admin
        default: break
        }
        if isStream(request.target) { return request.head.method == .post ? .admin : .control }
        if request.head.method == .get || request.head.method == .head { return .read }
        switch request.target.segments.dropFirst().first {
        case "lines": return request.target.segments.last == "call-back" ? .control : .lines
        case "mailboxes": return .lines
        case "server", "directories", "recordings", "webhooks": return .admin
        default: return .control
        }
    }

    /// A program that is let into a call: more than a read, though it comes with a GET.
    static func isStream(_ target: RequestTarget) -> Bool {
        target.segments.count == 4 && target.segments.starts(with: ["v1", "calls"]) && target.segments.last == "stream"
    }
}
