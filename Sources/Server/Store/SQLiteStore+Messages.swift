import Foundation
import GRDB
import Gateway

// Messages of mailboxes. Their sound is in files of its own.
extension SQLiteStore {
    static func write(_ message: MailboxMessage, to database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                message.line, message.id.uuidString, message.caller, message.name, message.called, message.received.timeIntervalSince1970,
                message.duration, message.path, message.isHeard,
            ])
    }

    static func remove(message id: UUID, of line: String, from database: Database) throws {
        try database.execute(sql: "DELETE FROM message WHERE line = ? AND id = ?", arguments: [line, id.uuidString])
    }

    /// A row that says something that we never wrote is left out.
    static func readMessages(in database: Database, into kept: inout KeptState) throws {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM message ORDER BY line, received DESC, rowid DESC")
        while let row = try rows.next() {
            guard let id = UUID(uuidString: row["id"]) else { continue }
            let message = MailboxMessage(
                id: id, line: row["line"], caller: row["caller"], name: row["name"], called: row["called"], received: date(row, "received"),
                duration: row["duration"], path: row["path"], isHeard: row["isHeard"])
            kept[message.line].messages.append(message)
        }
    }
}
