import Dispatch
import Foundation
import GRDB
import Gateway
import Synchronization

/// The store of lines, in one SQLite file: recents, block lists, Do Not Disturb, registrations, push bindings, call directories.
///
/// `keep` returns at once; changes are written behind it, in order, all that have gathered in one transaction. A write that fails is
/// counted and told once until one succeeds; nothing else stops for it.
public final class SQLiteStore: LineStore, Sendable {
    /// Notices that an operator should see in the log.
    public enum Notice: Sendable, Equatable {
        /// Changes are lost from here on: one sentence why.
        case failing(String)
        /// It is written again; so many changes were lost.
        case recovered(lost: Int)
    }

    /// Why the file cannot be used; the description is one line for a person.
    public struct OpenError: Error, CustomStringConvertible, Sendable {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private struct State {
        var pending: [LineChange] = []
        var isScheduled = false
        /// Since the last success.
        var lost = 0
        var lostInAll = 0
    }

    private static let mostPending = 50_000
    let database: DatabaseQueue
    private let queue = DispatchQueue(label: "store")
    private let state = Mutex(State())
    private let recents: Int
    private let notice: @Sendable (Notice) -> Void

    /// - Parameters:
    ///   - recents: calls that are kept of each line.
    ///   - notice: called on the store's queue.
    public init(path: String, recents: Int, notice: @escaping @Sendable (Notice) -> Void) throws(OpenError) {
        (self.recents, self.notice) = (recents, notice)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        do {
            if !FileManager.default.fileExists(atPath: path) {
                // It names callers and holds push tokens.
                _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            database = try DatabaseQueue(path: path, configuration: configuration)
            guard try !database.read(Schema.migrator.hasBeenSuperseded) else {
                throw OpenError(description: "it was written by a later version of hookswitch")
            }
            try Schema.migrator.migrate(database)
            try database.write {
                try $0.execute(sql: "INSERT OR REPLACE INTO opened (id, date) VALUES (1, ?)", arguments: [Date().timeIntervalSince1970])
            }
        } catch { throw OpenError(description: "the database \(path): \(Self.cause(error))") }
    }

    /// Reads what a file has, and changes nothing; nil: its tables are of an earlier version.
    public static func inspect(path: String) throws(OpenError) -> KeptState? {
        var configuration = Configuration()
        (configuration.busyMode, configuration.readonly) = (.timeout(5), true)
        do {
            return try DatabaseQueue(path: path, configuration: configuration).read { database in
                guard try !Schema.migrator.hasBeenSuperseded(database) else {
                    throw OpenError(description: "it was written by a later version of hookswitch")
                }
                return try Schema.migrator.hasCompletedMigrations(database) ? try lines(in: database, recents: .max) : nil
            }
        } catch { throw OpenError(description: "the database \(path): \(cause(error))") }
    }

    /// Loads what was kept. Once, at the start; blocks.
    public func load() throws(OpenError) -> KeptState {
        do { return try database.read { try Self.lines(in: $0, recents: recents) } } catch {
            throw OpenError(description: "the database \(database.path): \(Self.cause(error))")
        }
    }

    /// Changes that could not be written, in this run.
    public var lost: Int { figures.lost }

    /// Present figures; it is down from a write that failed until one succeeds.
    public var figures: LineStoreFigures {
        state.withLock { LineStoreFigures(isUp: $0.lost == 0, waiting: $0.pending.count, lost: $0.lostInAll) }
    }

    /// Takes a change to be written; returns at once. One too many is lost, and counted.
    public func keep(_ change: LineChange) {
        let starts = state.withLock { state -> Bool in
            guard state.pending.count < Self.mostPending else {
                state.lost += 1
                state.lostInAll += 1
                return false
            }
            state.pending.append(change)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if starts { queue.async { self.drain() } }
    }

    /// Waits until all that was given to `keep` is written, or lost.
    public func synchronize() { queue.sync { drain() } }

    private func drain() {
        let changes = state.withLock { state -> [LineChange] in
            state.isScheduled = false
            defer { state.pending = [] }
            return state.pending
        }
        guard !changes.isEmpty else { return }
        do {
            try database.write { database in
                for change in changes { try Self.write(change, to: database, recents: recents) }
            }
            let lost = state.withLock { state in
                defer { state.lost = 0 }
                return state.lost
            }
            if lost > 0 { notice(.recovered(lost: lost)) }
        } catch { fail(changes.count, error) }
    }

    private func fail(_ count: Int, _ error: any Error) {
        let isFirst = state.withLock { state in
            defer {
                state.lost += count
                state.lostInAll += count
            }
            return state.lost == 0
        }
        if isFirst { notice(.failing(Self.cause(error))) }
    }

    /// SQLite's own words, without the statement and its arguments.
    static func cause(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.message ?? "SQLite error \(error.resultCode.rawValue)"
    }
}
