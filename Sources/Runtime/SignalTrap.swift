import CLinux
import Dispatch
import Glibc
import Synchronization

/// Turns the signals that stop and reload a server into calls of a closure.
///
/// The first SIGTERM or SIGINT asks for a drain, the second for an immediate stop; SIGHUP asks for a reload. Make one, early, and keep it: signals
/// are dropped by the process from then on, and reported as long as the trap lives.
public final class SignalTrap {
    public enum Request: Hashable, Sendable {
        /// Take no new calls, end the rest in time, exit 0.
        case drain
        /// Exit now.
        case stop
        case reload
    }

    private var sources: [any DispatchSourceSignal] = []

    /// - Parameters:
    ///   - queue: where `handler` runs; serial, or two signals may cross.
    ///   - handler: must not block the queue for long.
    public init(on queue: DispatchQueue, handler: @escaping @Sendable (Request) -> Void) {
        let stops = Counter()
        for number in [SIGTERM, SIGINT] {
            watch(number, on: queue) { @Sendable in handler(stops.next() == 1 ? .drain : .stop) }
        }
        watch(SIGHUP, on: queue) { @Sendable in handler(.reload) }
    }

    deinit { sources.forEach { $0.cancel() } }

    private func watch(_ number: Int32, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: handler)
        source.activate()
        sources.append(source)
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)
        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }
}
