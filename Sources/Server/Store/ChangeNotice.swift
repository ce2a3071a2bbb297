import Foundation
import Gateway
import Runtime

/// A change that a gateway tells the others of that share its database: the payload of a notification.
struct ChangeNotice: Equatable {
    static let channel = "hookswitch"
    /// PostgreSQL takes less than 8,000 bytes.
    private static let longest = 7_900

    /// The run of the gateway that made the change; it hears of it, too.
    var run: String
    /// nil: anything may have changed.
    var topic: StoreTopic?

    init(run: String, topic: StoreTopic?) { (self.run, self.topic) = (run, topic) }

    /// Nil for what no gateway has said.
    init?(payload: String) {
        guard let words = try? JSONDecoder().decode([String].self, from: Data(payload.utf8)), words.count >= 2 else { return nil }
        run = words[0]
        switch (words[1], words.count) {
        case ("all", 2): topic = nil
        case ("trunks", 2): topic = .trunks
        case ("registrations", 3): topic = .registrations(user: words[2])
        case ("do-not-disturb", 3): topic = .doNotDisturb(line: words[2])
        case ("blocked", 3): topic = .blocked(line: words[2])
        case ("push-bindings", 3): topic = .pushBindings(line: words[2])
        case ("messages", 3): topic = .messages(line: words[2])
        case ("recent", 5):
            guard let id = UUID(uuidString: words[3]), let direction = RecentCall.Direction(rawValue: words[4]) else { return nil }
            topic = .recent(line: words[2], id: id, direction: direction)
        default: return nil
        }
    }

    var payload: String {
        let text = Self.text([run] + words)
        return text.utf8.count <= Self.longest ? text : Self.text([run, "all"])
    }

    private static func text(_ words: [String]) -> String {
        String(decoding: (try? JSONEncoder().encode(words)) ?? Data(), as: UTF8.self)
    }

    private var words: [String] {
        switch topic {
        case nil: ["all"]
        case .trunks: ["trunks"]
        case .registrations(let user): ["registrations", user]
        case .doNotDisturb(let line): ["do-not-disturb", line]
        case .blocked(let line): ["blocked", line]
        case .pushBindings(let line): ["push-bindings", line]
        case .messages(let line): ["messages", line]
        case .recent(let line, let id, let direction): ["recent", line, id.uuidString, direction.rawValue]
        }
    }

    var statement: PostgresConnection.Statement {
        PostgresConnection.Statement("SELECT pg_notify('\(Self.channel)', $1)", [StoreChange.clean(payload)])
    }
}

extension StoreChange {
    /// Whether others are told: a call that goes on comes to the recents at its end.
    var isTold: Bool {
        switch self {
        case .recent(let call): call.reason != RecentCall.gatewayKilled
        case .noRecent, .dialog, .noDialog: false
        default: true
        }
    }
}
