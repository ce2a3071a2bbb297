import CLinux
import Glibc
import Primitives
import Synchronization

/// The thread that waits for all sockets of one lane and hands what is ready to it, in batches.
///
/// It waits in epoll, without waking while there is nothing to do and nothing is due, and calls `drain` with the ready sockets; `drain`
/// enters the lane, does the work and says when it wants to be called at the latest. Under load the poller lets packets gather for a moment
/// before it looks again: a wake-up costs more than a packet.
///
/// The poller owns no socket. A closed socket leaves the set by itself; its token may still come in a batch that was read before, so
/// the lane must be able to tell an old token from a new one.
///
/// No Dispatch source watches a socket: when a TCP peer resets its connection, libdispatch frees the source's note on one thread while its
/// manager thread may still read it (swift-corelibs-libdispatch issue 949), and the process dies.
public final class Poller: Sendable {
    /// The conditions of a socket that the kernel reports (epoll(7)).
    public struct Events: OptionSet, Hashable, Sendable {
        /// As epoll(7) has them.
        public let rawValue: UInt32
        /// Conditions of epoll(7), which are not checked.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Bytes or connections wait to be read, or the peer has finished.
        public static let readable = Events(rawValue: EPOLLIN.rawValue)
        /// The kernel takes bytes again, or a connection that was begun stands or has failed.
        public static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The connection is gone in both directions (EPOLLHUP). Reported whether wanted or not.
        public static let hungUp = Events(rawValue: EPOLLHUP.rawValue)
        /// An error waits at the socket (EPOLLERR). Reported whether wanted or not.
        public static let failed = Events(rawValue: EPOLLERR.rawValue)
    }

    /// A socket of a batch, and what the kernel says of it.
    public struct Ready: Sendable {
        /// The name that the socket was given by `watch`.
        public let token: UInt64
        /// The conditions that hold.
        public let events: Events
    }

    /// The time that packets may gather.
    public enum Batch: Hashable, Sendable {
        /// Not at all below about 3,000 packets a second, 1 ms above.
        case automatic
        /// Every packet wakes: the lowest delay at the highest price.
        case immediate
        /// At most one batch in this time, whatever the load.
        case every(Duration)
        /// Tasks are done to the microsecond of their time, and not to the millisecond, before other threads where the system permits that
        /// (`urgency`); packets may gather for less than a millisecond before it.
        case punctual
    }

    /// The priority that the scheduler gives the thread of a poller.
    public enum Urgency: Int, Hashable, Sendable {
        /// No more than others; or the poller does not ask for more.
        case normal
        /// More time than others (nice -15).
        case nice
        /// The processor at once, before all that is not real time (SCHED_FIFO).
        case realTime
    }

    /// The most sockets that one batch reports; the rest come with the next.
    public static let batchLimit = 512

    private let epoll: Int32
    /// Two ends of a connected pair: what is written into the first wakes the wait on the second.
    private let wakeUpPipe: (writing: Int32, reading: Int32)
    /// Rings when something is due. A wait with a time of its own would set and take back a timer of the kernel for each packet.
    private let alarm: Int32
    private let stopped = Atomic(false)
    private let granted = Atomic(Urgency.normal.rawValue)

    /// Makes the set. Nothing runs until `start`.
    public init() throws(PollerError) {
        epoll = epoll_create1(Int32(O_CLOEXEC))
        var ends: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let paired = socketpair(AF_UNIX, Int32(type), 0, &ends)
        wakeUpPipe = (ends[0], ends[1])
        alarm = clinux_alarm()
        guard epoll >= 0, paired == 0, alarm >= 0 else { throw PollerError(code: errno) }
        try watch(wakeUpPipe.reading, token: Self.wakeUpToken, for: .readable)
        // Told once for each time that it rings: it need not be read.
        try watch(alarm, token: Self.alarmToken, for: Events(rawValue: EPOLLIN.rawValue | EPOLLET.rawValue))
    }

