public import Dispatch
public import Primitives

/// An object that lives on a lane: plain, non-Sendable, synchronous, and told the time.
public protocol LaneResident: AnyObject, SendableMetatype {
    /// When `advance` next has something to do; nil while there is nothing to wait for. May be earlier than need be, never later.
    var deadline: Instant? { get }
    /// Does what is due. Called by the lane's alarm; it may come late, and earlier than `deadline` too.
    func advance(to now: Instant)
}

/// The side of a lane that sockets and other sources of events need: its queue, and a way in.
public protocol LaneDoor: AnyObject, Sendable {
    /// The lane's serial queue.
    nonisolated var queue: DispatchQueue { get }
    /// The watcher of the lane's sockets.
    nonisolated var sockets: LaneSockets { get }
    /// Does `work` as one turn of the lane and sets the lane's alarm afterwards. Only on the lane's queue, and not inside another turn.
    nonisolated func turn(_ work: (_ now: Instant) -> Void)
}

/// A serial queue and everything that lives on it: one resident, which the compiler keeps from leaving.
///
/// A lane is entered in turns, first in, first out: by `post` from any thread, by `sync` from another lane, and by its sockets and its one
/// alarm. The clock is read once per turn; when the turn is over the alarm is set to the resident's deadline. Nothing here awaits.
public actor Lane<Resident: LaneResident>: LaneDoor {
    private let executor: QueueExecutor
    /// The watcher of the lane's sockets.
    public nonisolated let sockets: LaneSockets
    /// The alarm of a lane without a poller.
    private var timer: LaneTimer?
    private var resident: Resident?
    /// The time that the alarm is set to. It may be earlier than the resident's deadline (a turn for nothing is cheaper than a system call
    /// per message).
    private var armed: Instant?

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// The serial queue that the lane runs on.
    public nonisolated var queue: DispatchQueue { executor.queue }

    /// Makes the resident on the lane, before anything else runs there, and waits for it.
    ///
    /// The resident may keep the lane it is given, weakly or unowned, to post to itself and to make sockets.
    ///
    /// - Parameter hasPoller: whether the lane's poller, which is also its alarm, starts with the lane and not with its first socket.
    ///   Cheaper than a
    ///   Dispatch timer where something is often due, as on a server's signalling lane.
    /// - Parameter isPatient: whether what its sockets bring waits for other lanes where processors are scarce.
    public init<Failure: Error>(
        label: String, hasPoller: Bool = false, isPatient: Bool = false,
        make: @escaping @Sendable (_ lane: Lane<Resident>, _ now: Instant) throws(Failure) -> Resident
    ) throws(Failure) {
        let queue = DispatchQueue(label: label)
        executor = QueueExecutor(queue: queue)
        sockets = LaneSockets(on: queue, isPatient: isPatient)
        try queue.sync { self.assumeIsolated { $0.settle(hasPoller: hasPoller, make) } }.get()
    }

    /// A lane on a serial queue that somebody else owns, as the main queue of an app is. To be called on that queue.
    public init<Failure: Error>(
        on queue: DispatchQueue, make: @escaping @Sendable (_ lane: Lane<Resident>, _ now: Instant) throws(Failure) -> Resident
    ) throws(Failure) {
        executor = QueueExecutor(queue: queue)
        sockets = LaneSockets(on: queue)
        try assumeIsolated { $0.settle(hasPoller: false, make) }.get()
    }

    deinit { timer?.cancel() }

    /// Enters on the lane's own queue, also from inside of a turn. Returns nil when the lane was closed.
    public nonisolated func enter<Value: Sendable>(_ work: @Sendable (_ resident: Resident, _ now: Instant) -> Value) -> Value? {
        assumeIsolated { lane -> Result<Value, Never>? in
            lane.result { (resident, now) throws(Never) in work(resident, now) }
        }?.get()
    }

    /// As `close`, on the lane's own queue.
    public nonisolated func leave() { assumeIsolated { $0.vacate() } }

    /// Enters from any thread: first in, first out, returns at once. Dropped when the lane was closed.
    public nonisolated func post(_ work: @escaping @Sendable (_ resident: Resident, _ now: Instant) -> Void) {
        queue.async { self.assumeIsolated { $0.run(work) } }
    }

    /// Enters from another thread and waits for the answer. Traps on the lane itself, where it could never come back.
    ///
    /// Lanes call each other in one direction only (signalling → media), or two of them could wait for each other.
    /// Returns nil when the lane was closed.
    public nonisolated func sync<Value: Sendable, Failure: Error>(
        _ work: @Sendable (_ resident: Resident, _ now: Instant) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        dispatchPrecondition(condition: .notOnQueue(queue))
        return try queue.sync { self.assumeIsolated { $0.result(of: work) } }?.get()
    }

    /// One turn of the lane, from its own queue: the work, and then the alarm is set anew.
    public nonisolated func turn(_ work: (_ now: Instant) -> Void) {
        let now = MonotonicClock.now
        work(now)
        assumeIsolated { $0.setAlarm(now) }
    }

    /// Lets the resident go, with all that it holds; later turns do nothing. Waits for the turns before it. Not on the lane itself.
    public nonisolated func close() {
        dispatchPrecondition(condition: .notOnQueue(queue))
        queue.sync { self.assumeIsolated { $0.vacate() } }
    }

    private func settle<Failure: Error>(
        hasPoller: Bool, _ make: @Sendable (Lane<Resident>, Instant) throws(Failure) -> Resident
    ) -> Result<Void, Failure> {
        sockets.start { [weak self] ready in self?.visit(ready) }
        if hasPoller { _ = sockets.startPoller() }
        let now = MonotonicClock.now
        do throws(Failure) {
            resident = try make(self, now)
        } catch {
            vacate()
            return .failure(error)
        }
        setAlarm(now)
        return .success(())
    }

    /// The poller's turn: what is due, then the sockets. The poller waits meanwhile.
    private nonisolated func visit(_ ready: ReadySockets) {
        queue.sync { assumeIsolated { $0.serve(ready) } }
    }

    private func serve(_ ready: ReadySockets) {
        let now = MonotonicClock.now
        if let armed, armed <= now { advance(to: now) }
        sockets.deliver(ready, at: now)
        setAlarm(now)
    }

    private func vacate() {
        timer?.cancel()
        sockets.close()
        resident = nil
    }

    private func run(_ work: (Resident, Instant) -> Void) {
        guard let resident else { return }
        let now = MonotonicClock.now
        work(resident, now)
        setAlarm(now)
    }

    private func result<Value: Sendable, Failure: Error>(of work: (Resident, Instant) throws(Failure) -> Value) -> Result<Value, Failure>? {
        guard let resident else { return nil }
        let now = MonotonicClock.now
        defer { setAlarm(now) }
        do throws(Failure) {
            return .success(try work(resident, now))
        } catch {
            return .failure(error)
        }
    }

    private func ring() {
        let now = MonotonicClock.now
        advance(to: now)
        setAlarm(now)
    }

    private func advance(to now: Instant) {
        armed = nil
        resident?.advance(to: now)
    }

    private static var shortestWait: Duration { .microseconds(100) }

    /// - Parameter now: the time of this turn. The distance is floored, so that a resident whose deadline does not move cannot spin the
    ///   lane.
    private func setAlarm(_ now: Instant) {
        guard let deadline = resident?.deadline, deadline < armed ?? .distantFuture else { return }
        armed = deadline
        let due = deadline > now + Self.shortestWait ? deadline : MonotonicClock.now + Self.shortestWait
        if sockets.hasPoller { sockets.ring(at: due.nextHalfMillisecond) } else { setTimer(to: due, now: now) }
    }

    private func setTimer(to due: Instant, now: Instant) {
        if timer == nil { timer = LaneTimer(on: queue) { @Sendable [weak self] in self?.assumeIsolated { $0.ring() } } }
        timer?.set(after: due - now)
    }
}

/// A Dispatch timer. Unchecked: Dispatch's sources may be used from any thread, and do not say so.
private struct LaneTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: ring)
        source.activate()
    }

    /// It rings up to half a millisecond later.
    func set(after time: Duration) {
        source.schedule(deadline: .now() + .nanoseconds(Int(time.wholeNanoseconds)), leeway: .microseconds(500))
    }

    func cancel() { source.cancel() }
}

extension Instant {
    /// The end of the half millisecond: tasks that are due close together are done in one turn.
    fileprivate var nextHalfMillisecond: Instant { Instant(nanoseconds: nanoseconds / 500_000 * 500_000 &+ 500_000) }
}
