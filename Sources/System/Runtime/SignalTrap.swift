import Dispatch
import Glibc
import Primitives
import Synchronization

/// Turns the signals that stop and reload a server into calls of a closure.
///
/// The first SIGTERM or SIGINT asks for a drain, a later one for an immediate stop; SIGHUP asks for a reload. Those that come together are
/// one: `timeout` signals its child and then the group that the child is in. Make one and keep it: the signals are reported as long as the
/// trap lives, and end the process no more.
public final class SignalTrap {
    /// A request of somebody to the process.
    public enum Request: Hashable, Sendable {
        /// Take no new calls, end the rest in time, exit 0.
        case drain
        /// Exit now.
        case stop
        /// SIGHUP: read what may have changed, such as certificates.
        case reload
    }

    private let watched = DispatchQueue(label: "signals")
    private var sources: [any DispatchSourceSignal] = []

    /// Returns when the trap is set: a signal before that ends the process as it would any other.
    ///
    /// - Parameters:
    ///   - queue: where `handler` runs; serial, or two signals may cross.
    ///   - together: what comes within this time of the first says nothing new.
    ///   - leavesIgnoredHangup: a SIGHUP that was ignored, as `nohup` has it, stays ignored.
    ///   - handler: must not block the queue for long.
    public init(
        on queue: DispatchQueue, together: Duration = .milliseconds(300), leavesIgnoredHangup: Bool = false,
        handler: @escaping @Sendable (Request) -> Void
    ) {
        let stops = Stops(together: together)
        for number in [SIGTERM, SIGINT] {
            watch(number) { @Sendable in
                guard let request = stops.request(at: MonotonicClock.now) else { return }
                queue.async { handler(request) }
            }
        }
        if leavesIgnoredHangup, Self.isIgnored(SIGHUP) { return }
        watch(SIGHUP) { @Sendable in queue.async { handler(.reload) } }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        // SIG_IGN, which is a cast that Swift does not import.
        return sigaction(number, nil, &action) == 0 && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    deinit { sources.forEach { $0.cancel() } }

    /// Dispatch sets a signal handler of its own when it registers the source, which happens on another thread: ignoring the signal before
    /// would lose one that comes in between, and ignoring it afterwards loses them all.
    private func watch(_ number: Int32, handler: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: watched)
        let registered = DispatchSemaphore(value: 0)
        source.setEventHandler(handler: handler)
        source.setRegistrationHandler { @Sendable in registered.signal() }
        source.activate()
        registered.wait()
        sources.append(source)
    }

    private final class Stops: Sendable {
        private let stops: Mutex<StopRequests>
        init(together: Duration) { stops = Mutex(StopRequests(together: together)) }
        func request(at now: Instant) -> Request? { stops.withLock { $0.receive(at: now) } }
    }
}

/// The requests of the signals that stop a process.
struct StopRequests {
    /// The time after the first signal within which another is the same wish.
    let together: Duration
    private var first: Instant?

    init(together: Duration) { self.together = together }

    /// - Returns: nil for a signal that says nothing new.
    mutating func receive(at now: Instant) -> SignalTrap.Request? {
        guard let first else {
            first = now
            return .drain
        }
        return now - first < together ? nil : .stop
    }
}