    /// Starts the thread; once only. It holds the poller and `drain` until it ends after `stop`.
    ///
    /// - Parameters:
    ///   - name: of the thread; 15 bytes.
    ///   - isPatient: whether other threads come first where processors are scarce (nice 10, a tenth of another's share).
    ///   - drain: called on the poller's thread, never twice at a time. Gets the sockets that are ready (none when
    ///     it is only time) and returns when it must be called again even if nothing arrives; nil for no such time.
    public func start(
        name: String, batch: Batch = .automatic, isPatient: Bool = false,
        drain: @escaping @Sendable (UnsafeBufferPointer<Ready>) -> Instant?
    ) throws(PollerError) {
        try startThread { [self] in
            clinux_name_thread(name)
            if isPatient { clinux_make_thread_patient(10) }
            if batch == .punctual { granted.store(Int(clinux_make_thread_urgent()), ordering: .relaxed) }
            run(pacer: Pacer(batch), drain: drain)
        }
    }

    /// The priority that was granted to a punctual poller when it started.
    public var urgency: Urgency { Urgency(rawValue: granted.load(ordering: .relaxed)) ?? .normal }

    deinit {
        for descriptor in [epoll, wakeUpPipe.writing, wakeUpPipe.reading, alarm] where descriptor >= 0 { close(descriptor) }
    }

    /// Reports `socket` from now on under `token`, which must be less than `UInt64.max - 1`. From any thread. Closing the socket ends it.
    public func watch(_ socket: Int32, token: UInt64, for events: Events = .readable) throws(PollerError) {
        try control(EPOLL_CTL_ADD, socket, token, events)
    }

    /// Wants other events of a watched socket. From any thread.
    public func change(_ socket: Int32, token: UInt64, to events: Events) throws(PollerError) {
        try control(EPOLL_CTL_MOD, socket, token, events)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ token: UInt64, _ events: Events) throws(PollerError) {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = token
        guard epoll_ctl(epoll, operation, socket, &event) == 0 else { throw PollerError(code: errno) }
    }

    /// Reports `socket` no more. A batch that was read before may still name it.
    public func unwatch(_ socket: Int32) { epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil) }

    /// Ends a wait at once, because something became due earlier than `drain` last said. From any thread.
    public func wake() {
        var ring: UInt8 = 1
        _ = Glibc.send(wakeUpPipe.writing, &ring, 1, Int32(MSG_NOSIGNAL))
    }

    /// Has `drain` called at this time, in place of the one that was set before: for a poller whose `drain` never says when. From any
    /// thread.
    func ring(at instant: Instant) { _ = clinux_set_alarm(alarm, max(1, instant.nanoseconds)) }

    /// Lets the thread end. It does not wait for it: one more `drain` may come.
    public func stop() {
        stopped.store(true, ordering: .releasing)
        wake()
    }

    private static let wakeUpToken = UInt64.max
    private static let alarmToken = UInt64.max - 1

    private func run(pacer initial: Pacer, drain: (UnsafeBufferPointer<Ready>) -> Instant?) {
        var pacer = initial
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.batchLimit)
        let ready = UnsafeMutableBufferPointer<Ready>.allocate(capacity: Self.batchLimit)
        defer {
            events.deallocate()
            ready.deallocate()
        }
        var deadline: Instant?
        var rings: Instant?
        while !stopped.load(ordering: .acquiring) {
            let isDue = pacer.isPunctual && sleepThroughLastMillisecond(until: deadline)
            if !isDue, let deadline { setAlarm(&rings, to: pacer.isPunctual ? deadline : deadline.nextMillisecond) }
            let reported = clinux_epoll_wait(epoll, events.baseAddress, Int32(events.count), isDue ? 0 : -1)
            let count = collect(events, reported: Int(max(0, reported)), into: ready, &rings)
            deadline = drain(UnsafeBufferPointer(rebasing: ready[..<count]))
            if let pause = pacer.pause(after: count, at: MonotonicClock.now) { sleep(until: min(pause, deadline ?? pause)) }
        }
    }

    /// Copies what is said of sockets, and empties the wake-up pipe.
    private func collect(
        _ events: UnsafeMutableBufferPointer<epoll_event>, reported: Int, into ready: UnsafeMutableBufferPointer<Ready>,
        _ rings: inout Instant?
    ) -> Int {
        var count = 0
        for index in 0..<reported {
            switch events[index].data.u64 {
            case Self.wakeUpToken:
                var bytes: UInt64 = 0
                _ = read(wakeUpPipe.reading, &bytes, 8)
            case Self.alarmToken: rings = nil
            case let token:
                ready[count] = Ready(token: token, events: Events(rawValue: events[index].events))
                count += 1
            }
        }
        return count
    }

    /// One that rings too early stays: it costs a look, and moving it each time would cost more.
    private func setAlarm(_ rings: inout Instant?, to deadline: Instant) {
        guard deadline < rings ?? .distantFuture else { return }
        rings = deadline
        _ = clinux_set_alarm(alarm, max(1, deadline.nanoseconds))
    }

    /// Whether the deadline has come, or came while it slept: packets gather meanwhile.
    private func sleepThroughLastMillisecond(until deadline: Instant?) -> Bool {
        let now = MonotonicClock.now
        guard let deadline, deadline.nanoseconds < now.nanoseconds + 1_000_000 else { return false }
        if now < deadline { sleep(until: deadline) }
        return true
    }

    private func sleep(until instant: Instant) {
        var time = timespec(tv_sec: Int(instant.nanoseconds / 1_000_000_000), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil)
    }
}

