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
    private let stopped = Atomic(false)
    private let granted = Atomic(Urgency.normal.rawValue)

    /// Makes the set. Nothing runs until `start`.
    public init() throws(PumpError) {
        epoll = epoll_create1(Int32(O_CLOEXEC))
        var ends: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let paired = socketpair(AF_UNIX, Int32(type), 0, &ends)
        bell = (ends[0], ends[1])
        guard epoll >= 0, paired == 0 else { throw PumpError(code: errno) }
        try watch(bell.clapper, token: Self.bellToken)
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
        for descriptor in [epoll, bell.rope, bell.clapper] where descriptor >= 0 { close(descriptor) }
    }

    /// Reports `socket` from now on under `token`, which must not be `UInt64.max`. From any thread. Closing the socket ends it.
    public func watch(_ socket: Int32, token: UInt64) throws(PumpError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
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

    /// Lets the thread end. It does not wait for it: one more `drain` may come.
    public func stop() {
        stopped.store(true, ordering: .releasing)
        wake()
    }

    private static let bellToken = UInt64.max

    private func run(pacer initial: Pacer, drain: (UnsafeBufferPointer<UInt64>) -> Instant?) {
        var pacer = initial
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.batchLimit)
        let tokens = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: Self.batchLimit)
        defer {
            events.deallocate()
            tokens.deallocate()
        }
        var deadline: Instant?
        while !stopped.load(ordering: .acquiring) {
            if pacer.isPunctual { sleepThroughLastMillisecond(until: deadline) }
            let reported = clinux_epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout(until: deadline, roundingUp: !pacer.isPunctual))
            let ready = collect(events, reported: Int(max(0, reported)), into: tokens)
            deadline = drain(UnsafeBufferPointer(rebasing: tokens[..<ready]))
            if let pause = pacer.pause(after: ready, at: MonotonicClock.now) { sleep(until: min(pause, deadline ?? pause)) }
        }
    }

    /// Copies the sockets' tokens and silences the bell.
    private func collect(_ events: UnsafeMutableBufferPointer<epoll_event>, reported: Int, into tokens: UnsafeMutableBufferPointer<UInt64>) -> Int {
        var ready = 0
        for index in 0..<reported {
            let token = events[index].data.u64
            if token == Self.bellToken {
                var rings: UInt64 = 0
                _ = read(bell.clapper, &rings, 8)
            } else {
                tokens[ready] = token
                ready += 1
            }
        }
        return ready
    }

    /// Whole milliseconds, rounded up, so that it is not early, or down, where the rest is slept; -1 for ever.
    private func timeout(until deadline: Instant?, roundingUp: Bool) -> Int32 {
        guard let deadline else { return -1 }
        let now = MonotonicClock.now
        guard now < deadline else { return 0 }
        let wait = deadline.nanoseconds - now.nanoseconds
        return Int32(clamping: roundingUp ? (wait - 1) / 1_000_000 + 1 : wait / 1_000_000)
    }

    /// epoll counts milliseconds; a sleep does better.
    private func sleepThroughLastMillisecond(until deadline: Instant?) {
        let now = MonotonicClock.now
        guard let deadline, now < deadline, deadline.nanoseconds - now.nanoseconds < 1_000_000 else { return }
        sleep(until: deadline)
    }

    private func sleep(until instant: Instant) {
        var time = timespec(tv_sec: Int(instant.nanoseconds / 1_000_000_000), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil)
    }
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
