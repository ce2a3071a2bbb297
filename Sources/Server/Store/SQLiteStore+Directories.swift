import CallKit
import Foundation
import GRDB

// Call directories, packed into pieces of many entries: a row for each number would be ten times the size and the time.
extension SQLiteStore: CallDirectoryStore {
    /// Reads all directories, each with its entries. Waits for the disk.
    public func load(limits: CallDirectoryLimits) throws -> [CallDirectoryRecord] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM directory ORDER BY identifier").map { row in
                let identifier: String = row["identifier"], loaded: Double? = row["loaded"]
                var record = CallDirectoryRecord(identifier: identifier, failure: Self.failure(row))
                if let loaded {
                    (record.data, record.loaded) = (try Self.data(of: identifier, limits, database), Date(timeIntervalSince1970: loaded))
                }
                return record
            }
        }
    }

    /// Writes a directory's entries in place of those before, in one transaction. Waits for the disk.
    public func save(_ data: CallDirectoryData, of identifier: String, at date: Date) throws {
        try database.write { database in
            try database.execute(sql: "DELETE FROM directoryPiece WHERE directory = ?", arguments: [identifier])
            try database.execute(
                sql: "INSERT OR REPLACE INTO directory (identifier, loaded) VALUES (?, ?)",
                arguments: [identifier, date.timeIntervalSince1970])
            var blocked = PieceWriter(database, directory: identifier, list: "block")
            try data.forEachBlocked { try blocked.add($0, label: nil) }
            try blocked.finish()
            var identified = PieceWriter(database, directory: identifier, list: "identify")
            try data.forEachIdentified { try identified.add($0, label: $1) }
            try identified.finish()
        }
    }

    /// Writes why a load failed; the entries stay.
    public func save(_ failure: CallDirectoryFailure, of identifier: String) throws {
        try database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO directory (identifier, failureDomain, failureCode, failureMessage, failureDate) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (identifier) DO UPDATE SET failureDomain = excluded.failureDomain, failureCode = excluded.failureCode,
                        failureMessage = excluded.failureMessage, failureDate = excluded.failureDate
                    """,
                arguments: [identifier, failure.domain, failure.code, failure.message, failure.date.timeIntervalSince1970])
        }
    }

    private static func failure(_ row: Row) -> CallDirectoryFailure? {
        guard let domain: String = row["failureDomain"] else { return nil }
        return CallDirectoryFailure(
            domain: domain, code: row["failureCode"] ?? 0, message: row["failureMessage"] ?? "", date: date(row, "failureDate"))
    }

    private static func data(of identifier: String, _ limits: CallDirectoryLimits, _ database: Database) throws -> CallDirectoryData {
        var builder = CallDirectoryBuilder(limits: limits)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT list, entries FROM directoryPiece WHERE directory = ? ORDER BY list, position", arguments: [identifier])
        while let row = try rows.next() {
            let isBlocked = row["list"] as String == "block"
            let bytes = [UInt8](row["entries"] as Data)
            try PieceReader.read(bytes, hasLabels: !isBlocked) { number, label in
                if isBlocked { try builder.block(number) } else { try builder.identify(number, label: label) }
            }
        }
        return builder.build()
    }
}

/// Gathers ascending entries into pieces: the difference to the number before, and the label with its length, all as LEB128.
private struct PieceWriter {
    private static let size = 64 * 1024
    private let database: Database
    private let directory: String, list: String
    private var bytes: [UInt8] = []
    private var last: Int64 = 0
    private var position = 0

    init(_ database: Database, directory: String, list: String) { (self.database, self.directory, self.list) = (database, directory, list) }

    mutating func add(_ number: Int64, label: String?) throws {
        append(UInt64(number - last))
        last = number
        if let label {
            append(UInt64(label.utf8.count))
            bytes.append(contentsOf: label.utf8)
        }
        if bytes.count >= Self.size { try finish() }
    }

    /// Each piece begins from zero, so that it can be read by itself.
    mutating func finish() throws {
        guard !bytes.isEmpty else { return }
        try database.cachedStatement(sql: "INSERT INTO directoryPiece VALUES (?, ?, ?, ?)").execute(arguments: [
            directory, list, position, Data(bytes),
        ])
        position += 1
        bytes.removeAll(keepingCapacity: true)
        last = 0
    }

    private mutating func append(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

private enum PieceReader {
    struct Broken: Error, CustomStringConvertible { let description = "a call directory is broken" }

    static func read(_ bytes: [UInt8], hasLabels: Bool, _ body: (Int64, String) throws -> Void) throws {
        var position = 0
        var last: Int64 = 0
        while position < bytes.count {
            guard let difference = Int64(exactly: try value(bytes, &position)) else { throw Broken() }
            let (number, overflow) = last.addingReportingOverflow(difference)
            guard !overflow else { throw Broken() }
            last = number
            guard hasLabels else { try body(number, ""); continue }
            guard let length = Int(exactly: try value(bytes, &position)), length <= bytes.count - position else { throw Broken() }
            try body(number, String(decoding: bytes[position..<position + length], as: UTF8.self))
            position += length
        }
    }

    private static func value(_ bytes: [UInt8], _ position: inout Int) throws -> UInt64 {
        var (value, shift) = (UInt64(0), UInt64(0))
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            guard byte > 0x7F else { return value }
            shift += 7
        }
        throw Broken()
    }
}