extension Instant {
    /// The end of the millisecond: tasks that are due within the same one are done at one visit.
    fileprivate var nextMillisecond: Instant { Instant(nanoseconds: nanoseconds / 1_000_000 * 1_000_000 &+ 1_000_000) }
}

/// The operating system refused a descriptor, a thread or a place in the set; `code` is its errno.
public struct PollerError: Error, Hashable, Sendable {
    /// The `errno`.
    public let code: Int32
}

/// Decides whether the poller rests after a batch, from how many sockets were ready lately. A value; told the time.
struct Pacer: Sendable {
    /// Packets a second above which `automatic` begins to gather, and below which it ends again.
    static let upper = 3_000, lower = 2_000
    // In nanoseconds: arithmetic with `Duration` costs more than the rest of a batch's bookkeeping.
    static var rest: UInt64 { 1_000_000 }
    private static var window: UInt64 { 50_000_000 }

    private let batch: Poller.Batch
    var isPunctual: Bool { batch == .punctual }
    private var windowStart = Instant.zero
    private var seen = 0
    private(set) var gathers = false

    init(_ batch: Poller.Batch) { self.batch = batch }

    /// Until when to rest after a batch of so many; nil for not at all. A batch for a timer alone needs no rest.
    mutating func pause(after ready: Int, at now: @autoclosure () -> Instant) -> Instant? {
        switch batch {
        case .immediate, .punctual: return nil
        case .every(let rest): return ready > 0 ? now() + rest : nil
        case .automatic:
            let now = now()
            measure(ready, at: now)
            return gathers && ready > 0 ? Instant(nanoseconds: now.nanoseconds + Self.rest) : nil
        }
    }

    private mutating func measure(_ ready: Int, at now: Instant) {
        seen += ready
        let elapsed = now.nanoseconds &- windowStart.nanoseconds
        guard elapsed >= Self.window else { return }
        let rate = Double(seen) * 1e9 / Double(elapsed)
        gathers = rate > Double(gathers ? Self.lower : Self.upper)
        (windowStart, seen) = (now, 0)
    }
}

/// A detached thread of its own.
func startThread(_ work: @escaping @Sendable () -> Void) throws(PollerError) {
    final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Work(work))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw PollerError(code: code)
    }
    pthread_detach(thread)
}
