import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization

/// The connection of a `PostgresStore`, on its lane: made, prepared, used, and made again when it is lost.
final class PostgresWorker: LaneResident {
    private enum Stage {
        /// Nothing has begun. Next: `away`.
        case new
        /// No connection, until `deadline`. Next: `busy`.
        case away
        /// A connection is being made or prepared, or a batch is under way, until `deadline` at the latest. Next: `idle` or `away`.
        case busy
        /// Nothing is to be done. Next: `busy` or `away`.
        case idle
    }

    /// Rows that are written in one transaction.
    private static let mostRows = 500
    /// Topics that are read at a time.
    private static let mostTopics = 100

    private(set) var deadline: Instant?
    let settings: PostgresStore.Settings
    private let box: PostgresStore.WorkerBox
    private unowned let lane: any LaneDoor
    let notice: @Sendable (PostgresStore.Notice) -> Void
    private var stage = Stage.new
    private var connection: PostgresConnection?
    private var wait: Duration
    private var isTold = false
    private var lastRefusal: Instant?
    /// Rows are written one by one, to find the one that the database does not take.
    private var single = 0
    /// Everything is still to be read on this connection.
    private var readsAll = false
    var schedule: ReadingSchedule
    /// When rows of gateways that have died are removed next.
    private var cleaningDue = Instant.zero
    /// A question is under way whose answer is to be delivered.
    private var isReading = false
    /// Nil for a program that has no calls.
    var lease: Lease?
    /// Tells what we have changed from what others have.
    let run = String(UInt64.random(in: .min ... .max), radix: 16)
    private var onFirst: ((Result<KeptState, PostgresError>) -> Void)?
    private var onFinish: (() -> Void)?

    init(
        _ settings: PostgresStore.Settings, _ box: PostgresStore.WorkerBox, on lane: any LaneDoor,
        _ notice: @escaping @Sendable (PostgresStore.Notice) -> Void
    ) {
        (self.settings, self.box, self.lane, self.notice) = (settings, box, lane, notice)
        (wait, schedule) = (settings.backOff.lowerBound, ReadingSchedule(random: settings.random))
        let grace = settings.backOff.upperBound + settings.timeout + LeaseWatch.length
        if settings.hasLease { lease = Lease(watch: LeaseWatch(grace: grace)) }
    }

    func store<Value>(_ body: (inout PostgresStore.State) -> Value) -> Value? { box.store?.state.withLock { body(&$0) } }

    // MARK: Inputs

    /// - Parameter first: called once, with what comes of the first attempt.
    func begin(at now: Instant, first: @escaping (Result<KeptState, PostgresError>) -> Void) {
        onFirst = first
        connect(at: now)
    }

    /// Lets no start wait for the first attempt any more.
    func startsWithout() { onFirst = nil }

    /// There is something to be written, or somebody to be read for.
    func wake(at now: Instant) {
        _ = store { $0.isWoken = false }
        if case .idle = stage { goOn() }
    }

    /// There is somebody to end the calls of others, or trunks are others': the leases are read at once.
    func readLeases() {
        lease?.watch.hurry()
        if case .idle = stage { goOn() }
    }

    /// There is somebody to be told of trunks.
    func tellTrunks() {
        lease?.toldTrunks = nil
        readLeases()
    }

    /// - Parameter done: called when nothing is left to be written, or the database is not there.
    func finish(at now: Instant, done: @escaping () -> Void) {
        onFinish = done
        switch stage {
        case .new: done()
        case .away: connect(at: now)
        case .idle: goOn()
        case .busy: break
        }
    }

    func advance(to now: Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        guard connection != nil else { return connect(at: now) }
        if case .idle = stage { goOn() } else { lose(PostgresError("no answer within \(settings.timeout)", isLoss: true)) }
    }

    // MARK: The connection

    private func connect(at now: Instant) {
        (stage, deadline, readsAll) = (.busy, now + settings.timeout, true)
        do throws(PostgresError) {
            let connection = try PostgresConnection(parameters, on: lane)
            self.connection = connection
            connection.onReady = { [unowned self] in prepare() }
            connection.onNotification = { [unowned self] payload in hear(payload) }
            connection.onLoss = { [unowned self] error in lose(error) }
        } catch { lose(error) }
    }

