import Dispatch
import Glibc
import Synchronization

/// Turns the signals that stop and reload a server into calls of a closure.
///
/// The first SIGTERM or SIGINT asks for a drain, the second for an immediate stop; SIGHUP asks for a reload. Make one and keep it: the signals are
/// reported as long as the trap lives, and end the process no more.
public final class SignalTrap {
    public enum Request: Hashable, Sendable {
        /// Take no new calls, end the rest in time, exit 0.
        case drain
        /// Exit now.
        case stop
        case reload
    }

    private let watched = DispatchQueue(label: "signals")
    private var sources: [any DispatchSourceSignal] = []

    /// Returns when the trap is set: a signal before that ends the process as it would any other.
    ///
    /// - Parameters:
    ///   - queue: where `handler` runs; serial, or two signals may cross.
    ///   - handler: must not block the queue for long.
    public init(on queue: DispatchQueue, handler: @escaping @Sendable (Request) -> Void) {
        let stops = Counter()
        for number in [SIGTERM, SIGINT] {
            watch(number) { @Sendable in
                let request = stops.next() == 1 ? Request.drain : .stop
                queue.async { handler(request) }
            }
        }
        watch(SIGHUP) { @Sendable in queue.async { handler(.reload) } }
    }

    deinit { sources.forEach { $0.cancel() } }

    /// Dispatch sets a signal handler of its own when it registers the source, which happens on another thread: ignoring the signal before would lose
    /// one that comes in between, and ignoring it afterwards loses them all.
    private func watch(_ number: Int32, handler: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: watched)
        let registered = DispatchSemaphore(value: 0)
        source.setEventHandler(handler: handler)
        source.setRegistrationHandler { @Sendable in registered.signal() }
        source.activate()
        registered.wait()
        sources.append(source)
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)
        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }
}
