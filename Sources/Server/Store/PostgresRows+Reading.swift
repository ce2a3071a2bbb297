import CallKit
import Foundation
import Gateway
import Primitives
import Runtime

/// One row of an answer, read column by column.
struct RowReader {
    private var columns: ArraySlice<String?>

    init(_ row: [String?]) { columns = row[...] }

    mutating func optional() -> String? { columns.popFirst() ?? nil }
    mutating func text() -> String { optional() ?? "" }
    mutating func flag() -> Bool { optional() == "t" }
    mutating func number() -> Int { optional().flatMap { Int($0) } ?? 0 }
    mutating func seconds() -> Double { optional().flatMap { Double($0) } ?? 0 }
    mutating func date() -> Date { Date(timeIntervalSince1970: seconds()) }
    mutating func optionalDate() -> Date? { optional().flatMap { Double($0) }.map(Date.init(timeIntervalSince1970:)) }
}

/// The questions that are asked of the tables, and what is made of the answers. A row that says something that we never wrote is left out.
enum PostgresRows {
    typealias Statement = PostgresConnection.Statement
    typealias Rows = PostgresConnection.Rows

    static let recent = "line, id, direction, handle_type, handle, name, began, connected, ended, outcome, reason"
    private static let registration =
        "user_name, contact, path, transport, local, remote, user_agent, call_id, cseq, refreshed, expiry, node <> $1"
    /// A connection leads to the device from the gateway alone that has it; over a Path its proxy has it.
    private static let isReachable = "(node = $1 OR transport = 'udp' OR path <> '')"

    /// The questions for everything, in the order that `all` reads the answers in.
    /// - Parameter everyNode: registrations of connections of other gateways, too.
    static func questions(node: String, recents: Int, everyNode: Bool = false) -> [Statement] {
        [
            Statement(
                """
                SELECT \(recent) FROM (SELECT *, row_number() OVER (PARTITION BY line ORDER BY ended DESC) AS place FROM recent) AS ranked
                    WHERE place <= $1 ORDER BY line, ended DESC
                """, [String(recents)]),
            Statement(
                "SELECT line, id, caller, name, called, received, duration, path, is_heard FROM message ORDER BY line, received DESC"),
            Statement("SELECT line, is_on, paused_until FROM do_not_disturb"),
            Statement("SELECT line, caller FROM blocked"),
            Statement(
                "SELECT line, provider, identifier, parameter, kept_until, device FROM push_binding ORDER BY line, kept_until DESC, key"),
            Statement(
                "SELECT \(registration) FROM registration \(everyNode ? "" : "WHERE \(isReachable) ")ORDER BY user_name, refreshed DESC, key",
                [node]),
        ]
    }

    /// Renews a lease ahead: it holds for so much longer, until it is renewed as usual.
    static func stretchedLease(of run: String, by time: Duration) -> Statement {
        Statement(
            "UPDATE node_lease SET renewed = clock_timestamp() + make_interval(secs => $2) WHERE run = $1",
            [run, String(Double(time.wholeMilliseconds) / 1_000)])
    }

    static func all(_ answers: [Rows]) -> KeptState {
        var kept = KeptState()
        guard answers.count == 6 else { return kept }
        for call in answers[0].compactMap(call) { kept[call.line].recents.append(call) }
        for message in answers[1].compactMap(message) { kept[message.line].messages.append(message) }
        for row in answers[2] {
            var row = RowReader(row)
            kept[row.text()].doNotDisturb = DoNotDisturbState(isOn: row.flag(), pausedUntil: row.optionalDate())
        }
        for row in answers[3] {
            var row = RowReader(row)
            kept[row.text()].blocked.insert(row.text())
        }
        for (line, binding) in answers[4].map(binding) { kept[line].pushBindings.append(binding) }
        kept.registrations = answers[5].map(saved)
        return kept
    }

    // MARK: One topic

