import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization

/// The store of lines in a PostgreSQL database, which several gateways may share: registrations, push bindings, Do Not Disturb, block lists,
/// recents and the rows of messages.
///
/// `keep` returns at once; all that has gathered is written behind it in one transaction, on a lane of the store's own. While the database
/// is away changes wait, those of a row in each other's place, and the store looks for it again and again. Nothing else stops for it.
public final class PostgresStore: LineStore, Sendable {
    /// Notices that an operator should see in the log.
    public enum Notice: Sendable, Equatable {
        /// The database cannot be used from here on, or could not be at the start: one sentence why.
        case down(String)
        /// It can be used again; so many changes have waited.
        case back(waiting: Int)
        /// The database does not take a row: one sentence why. Told for the first in a minute.
        case refused(String)
        /// Other gateways have taken this one for dead, as it could not renew its lease, and have ended its calls.
        case lapsed
        /// Another process uses the database under the name of this gateway.
        case namesake(String)
    }

    /// Why the database cannot be used, and will not be able to by itself; the description is one line for a person.
    public struct OpenError: Error, CustomStringConvertible, Sendable {
        public let description: String
        /// The configuration is wrong, and not the database.
        public let isUsage: Bool
        /// The tables are not those of this program, but of an earlier or a later one.
        public let otherVersion: OtherVersion?

        public init(_ description: String, isUsage: Bool = false, otherVersion: OtherVersion? = nil) {
            (self.description, self.isUsage, self.otherVersion) = (description, isUsage, otherVersion)
        }

        init(_ error: PostgresError) {
            let versions: [String?: OtherVersion] = [PostgresError.laterVersion: .later, PostgresError.earlierVersion: .earlier]
            self.init(error.description, isUsage: error.isUsage, otherVersion: versions[error.code])
        }
    }

    /// The program whose tables a database has.
    public enum OtherVersion: Sendable {
        /// They are brought to this program's version when it serves.
        case earlier
        /// This program does not use them.
        case later
    }

    /// How a store is made.
    public struct Settings: Sendable {
        public var address: PostgresAddress
        /// nil: libpq looks for it as it does (`passfile`, `PGPASSWORD`, `~/.pgpass`).
        public var password: String?
        /// The name of this gateway among those that share the database.
        public var node: String
        /// Calls that are kept of each line.
        public var recents: Int
        /// Tables that are not there, or are of an earlier version, are made.
        public var migrates = true
        /// Registrations of connections that other gateways have are read, too.
        public var readsAllNodes = false
        /// It is a gateway with calls: it has a lease, and others end its calls when that runs out.
        public var hasLease = false
        /// The times between attempts to find a database that is away, from the first to the longest.
        public var backOff: ClosedRange<Duration> = .milliseconds(250) ... .seconds(10)
        /// The time that the database has for an answer.
        public var timeout: Duration = .seconds(15)
        /// The time between removals of rows of gateways that have died.
        public var cleaning: Duration = .seconds(3_600)

        /// The operating system's source, or a seeded one.
        public var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

        public init(_ address: PostgresAddress, password: String? = nil, node: String, recents: Int) {
            (self.address, self.password, self.node, self.recents) = (address, password, node, recents)
        }
    }

    /// The state that was read.
    public enum Reading: Sendable, Equatable {
        /// Everything that there is.
        case whole(KeptState)
        case parts([KeptUpdate])
    }

    struct State {
        var queue = StoreQueue()
        var isUp = false
        /// The lane has been told of changes, and has not looked yet.
        var isWoken = false
        var onReading: (@Sendable (Reading, _ taken: @escaping @Sendable () -> Void) -> Void)?
        var onOrphans: (@Sendable (OrphanedCalls) -> Void)?
        var onTrunks: (@Sendable ([TrunkLease]) -> Void)?
        /// Lines whose trunks this gateway would register.
        var trunks: [String] = []
    }

    let state = Mutex(State())
    private let lane: Lane<PostgresWorker>
    public let sharesCalls: Bool
    public var leasesTrunks: Bool { sharesCalls }

    /// - Parameter notice: called on the store's lane.
    public init(_ settings: Settings, notice: @escaping @Sendable (Notice) -> Void) {
        let box = WorkerBox()
        sharesCalls = settings.hasLease
        lane = Lane(label: "database", hasPoller: true) { lane, _ in PostgresWorker(settings, box, on: lane, notice) }
        box.store = self
    }

    /// The store, for the worker that is made before it.
    final class WorkerBox: Sendable {
        private struct Reference { weak var store: PostgresStore? }
        private let reference = Mutex(Reference())

        var store: PostgresStore? {
            get { reference.withLock { $0.store } }
            set { reference.withLock { $0.store = newValue } }
        }
    }

