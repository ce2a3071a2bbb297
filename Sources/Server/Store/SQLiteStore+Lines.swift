import CallKit
import Foundation
import GRDB
import Gateway
import Primitives

// The rows of lines: how changes are written, and how all is read at the start.
extension SQLiteStore {
    static func write(_ change: LineChange, to database: Database, recents: Int) throws {
        switch change {
        case .recent(let call): try write(call, to: database, recents: recents)
        case .noRecent(let line, let id, let direction):
            try database.execute(
                sql: "DELETE FROM recent WHERE line = ? AND id = ? AND direction = ?", arguments: [line, id.uuidString, direction.rawValue])
        case .doNotDisturb(let line, let state):
            try database.execute(
                sql: "INSERT OR REPLACE INTO doNotDisturb VALUES (?, ?, ?)",
                arguments: [line, state.isOn, state.pausedUntil?.timeIntervalSince1970])
        case .blocked(let line, let caller, true):
            try database.execute(sql: "INSERT OR IGNORE INTO blocked VALUES (?, ?)", arguments: [line, caller])
        case .blocked(let line, let caller, false):
            try database.execute(sql: "DELETE FROM blocked WHERE line = ? AND caller = ?", arguments: [line, caller])
        case .pushBindings(let line, let bindings): try write(bindings, of: line, to: database)
        case .message(let message): try write(message, to: database)
        case .noMessage(let line, let id): try remove(message: id, of: line, from: database)
        case .registrations(let user, let registrations): try write(registrations, of: user, to: database)
        // The rows of dialogs and of trunks are for other gateways, and a file has one.
        case .dialog, .noDialog, .trunk: break
        }
    }

    private static func write(_ call: RecentCall, to database: Database, recents: Int) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO recent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                call.id.uuidString, call.line, call.direction.rawValue, call.handleType.rawValue, call.handle, call.name,
                call.began.timeIntervalSince1970,
                call.connected?.timeIntervalSince1970, call.ended.timeIntervalSince1970, call.outcome.rawValue, call.reason,
            ])
        try database.execute(
            sql: """
                DELETE FROM recent WHERE line = ? AND ended < (SELECT ended FROM recent WHERE line = ? ORDER BY ended DESC LIMIT 1 OFFSET ?)
                """, arguments: [call.line, call.line, max(0, recents - 1)])
    }

    private static func write(_ bindings: [PushBinding], of line: String, to database: Database) throws {
        try database.execute(sql: "DELETE FROM pushBinding WHERE line = ?", arguments: [line])
        for (position, binding) in bindings.enumerated() {
            try database.execute(
                sql: "INSERT INTO pushBinding VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    line, position, binding.provider.description, binding.identifier.description, binding.parameter?.description,
                    binding.keptUntil.timeIntervalSince1970, binding.device?.description,
                ])
        }
    }

    private static func write(_ registrations: [SavedRegistration], of user: String, to database: Database) throws {
        try database.execute(sql: "DELETE FROM registration WHERE user = ?", arguments: [user])
        for (position, saved) in registrations.enumerated() {
            try database.execute(
                sql: "INSERT INTO registration VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    user, position, saved.contact, saved.path, saved.transport, saved.local, saved.remote, saved.userAgent, saved.callID,
                    saved.cseq,
                    saved.refreshed.timeIntervalSince1970, saved.expiry.timeIntervalSince1970,
                ])
        }
    }

    // MARK: Reading

    static func lines(in database: Database, recents: Int) throws -> KeptState {
        var kept = KeptState()
        try readRecents(in: database, limit: recents, into: &kept)
        try readMessages(in: database, into: &kept)
        for row in try Row.fetchAll(database, sql: "SELECT * FROM doNotDisturb") {
            let paused: Double? = row["pausedUntil"]
            kept[row["line"]].doNotDisturb = DoNotDisturbState(
                isOn: row["isOn"], pausedUntil: paused.map(Date.init(timeIntervalSince1970:)))
        }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM blocked") { kept[row["line"]].blocked.insert(row["caller"]) }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM pushBinding ORDER BY line, position") {
            let (parameter, device): (String?, String?) = (row["parameter"], row["device"])
            kept[row["line"]].pushBindings.append(
                PushBinding(
                    provider: Text(row["provider"] as String), identifier: Text(row["identifier"] as String),
                    parameter: parameter.map { Text($0) },
                    keptUntil: date(row, "keptUntil"), device: device.map { Text($0) }))
        }
        kept.registrations = try Row.fetchAll(database, sql: "SELECT * FROM registration ORDER BY user, position").map(registration)
        return kept
    }

    /// A row that says something that we never wrote is left out.
    private static func readRecents(in database: Database, limit: Int, into kept: inout KeptState) throws {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM recent ORDER BY line, ended DESC, rowid DESC")
        while let row = try rows.next() {
            guard let call = recent(row), kept[call.line].recents.count < limit else { continue }
            kept[call.line].recents.append(call)
        }
    }

    private static func recent(_ row: Row) -> RecentCall? {
        guard let id = UUID(uuidString: row["id"]), let direction = RecentCall.Direction(rawValue: row["direction"]),
            let type = CXHandle.HandleType(rawValue: row["handleType"]), let outcome = RecentCall.Outcome(rawValue: row["outcome"])
        else { return nil }
        let connected: Double? = row["connected"]
        return RecentCall(
            id: id, line: row["line"], direction: direction, handleType: type, handle: row["handle"], name: row["name"],
            began: date(row, "began"),
            connected: connected.map(Date.init(timeIntervalSince1970:)), ended: date(row, "ended"), outcome: outcome, reason: row["reason"])
    }

    private static func registration(_ row: Row) -> SavedRegistration {
        SavedRegistration(
            user: row["user"], contact: row["contact"], path: row["path"], transport: row["transport"], local: row["local"],
            remote: row["remote"],
            userAgent: row["userAgent"], callID: row["callID"], cseq: row["cseq"], refreshed: date(row, "refreshed"),
            expiry: date(row, "expiry"))
    }

    static func date(_ row: Row, _ column: String) -> Date { Date(timeIntervalSince1970: row[column]) }
}