    static func question(about topic: StoreTopic, node: String) -> Statement {
        switch topic {
        case .registrations(let user):
            Statement(
                "SELECT \(registration) FROM registration WHERE \(isReachable) AND user_name = $2 ORDER BY refreshed DESC, key",
                [node, StoreChange.clean(user)])
        case .doNotDisturb(let line): about(line, "line, is_on, paused_until FROM do_not_disturb")
        case .blocked(let line): about(line, "line, caller FROM blocked")
        case .pushBindings(let line):
            about(line, "line, provider, identifier, parameter, kept_until, device FROM push_binding", "ORDER BY kept_until DESC, key")
        case .messages(let line):
            about(line, "line, id, caller, name, called, received, duration, path, is_heard FROM message", "ORDER BY received DESC")
        case .trunks: trunks
        case .recent(let line, let id, let direction):
            Statement(
                "SELECT \(recent) FROM recent WHERE line = $1 AND id = $2 AND direction = $3",
                [StoreChange.clean(line), id.uuidString, direction.rawValue])
        }
    }

    private static func about(_ line: String, _ columns: String, _ order: String = "") -> Statement {
        Statement("SELECT \(columns) WHERE line = $1 \(order)", [StoreChange.clean(line)])
    }

    /// Nil where nothing is there that would have to be taken.
    static func update(_ topic: StoreTopic, _ rows: Rows) -> KeptUpdate? {
        switch topic {
        case .registrations(let user): .registrations(user: user, rows.map(saved))
        case .doNotDisturb(let line):
            rows.first.map { columns in
                var row = RowReader(Array(columns.dropFirst()))
                return .doNotDisturb(line: line, DoNotDisturbState(isOn: row.flag(), pausedUntil: row.optionalDate()))
            }
        case .blocked(let line): .blocked(line: line, Set(rows.compactMap { $0.last ?? nil }))
        case .pushBindings(let line): .pushBindings(line: line, rows.map { binding($0).binding })
        case .messages(let line): .messages(line: line, rows.compactMap(message))
        case .recent: rows.first.flatMap(call).map { .recent($0) }
        case .trunks: nil
        }
    }

    // MARK: Rows

    static func calls(_ rows: Rows) -> [RecentCall] { rows.compactMap(call) }

    private static func call(_ columns: [String?]) -> RecentCall? {
        var row = RowReader(columns)
        let line = row.text()
        guard let id = UUID(uuidString: row.text()), let direction = RecentCall.Direction(rawValue: row.text()),
            let type = CXHandle.HandleType(rawValue: row.number())
        else { return nil }
        let (handle, name, began, connected, ended) = (row.text(), row.optional(), row.date(), row.optionalDate(), row.date())
        guard let outcome = RecentCall.Outcome(rawValue: row.text()) else { return nil }
        return RecentCall(
            id: id, line: line, direction: direction, handleType: type, handle: handle, name: name, began: began, connected: connected,
            ended: ended, outcome: outcome, reason: row.text())
    }

    private static func message(_ columns: [String?]) -> MailboxMessage? {
        var row = RowReader(columns)
        let line = row.text()
        guard let id = UUID(uuidString: row.text()) else { return nil }
        return MailboxMessage(
            id: id, line: line, caller: row.text(), name: row.optional(), called: row.text(), received: row.date(), duration: row.seconds(),
            path: row.text(), isHeard: row.flag())
    }

    private static func binding(_ columns: [String?]) -> (line: String, binding: PushBinding) {
        var row = RowReader(columns)
        let line = row.text()
        return (
            line,
            PushBinding(
                provider: Text(row.text()), identifier: Text(row.text()), parameter: row.optional().map { Text($0) }, keptUntil: row.date(),
                device: row.optional().map { Text($0) })
        )
    }

    private static func saved(_ columns: [String?]) -> SavedRegistration {
        var row = RowReader(columns)
        var saved = SavedRegistration(
            user: row.text(), contact: row.text(), path: row.text(), transport: row.text(), local: row.text(), remote: row.text(),
            userAgent: row.optional(), callID: row.text(), cseq: UInt32(clamping: row.number()), refreshed: row.date(), expiry: row.date())
        saved.isElsewhere = row.flag()
        return saved
    }
}