    deinit { lane.queue.async { [lane] in lane.leave() } }

    /// Looks for the database for the first time, brings its tables to this program's version, and reads what was kept. Once; blocks.
    ///
    /// - Returns: nil where the database is away, or takes longer than `patience`: it is looked for again and again, and what is read then
    ///   comes by ``deliver(to:)``.
    /// - Throws: what waiting does not mend: no libpq, a wrong password, a later program's tables.
    public func load(patience: Duration = .seconds(5)) throws(OpenError) -> KeptState? {
        let done = DispatchSemaphore(value: 0), outcome = Mutex<Result<KeptState, PostgresError>?>(nil)
        lane.post { worker, now in
            worker.begin(at: now) { result in
                outcome.withLock { $0 = result }
                done.signal()
            }
        }
        if done.wait(timeout: .now() + .milliseconds(Int(patience.wholeMilliseconds))) == .timedOut {
            // Everything that is read from here on is for the lines.
            lane.sync { worker, _ in worker.startsWithout() }
        }
        switch outcome.withLock(\.self) {
        case nil: return nil
        case .success(let kept)?: return kept
        case .failure(let error)? where !error.isFinal: return nil
        case .failure(let error)?: throw OpenError(error)
        }
    }

    /// Hands what is read later to the lines.
    /// - Parameter take: called on the store's lane; it is to call `taken` when the lines have it.
    public func deliver(to take: @escaping @Sendable (Reading, _ taken: @escaping @Sendable () -> Void) -> Void) {
        state.withLock { $0.onReading = take }
        lane.post { worker, now in worker.wake(at: now) }
    }

    /// Hands the calls of gateways that have died to this one, which has a lease. Each call is handed to one gateway.
    /// - Parameter end: called on the store's lane.
    public func handOrphans(to end: @escaping @Sendable (OrphanedCalls) -> Void) {
        state.withLock { $0.onOrphans = end }
        lane.post { worker, _ in worker.readLeases() }
    }

    /// Hands the leases of trunks to the lines, whenever one is another's, or another state is told.
    /// - Parameter take: called on the store's lane, with all leases that there are.
    public func handTrunks(to take: @escaping @Sendable ([TrunkLease]) -> Void) {
        state.withLock { $0.onTrunks = take }
        lane.post { worker, _ in worker.tellTrunks() }
    }

    /// Asks for the leases of these trunks from now on. Returns at once; ``handTrunks(to:)`` tells what came of it.
    public func contend(for trunks: [String]) {
        state.withLock { $0.trunks = trunks }
        lane.post { worker, _ in worker.readLeases() }
    }

    /// Present figures.
    public var figures: LineStoreFigures {
        state.withLock { LineStoreFigures(isUp: $0.isUp, waiting: $0.queue.count, lost: $0.queue.lost) }
    }

    /// Takes a change to be written; returns at once.
    public func keep(_ change: LineChange) {
        let wakes = state.withLock { state -> Bool in
            state.queue.add(change)
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if wakes { lane.post { worker, now in worker.wake(at: now) } }
    }

    public func takes(_ update: KeptUpdate) -> Bool { state.withLock { $0.queue.takes(update) } }

    /// The lines have what was read last.
    func readingIsTaken() {
        state.withLock { $0.queue.endReading() }
        lane.post { worker, now in worker.wake(at: now) }
    }

    /// Waits until all that was given to `keep` is written, where the database is there; what is not written then is lost.
    public func finish(patience: Duration = .seconds(5)) {
        let done = DispatchSemaphore(value: 0)
        lane.post { worker, now in worker.finish(at: now) { done.signal() } }
        _ = done.wait(timeout: .now() + .milliseconds(Int(patience.wholeMilliseconds)))
        state.withLock { $0.queue.abandon() }
    }
}

extension PostgresError {
    /// No later attempt does better, unless somebody changes something.
    var isFinal: Bool { self == .noLibrary || isUsage || [Self.laterVersion, Self.earlierVersion, "42501"].contains(code) }

    /// The configuration is wrong: no such user, password or database, or a parameter that libpq does not know.
    var isUsage: Bool {
        guard let code else {
            return self == .noLibrary || ["no password supplied", "SSL was required", "certificate"].contains(where: description.contains)
        }
        return code.hasPrefix("28") || code == "3D000" || code == PostgresError.invalidParameters
    }

    /// Not of PostgreSQL's codes.
    static let laterVersion = "HSNEW", earlierVersion = "HSOLD"

    /// The row is at fault, and not the database.
    var isOfRow: Bool { ["22", "23", "54"].contains { code?.hasPrefix($0) == true } }
}
