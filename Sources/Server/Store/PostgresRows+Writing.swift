import CallKit
import Foundation
import Gateway
import Primitives
import Runtime

// Rows of PostgreSQL, and changes as statements.
extension StoreChange {
    private typealias Statement = PostgresConnection.Statement

    /// - Parameters:
    ///   - node: the gateway that writes it.
    ///   - run: its present run.
    func statement(node: String, run: String) -> PostgresConnection.Statement {
        switch self {
        case .recent(let call): Self.upsert("recent", keys: 3, Self.row(call) + [("node", node)])
        case .noRecent(let line, let id, let direction):
            Self.delete("recent", [("line", line), ("id", id.uuidString), ("direction", direction.rawValue)])
        case .doNotDisturb(let line, let state):
            Self.upsert(
                "do_not_disturb", keys: 1,
                [("line", line), ("is_on", Self.text(state.isOn)), ("paused_until", Self.text(state.pausedUntil))])
        case .blocked(let line, let caller, true):
            Self.upsert("blocked", keys: 2, [("line", line), ("key", Self.digest(caller)), ("caller", caller)])
        case .blocked(let line, let caller, false): Self.delete("blocked", [("line", line), ("key", Self.digest(caller))])
        case .pushBinding(let line, let binding): Self.upsert("push_binding", keys: 2, Self.row(binding, of: line))
        case .noPushBinding(let line, let binding):
            Self.delete("push_binding", [("line", line), ("key", Self.digest(binding.rowName))])
        case .registration(let saved):
            Self.upsert("registration", keys: 2, Self.row(saved) + [("node", node)], unlessNewer: "refreshed")
        case .noRegistration(let saved):
            Self.delete(
                "registration", [("user_name", saved.user), ("key", Self.digest(saved.rowName))],
                until: ("refreshed", Self.text(saved.refreshed)))
        case .message(let message): Self.upsert("message", keys: 2, Self.row(message) + [("node", node)])
        case .noMessage(let line, let id): Self.delete("message", [("line", line), ("id", id.uuidString)])
        case .dialog(let dialog):
            Self.upsert("dialog", keys: 1, Self.row(dialog) + [("node", node), ("run", run), ("orphan_of", nil)], ifSame: "run")
        // A call that another gateway has taken is that one's: this one is taken for dead.
        case .noDialog(let call): Self.delete("dialog", [("call", call.uuidString), ("run", run)])
        case .trunk(let line, let state): Self.statement(state, ofTrunk: line, run: run)
        }
    }

    /// Takes the oldest calls of a line away, beyond so many.
    static func trim(_ line: String, to recents: Int) -> PostgresConnection.Statement {
        Statement(
            """
            DELETE FROM recent WHERE line = $1
                AND ended < (SELECT ended FROM recent WHERE line = $1 ORDER BY ended DESC OFFSET $2 LIMIT 1)
            """, [clean(line), String(max(0, recents - 1))])
    }

    private static func upsert(
        _ table: String, keys: Int, _ row: [(column: String, value: String?)], unlessNewer time: String? = nil,
        ifSame owner: String? = nil
    ) -> Statement {
        let names = row.map(\.column), places = (1...row.count).map { "$\($0)" }
        let others = names.dropFirst(keys).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let condition =
            time.map { " WHERE \(table).\($0) <= excluded.\($0)" } ?? owner.map { " WHERE \(table).\($0) = excluded.\($0)" } ?? ""
        return Statement(
            """
            INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))
                ON CONFLICT (\(names.prefix(keys).joined(separator: ", "))) DO UPDATE SET \(others)\(condition)
            """, row.map { $0.value.map(clean) })
    }

    private static func delete(
        _ table: String, _ keys: [(column: String, value: String)], until time: (column: String, value: String?)? = nil
    ) -> Statement {
        var conditions = keys.enumerated().map { "\($1.column) = $\($0 + 1)" }, values = keys.map { Optional(clean($0.value)) }
        if let time {
            conditions.append("\(time.column) <= $\(keys.count + 1)")
            values.append(time.value)
        }
        return Statement("DELETE FROM \(table) WHERE \(conditions.joined(separator: " AND "))", values)
    }

    /// PostgreSQL's texts have no NUL.
    static func clean(_ text: String) -> String { text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text }

    /// A key of an index has 2.7 kB at most; a caller's address and a Contact may be as long as a message.
    static func digest(_ name: String) -> String { String(decoding: OpenSSLDigest.hexadecimal(.sha256, Array(name.utf8)), as: UTF8.self) }

    // MARK: Rows

    private static func row(_ call: RecentCall) -> [(column: String, value: String?)] {
        [
            ("line", call.line), ("id", call.id.uuidString), ("direction", call.direction.rawValue),
            ("handle_type", String(call.handleType.rawValue)), ("handle", call.handle), ("name", call.name), ("began", text(call.began)),
            ("connected", text(call.connected)), ("ended", text(call.ended)), ("outcome", call.outcome.rawValue), ("reason", call.reason),
        ]
    }

    private static func row(_ binding: PushBinding, of line: String) -> [(column: String, value: String?)] {
        [
            ("line", line), ("key", digest(binding.rowName)), ("provider", binding.provider.description),
            ("identifier", binding.identifier.description), ("parameter", binding.parameter?.description),
            ("kept_until", text(binding.keptUntil)), ("device", binding.device?.description),
        ]
    }

    private static func row(_ saved: SavedRegistration) -> [(column: String, value: String?)] {
        [
            ("user_name", saved.user), ("key", digest(saved.rowName)), ("contact", saved.contact), ("path", saved.path),
            ("transport", saved.transport), ("local", saved.local), ("remote", saved.remote), ("user_agent", saved.userAgent),
            ("call_id", saved.callID), ("cseq", String(saved.cseq)), ("refreshed", text(saved.refreshed)), ("expiry", text(saved.expiry)),
        ]
    }

    private static func row(_ message: MailboxMessage) -> [(column: String, value: String?)] {
        [
            ("line", message.line), ("id", message.id.uuidString), ("caller", message.caller), ("name", message.name),
            ("called", message.called), ("received", text(message.received)), ("duration", String(message.duration)),
            ("path", message.path), ("is_heard", text(message.isHeard)),
        ]
    }

    private static func row(_ dialog: SavedDialog) -> [(column: String, value: String?)] {
        [
            ("call", dialog.call.uuidString), ("line", dialog.line), ("peer", dialog.peer?.uuidString), ("call_id", dialog.callID),
            ("local", dialog.local), ("remote", dialog.remote), ("cseq", String(dialog.sequence)),
            ("routes", dialog.routes.joined(separator: "\n")), ("target", dialog.target), ("is_secure", text(dialog.isSecure)),
            ("transport", dialog.transport), ("address", dialog.address), ("server_name", dialog.serverName), ("trunk", dialog.trunk),
            ("last_word", dialog.lastWord),
            ("answered", dialog.answered.flatMap { try? String(decoding: JSONEncoder().encode($0), as: UTF8.self) }),
        ]
    }

    static func text(_ date: Date?) -> String? { date.map { String($0.timeIntervalSince1970) } }
    private static func text(_ flag: Bool) -> String { flag ? "true" : "false" }
}
