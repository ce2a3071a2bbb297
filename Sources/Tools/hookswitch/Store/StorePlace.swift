import Foundation
import Gateway
import Primitives
import Store
import Synchronization

/// A store that a command reads or writes, with one line for what is wrong.
enum StorePlace {
    case file(folder: String)
    case database(PostgresStore.Settings)

    /// The result of a look into a store.
    enum Contents {
        case kept(KeptState)
        /// The tables are not those of this program: one sentence.
        case otherVersion(PostgresStore.OtherVersion, String)
    }

    var name: String {
        switch self {
        case .file(let folder): Self.path(in: folder)
        case .database(let settings): settings.address.description
        }
    }

    private static func path(in folder: String) -> String { folder + "/hookswitch.sqlite" }

    /// Keeps gateways from the folder, or fails where one has it; several may use a database.
    func claim() throws -> LockFile? {
        guard case .file(let folder) = self else { return nil }
        try NamedFile.makeFolder(folder)
        return try LockFile(folder)
    }

    func read(migrating: Bool) throws -> Contents {
        switch self {
        case .file(let folder): try Self.read(folder, migrating: migrating)
        case .database(let settings): try Self.open(settings, migrating: migrating).contents
        }
    }

    private static func read(_ folder: String, migrating: Bool) throws -> Contents {
        let path = path(in: folder)
        do throws(SQLiteStore.OpenError) {
            if migrating { return .kept(try SQLiteStore(path: path, recents: Int(Int32.max)) { _ in }.load()) }
            guard FileManager.default.fileExists(atPath: path) else { throw .init(description: "there is no \(path)") }
            let kept = try SQLiteStore.inspect(path: path)
            return kept.map { .kept($0) }
                ?? .otherVersion(.earlier, "its tables are of an earlier version: 'hookswitch store migrate' brings them up to date")
        } catch { throw Failure.cannotRun(error.description) }
    }

    /// The store tells by a notice why a database is away.
    private static func open(
        _ wanted: PostgresStore.Settings, migrating: Bool
    ) throws -> (store: PostgresStore, contents: Contents) {
        let cause = Cause()
        var settings = wanted
        (settings.migrates, settings.readsAllNodes) = (migrating, true)
        let store = PostgresStore(settings) { if case .down(let words) = $0 { cause.set(words) } }
        let name = "the database \(settings.address)"
        do throws(PostgresStore.OpenError) {
            guard let kept = try store.load(patience: .seconds(15)) else { throw .init(cause.words) }
            return (store, .kept(kept))
        } catch {
            if let version = error.otherVersion, !migrating { return (store, .otherVersion(version, error.description)) }
            throw error.isUsage ? Failure.usage("\(name): \(error.description)") : Failure.cannotRun("\(name): \(error.description)")
        }
    }

    private final class Cause: Sendable {
        private let text = Mutex("it does not answer")
        func set(_ words: String) { text.withLock { $0 = words.onOneLine } }
        var words: String { text.withLock { $0 } }
    }

    /// Writes all changes, piece by piece.
    func write(_ changes: [LineChange]) throws {
        let pieces = stride(from: 0, to: changes.count, by: 1_000).map { changes[$0..<min($0 + 1_000, changes.count)] }
        let lost: Int
        switch self {
        case .file(let folder):
            do throws(SQLiteStore.OpenError) {
                let store = try SQLiteStore(path: Self.path(in: folder), recents: Int(Int32.max)) { _ in }
                for piece in pieces {
                    for change in piece { store.keep(change) }
                    store.synchronize()
                }
                lost = store.lost
            } catch { throw Failure.cannotRun(error.description) }
        case .database(let settings):
            let store = try Self.open(settings, migrating: true).store
            for piece in pieces {
                for change in piece { store.keep(change) }
                store.finish(patience: .seconds(60))
            }
            lost = store.figures.lost
        }
        if lost > 0 { throw Failure.cannotRun("\(lost) of \(changes.count) entries could not be written to \(name)") }
    }
}

/// How much is in a store.
struct StoreReport: Encodable {
    var place: String
    /// Why this program cannot use it as it is.
    var fault: String?
    var registrations = 0, pushBindings = 0, doNotDisturb = 0, blocked = 0, recents = 0, messages = 0

    init(_ place: String, fault: String) { (self.place, self.fault) = (place, fault) }

    init(_ place: String, _ kept: KeptState) {
        self.place = place
        registrations = kept.registrations.count
        for record in kept.lines.values {
            pushBindings += record.pushBindings.count
            doNotDisturb += record.doNotDisturb == nil ? 0 : 1
            blocked += record.blocked.count
            recents += record.recents.count
            messages += record.messages.count
        }
    }

    var text: String {
        if let fault { return "\(place): \(fault)" }
        return """
            \(place) is good
              registrations   \(registrations)
              push bindings   \(pushBindings)
              do not disturb  \(doNotDisturb)
              blocked         \(blocked)
              recents         \(recents)
              messages        \(messages)
            """
    }
}
