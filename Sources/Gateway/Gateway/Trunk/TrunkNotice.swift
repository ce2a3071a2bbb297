import Primitives

/// A change of a trunk that an operator should see.
public struct TrunkNotice: Hashable, Sendable, CustomStringConvertible {
    /// As the journal's `trunk.state` has it.
    public enum State: String, Sendable {
        case resolved, unresolved, registered, refused, unregistered, flowFailed = "flow-failed", up, down, held, elsewhere
        case standsBack = "stands-back"
    }

    /// The number of the trunk's line.
    public let line: Text
    /// The change.
    public let state: State
    /// The server, where it is about one.
    public let remote: Text?
    /// The status of the response that caused it; nil where there was none.
    public let status: Int?
    /// Servers that were found, or the name that has none.
    public let text: Text?
    /// The gateway that registers it, of those that share a store.
    public let node: Text?

    init(line: Text, state: State, _ details: JournalEvent.Details) {
        (self.line, self.state) = (line, state)
        (remote, text, node) = (details.text(.remote), details.text(.text), details.text(.node))
        status = details.number(.status).map { Int($0) }
    }

    /// Calls over it may fail.
    public var isTrouble: Bool {
        switch state {
        case .unresolved, .refused, .flowFailed, .down, .standsBack: true
        case .resolved, .registered, .unregistered, .up, .held, .elsewhere: false
        }
    }

    /// The subject: a notice replaces an earlier one of the same subject.
    var subject: Text {
        switch state {
        case .resolved, .unresolved: "names"
        case .registered, .refused, .unregistered, .flowFailed: "registration"
        case .up, .down: remote ?? .empty
        case .held, .elsewhere, .standsBack: "lease"
        }
    }

    public var description: String {
        let server = remote.map { " \($0)" } ?? ""
        return switch state {
        case .resolved: "trunk \(line): its servers are \(text ?? "")"
        case .unresolved: "trunk \(line): no server of \(text ?? "it") was found"
        case .registered: "trunk \(line): registered with\(server)"
        case .refused: "trunk \(line): the registration with\(server) failed\(status.map { " with \($0)" } ?? "")"
        case .unregistered: "trunk \(line): the registration with\(server) was taken back"
        case .flowFailed: "trunk \(line): the way to\(server) is dead, and opened anew"
        case .up: "trunk \(line):\(server) answers again"
        case .held: "trunk \(line): this gateway registers it and checks its servers"
        case .elsewhere: "trunk \(line): the gateway \(node ?? "") registers it and checks its servers"
        case .standsBack: "trunk \(line): no answer from the carrier, and another gateway may register it and check its servers"
        case .down: "trunk \(line):\(server) does not answer\(status.map { " (\($0))" } ?? "")"
        }
    }
}
