import CLinux
import Glibc
import Primitives
import Synchronization

/// The thread that waits for all sockets of one media lane and hands what is ready to it, in batches.
///
/// It waits in epoll, without waking while there is nothing to read and nothing is due, and calls `drain` with the tokens of the ready
/// sockets; `drain` enters the lane, does the work and says when it wants to be called at the latest. Under load the pump
/// lets packets gather for a moment before it looks again: a wake-up costs more than a packet.
///
/// The pump owns no socket. One that is closed leaves the set by itself; tokens of a batch that was already read may then come late, so
/// the lane must be able to tell an old token from a new one.
public final class MediaPump: Sendable {
    /// How long packets may gather.
    public enum Batch: Hashable, Sendable {
        /// Not at all below about 3,000 packets a second, 1 ms above.
        case automatic
        /// Every packet wakes: the lowest delay at the highest price.
        case immediate
        /// At most one batch in this time, whatever the load.
        case every(Duration)
        /// What is due is done to the microsecond, and not to the millisecond, before other threads where the system permits that (`urgency`);
        /// packets may gather for less than a millisecond before it.
        case punctual
    }

    /// What the scheduler gives the thread of a pump.
    public enum Urgency: Int, Hashable, Sendable {
        /// No more than others; or the pump does not ask for more.
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
    private let bell: (rope: Int32, clapper: Int32)
    /// Rings when something is due. A wait with a time of its own would set and take back a timer of the kernel for each packet.
    private let alarm: Int32
    private let stopped = Atomic(false)
    private let granted = Atomic(Urgency.normal.rawValue)

    /// Makes the set. Nothing runs until `start`.
    public init() throws(PumpError) {
        epoll = epoll_create1(Int32(O_CLOEXEC))
        var ends: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let paired = socketpair(AF_UNIX, Int32(type), 0, &ends)
        bell = (ends[0], ends[1])
        alarm = clinux_alarm()
        guard epoll >= 0, paired == 0, alarm >= 0 else { throw PumpError(code: errno) }
        try watch(bell.clapper, token: Self.bellToken)
        // Told once for each time that it rings: it need not be read.
        try watch(alarm, token: Self.alarmToken, EPOLLIN.rawValue | EPOLLET.rawValue)
    }

    /// Starts the thread; once only. It holds the pump and `drain` until it ends after `stop`.
    ///
    /// - Parameters:
    ///   - name: of the thread; 15 bytes.
    ///   - drain: called on the pump's thread, never twice at a time. Gets the tokens of the sockets that have something to read (none when
    ///     it is only time) and returns when it must be called again even if nothing arrives; nil for no such time.
    public func start(
        name: String, batch: Batch = .automatic, drain: @escaping @Sendable (UnsafeBufferPointer<UInt64>) -> Instant?
    ) throws(PumpError) {
        try startThread { [self] in
            clinux_name_thread(name)
            if batch == .punctual { granted.store(Int(clinux_make_thread_urgent()), ordering: .relaxed) }
            run(pacer: Pacer(batch), drain: drain)
        }
    }

    /// What was granted to a punctual pump when it started.
    public var urgency: Urgency { Urgency(rawValue: granted.load(ordering: .relaxed)) ?? .normal }

    deinit {
        for descriptor in [epoll, bell.rope, bell.clapper, alarm] where descriptor >= 0 { close(descriptor) }
    }

    /// Reports `socket` from now on under `token`, which must be less than `UInt64.max - 1`. From any thread. Closing the socket ends it.
    public func watch(_ socket: Int32, token: UInt64) throws(PumpError) { try watch(socket, token: token, EPOLLIN.rawValue) }

    private func watch(_ socket: Int32, token: UInt64, _ events: UInt32) throws(PumpError) {
        var event = epoll_event()
        event.events = events
        event.data.u64 = token
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0 else { throw PumpError(code: errno) }
    }

    /// Reports `socket` no more. A batch that was read before may still name it.
    public func unwatch(_ socket: Int32) { epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil) }

    /// Ends a wait at once, because something became due earlier than `drain` last said. From any thread.
    public func wake() {
        var ring: UInt8 = 1
        _ = Glibc.send(bell.rope, &ring, 1, Int32(MSG_NOSIGNAL))
    }

    /// Has `drain` called at this time, in place of the one that was set before: for a pump whose `drain` never says when. From any thread.
    func ring(at instant: Instant) { _ = clinux_set_alarm(alarm, max(1, instant.nanoseconds)) }

    /// Lets the thread end. It does not wait for it: one more `drain` may come.
    public func stop() {
        stopped.store(true, ordering: .releasing)
        wake()
    }

    private static let bellToken = UInt64.max
    private static let alarmToken = UInt64.max - 1

    private func run(pacer initial: Pacer, drain: (UnsafeBufferPointer<UInt64>) -> Instant?) {
        var pacer = initial
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.batchLimit)
        let tokens = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: Self.batchLimit)
        defer {
            events.deallocate()
            tokens.deallocate()
        }
        var deadline: Instant?
        var rings: Instant?
        while !stopped.load(ordering: .acquiring) {
            let isDue = pacer.isPunctual && sleepThroughLastMillisecond(until: deadline)
            if !isDue, let deadline { setAlarm(&rings, to: pacer.isPunctual ? deadline : deadline.nextMillisecond) }
            let reported = clinux_epoll_wait(epoll, events.baseAddress, Int32(events.count), isDue ? 0 : -1)
            let ready = collect(events, reported: Int(max(0, reported)), into: tokens, &rings)
            deadline = drain(UnsafeBufferPointer(rebasing: tokens[..<ready]))
            if let pause = pacer.pause(after: ready, at: MonotonicClock.now) { sleep(until: min(pause, deadline ?? pause)) }
        }
    }

    /// Copies the sockets' tokens and silences the bell.
    private func collect(
        _ events: UnsafeMutableBufferPointer<epoll_event>, reported: Int, into tokens: UnsafeMutableBufferPointer<UInt64>, _ rings: inout Instant?
    ) -> Int {
        var ready = 0
        for index in 0..<reported {
            switch events[index].data.u64 {
            case Self.bellToken:
                var pulls: UInt64 = 0
                _ = read(bell.clapper, &pulls, 8)
            case Self.alarmToken: rings = nil
            case let token:
                tokens[ready] = token
                ready += 1
            }
        }
        return ready
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
    /// What is due within the same millisecond is done at one visit.
    fileprivate var nextMillisecond: Instant { Instant(nanoseconds: nanoseconds / 1_000_000 * 1_000_000 &+ 1_000_000) }
}

/// The operating system refused a descriptor, a thread or a place in the set; `code` is its errno.
public struct PumpError: Error, Hashable, Sendable {
    public let code: Int32
}

/// Decides whether the pump rests after a batch, from how many sockets were ready lately. A value; told the time.
struct Pacer: Sendable {
    /// Packets a second above which `automatic` begins to gather, and below which it ends again.
    static let upper = 3_000, lower = 2_000
    // In nanoseconds: arithmetic with `Duration` costs more than the rest of a batch's bookkeeping.
    static var rest: UInt64 { 1_000_000 }
    private static var window: UInt64 { 50_000_000 }

    private let batch: MediaPump.Batch
    var isPunctual: Bool { batch == .punctual }
    private var windowStart = Instant.zero
    private var seen = 0
    private(set) var gathers = false

    init(_ batch: MediaPump.Batch) { self.batch = batch }

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
func startThread(_ work: @escaping @Sendable () -> Void) throws(PumpError) {
    final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Work(work))
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { context in
        Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
        return nil
    }, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw PumpError(code: code)
    }
    pthread_detach(thread)
}