    /// Those before the URL hold where it says nothing, those behind it always.
    private var parameters: KeyValuePairs<String, String> {
        if let password = settings.password {
            return [
                "application_name": "hookswitch", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
                "dbname": settings.address.url, "client_encoding": "UTF8", "password": password,
            ]
        }
        return [
            "application_name": "hookswitch", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
            "dbname": settings.address.url, "client_encoding": "UTF8",
        ]
    }

    /// Runs a batch; a failure of any kind ends the connection, unless `failed` takes it.
    func perform(
        _ statements: [PostgresConnection.Statement], failed: ((PostgresError) -> Bool)? = nil,
        _ done: @escaping ([PostgresConnection.Rows]) -> Void
    ) {
        (stage, deadline) = (.busy, MonotonicClock.now + settings.timeout)
        connection?.run(statements) { [unowned self] result in
            switch result {
            case .success(let rows): done(rows)
            case .failure(let error) where error.isLoss: break
            case .failure(let error): if failed?(error) != true { lose(error) }
            }
        }
    }

    private func lose(_ error: PostgresError) {
        connection?.close()
        (connection, stage, single) = (nil, .away, 0)
        deadline = MonotonicClock.now + wait
        wait = min(wait * 2, settings.backOff.upperBound)
        let hasStarted = onFirst == nil
        _ = store { state in
            state.isUp = false
            state.queue.giveBack()
            // A reading that was delivered ends when it is taken.
            if isReading { state.queue.endReading() }
        }
        isReading = false
        schedule.lost(at: MonotonicClock.now)
        lease?.lost()
        if !isTold, hasStarted || !error.isFinal { notice(.down(error.description)) }
        isTold = true
        tellFirst(.failure(error))
        onFinish?()
        onFinish = nil
    }

    private func tellFirst(_ result: Result<KeptState, PostgresError>) {
        onFirst?(result)
        onFirst = nil
    }

    // MARK: Preparing

    private func prepare() {
        perform([PostgresSchema.isThere]) { [unowned self] rows in
            if rows.first?.first?.first == "t" { readVersion() } else { migrate(from: 0) }
        }
    }

    private func readVersion() {
        perform([PostgresSchema.current]) { [unowned self] rows in
            let version = rows.first?.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
            guard version <= PostgresSchema.version else {
                return lose(
                    PostgresError(
                        code: PostgresError.laterVersion,
                        "it was written by a later version of hookswitch: its tables have version \(version), and this program knows \(PostgresSchema.version)",
                        isLoss: true))
            }
            if version < PostgresSchema.version { migrate(from: version) } else { listen() }
        }
    }

    /// Another gateway may have done it meanwhile.
    private func migrate(from version: Int) {
        guard settings.migrates else {
            let words =
                "its tables have version \(version), and those of this program \(PostgresSchema.version): 'hookswitch store migrate' brings them up to date"
            return lose(PostgresError(code: PostgresError.earlierVersion, words, isLoss: true))
        }
        perform(PostgresSchema.migration(from: version)) { [unowned self] error in
            guard error.code == "23505" else { return false }
            readVersion()
            return true
        } _: { [unowned self] _ in
            listen()
        }
    }

    /// Listens, so that changes of others from here on are heard and a later reading is as new. Removes rows of gateways that have died.
    private func listen() {
        guard settings.migrates else { return begin() }
        clean(after: [PostgresConnection.Statement("LISTEN \(ChangeNotice.channel)")]) { [unowned self] in begin() }
    }

    private func clean(after first: [PostgresConnection.Statement] = [], then next: @escaping () -> Void) {
        cleaningDue = MonotonicClock.now + settings.cleaning
        perform(first + PostgresSchema.cleaning) { _ in next() }
    }

    /// The connection can be used. What was changed here meanwhile is written before all is read.
    private func begin() {
        wait = settings.backOff.lowerBound
        if onFirst == nil { schedule.connected(at: MonotonicClock.now) }
        let waiting = store { state -> Int in
            state.isUp = true
            return state.queue.count
        }
        if isTold { notice(.back(waiting: waiting ?? 0)) }
        isTold = false
        goOn()
    }

    // MARK: Work

