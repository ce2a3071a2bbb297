import CallKit
import Foundation
import Gateway
import Glibc
import Logging
import Runtime
import Store

/// The store of a gateway: a file of its own, or a database that it may share.
enum ServeStore {
    case file(SQLiteStore)
    case database(PostgresStore)

    /// nil: all stays in memory.
    static func open(_ configuration: ServeConfiguration, _ log: NoticeLog) throws -> ServeStore? {
        if var settings = try configuration.postgresSettings {
            settings.hasLease = true
            return .database(PostgresStore(settings) { [address = settings.address] in say($0, address, log) })
        }
        guard let path = configuration.databaseFile else { return nil }
        do throws(SQLiteStore.OpenError) {
            return .file(
                try SQLiteStore(path: path, recents: configuration.gateway.limits.recents) { notice in
                    switch notice {
                    case .failing(let cause): log.say(.error, "the database cannot be written, and calls go on without it: \(cause)")
                    case .recovered(let lost): log.say(.notice, "the database is written again; \(lost) changes were lost")
                    }
                })
        } catch { throw Failure.cannotRun(error.description) }
    }

    private static func say(_ notice: PostgresStore.Notice, _ address: PostgresAddress, _ log: NoticeLog) {
        switch notice {
        case .down(let cause):
            log.say(.error, "the database \(address) cannot be used, and calls go on without it; changes wait: \(cause.onOneLine)")
        case .back(let waiting): log.say(.notice, "the database \(address) can be used again; \(waiting) changes have waited")
        case .lapsed:
            log.say(
                .error,
                "this gateway could not renew its lease in the database for too long: other gateways have ended the calls that it had, and register its trunks"
            )
        case .namesake(let node):
            log.say(
                .error, "another gateway of the name '\(node)' uses the database \(address): each needs a name of its own (setting 'node')")
        case .refused(let cause): log.say(.error, "the database does not take a row, which is lost: \(cause.onOneLine)")
        }
    }

    /// Loads what was kept into the settings. A database that is away is no reason not to serve.
    func restore(into settings: inout GatewayServer.Settings, _ address: PostgresAddress?) throws {
        switch self {
        case .file(let store):
            do throws(SQLiteStore.OpenError) { settings.kept = try store.load() } catch { throw Failure.cannotRun(error.description) }
            (settings.store, settings.callDirectories) = (store, CallDirectories(store: store))
            do { try settings.callDirectories.restore() } catch {
                throw Failure.cannotRun("the call directories of the database: \(error)")
            }
        case .database(let store):
            do throws(PostgresStore.OpenError) { settings.kept = try store.load() ?? KeptState() } catch {
                let line = "the database \(address.map { "\($0)" } ?? ""): \(error.description)"
                throw error.isUsage ? Failure.usage(line) : Failure.cannotRun(line)
            }
            settings.store = store
        }
    }

    /// Later answers of the database go to the lines.
    func begin(_ server: GatewayServer) {
        guard case .database(let store) = self else { return }
        store.deliver { [weak server] reading, taken in
            switch reading {
            case .whole(let kept): server?.adopt(kept, done: taken)
            case .parts(let updates): server?.adopt(updates, done: taken)
            }
        }
        store.handOrphans { [weak server] orphans in server?.end(orphans) }
        store.handTrunks { [weak server] leases in server?.adopt(leases) }
    }

    var figures: LineStoreFigures {
        switch self {
        case .file(let store): store.figures
        case .database(let store): store.figures
        }
    }

    /// Waits until all is written.
    func end(_ log: NoticeLog) {
        switch self {
        case .file(let store): store.synchronize()
        case .database(let store): store.finish()
        }
        let lost = figures.lost
        if lost > 0 { log.say(.error, "\(lost) changes could not be written to the database in this run") }
    }
}

extension ServeConfiguration {
    /// nil: there is no PostgreSQL.
    /// - Throws: where libpq is not there.
    var postgresSettings: PostgresStore.Settings? {
        get throws {
            guard let address = data.address else { return nil }
            guard PostgresConnection.isLibraryThere else {
                throw ConfigurationError(place: place(of: "data"), message: PostgresError.noLibrary.description)
            }
            return PostgresStore.Settings(address, password: data.password, node: nodeName, recents: gateway.limits.recents)
        }
    }

    /// The name of this gateway among others.
    var nodeName: String {
        if let node = data.node { return node }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, 255)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