    func goOn() {
        (stage, deadline) = (.idle, lease?.watch.due)
        if let deadline, deadline <= MonotonicClock.now { return renew() }
        let limit = single > 0 ? 1 : Self.mostRows
        guard let changes = store({ $0.queue.next(limit) }) else { return }
        if !changes.isEmpty { return write(changes) }
        if onFinish != nil, lease != nil { return release { [unowned self] in goOn() } }
        onFinish?()
        onFinish = nil
        if lease != nil, cleaningDue <= MonotonicClock.now { return clean { [unowned self] in goOn() } }
        guard onFirst != nil || store({ $0.onReading != nil }) == true else { return }
        if readsAll, schedule.due <= MonotonicClock.now { return readAll() }
        readTopics()
        if readsAll, case .idle = stage { deadline = min(deadline ?? schedule.due, schedule.due) }
    }

    private func write(_ changes: [StoreChange]) {
        var statements = changes.map { $0.statement(node: settings.node, run: run) }
        statements += Set(changes.compactMap(\.trimmedLine)).sorted().map { StoreChange.trim($0, to: settings.recents) }
        statements += Set(changes.filter(\.isTold).compactMap(\.key.topic)).map { ChangeNotice(run: run, topic: $0).statement }
        perform(statements) { [unowned self] error in
            refused(changes, error)
        } _: { [unowned self] _ in
            single = max(0, single - 1)
            _ = store { $0.queue.written() }
            goOn()
        }
    }

    /// One row that the database never takes must not keep the others out.
    private func refused(_ changes: [StoreChange], _ error: PostgresError) -> Bool {
        guard error.isOfRow else { return false }
        if changes.count > 1 {
            single = changes.count
            _ = store { $0.queue.giveBack() }
        } else {
            _ = store { $0.queue.written(lost: true) }
            let now = MonotonicClock.now
            if lastRefusal.map({ now - $0 > .seconds(60) }) ?? true {
                lastRefusal = now
                notice(.refused(error.description))
            }
        }
        goOn()
        return true
    }

    /// The first time it is what the lines start with, unless they have started without.
    private func readAll() {
        guard store({ $0.queue.beginReadingAll() }) == true else { return }
        isReading = true
        schedule.begin(at: MonotonicClock.now)
        let questions = PostgresRows.questions(node: settings.node, recents: settings.recents, everyNode: settings.readsAllNodes)
        stretchLease(by: settings.timeout) { [unowned self] in
            perform(questions) { [unowned self] answers in
                schedule.end(at: MonotonicClock.now)
                // Parsing takes less than half of it.
                let rows = answers.reduce(0) { $0 + $1.count }
                stretchLease(by: .microseconds(5 * rows)) { [unowned self] in take(all: answers) }
            }
        }
    }

    /// The lease is not renewed while everything is read, nor while that is parsed. Others must not take this gateway for dead meanwhile.
    private func stretchLease(by time: Duration, then next: @escaping () -> Void) {
        guard lease != nil else { return next() }
        perform([PostgresRows.stretchedLease(of: run, by: time)]) { _ in next() }
    }

    private func take(all answers: [PostgresConnection.Rows]) {
        (readsAll, isReading) = (false, false)
        let kept = PostgresRows.all(answers)
        if onFirst != nil {
            _ = store { state in
                state.queue.begin(with: kept)
                state.queue.endReading()
            }
            tellFirst(.success(kept))
        } else {
            deliver(.whole(kept))
        }
        goOn()
    }

    /// Another gateway has changed something.
    private func hear(_ payload: String) {
        guard let heard = ChangeNotice(payload: payload), heard.run != run else { return }
        if heard.topic == .trunks { return readLeases() }
        let isTooMuch = store { state -> Bool in
            guard let topic = heard.topic else { return true }
            state.queue.reread(topic)
            return state.queue.unread.count > StoreQueue.limit
        }
        if isTooMuch == true { readsAll = true }
        if case .idle = stage { goOn() }
    }

    private func readTopics() {
        guard let topics = store({ $0.queue.nextReading(Self.mostTopics) }) ?? nil else { return }
        isReading = true
        perform(topics.map { PostgresRows.question(about: $0, node: settings.node) }) { [unowned self] answers in
            isReading = false
            deliver(.parts(zip(topics, answers).compactMap { PostgresRows.update($0, $1) }))
            goOn()
        }
    }

    private func deliver(_ reading: PostgresStore.Reading) {
        let taken: @Sendable () -> Void = { [box] in box.store?.readingIsTaken() }
        guard let take = store({ $0.onReading }) ?? nil else {
            // The lines are not there yet: it is read once more when they are.
            readsAll = true
            return taken()
        }
        take(reading, taken)
    }
}
