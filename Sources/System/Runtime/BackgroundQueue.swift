import CLinux
import Dispatch
import Synchronization

/// Work that may wait, done in its order by a thread of its own that all others go before (nice 19): what is measured beside it is not
/// disturbed by it.
///
/// The thread gets next to nothing where the machine is full: a thread that waits for the work does it then.
/// Work that is left when the last reference goes is not done.
public final class BackgroundQueue: Sendable {
    private struct State {
        /// The next one last.
        var due: [@Sendable () -> Void] = []
        var arrived: [@Sendable () -> Void] = []
        /// So many threads wait for the work, and do it.
        var waiters = 0
        var isOver = false

        mutating func next(isPatient: Bool) -> (@Sendable () -> Void)? {
            if due.isEmpty {
                due = arrived.reversed()
                arrived = []
            }
            return isOver || isPatient && waiters > 0 ? nil : due.popLast()
        }
    }

    /// The state that the thread holds; it holds no queue, so that a queue can end.
    private final class Bench: Sendable {
        let state = Mutex(State())
        let arrived = DispatchSemaphore(value: 0)
        /// Held while one piece of work is done: two that work keep to the order.
        private let turn = Mutex(())

        /// Does what comes next; false: there is nothing, or another thread does it.
        func work(isPatient: Bool) -> Bool {
            turn.withLock { _ in
                guard let next = state.withLock({ $0.next(isPatient: isPatient) }) else { return false }
                next()
                return true
            }
        }

        func run() {
            while true {
                arrived.wait()
                while work(isPatient: true) {}
                if state.withLock(\.isOver) { return }
            }
        }
    }

    private let bench = Bench()

    /// - Parameter name: of the thread; 15 bytes.
    public init(name: String) throws(PollerError) {
        try startThread { [bench] in
            clinux_name_thread(name)
            clinux_make_thread_patient(19)
            bench.run()
        }
    }

    deinit {
        bench.state.withLock { $0.isOver = true }
        bench.arrived.signal()
    }

    /// Does the work on the queue's thread, first in, first out. Returns at once.
    public func async(_ work: @escaping @Sendable () -> Void) {
        bench.state.withLock { $0.arrived.append(work) }
        bench.arrived.signal()
    }

    /// Returns when everything that was given before is done, and does it. Not from the queue itself.
    public func wait() {
        let isDone = Atomic(false)
        bench.state.withLock { $0.waiters += 1 }
        async { isDone.store(true, ordering: .releasing) }
        while !isDone.load(ordering: .acquiring) { _ = bench.work(isPatient: false) }
        bench.state.withLock { $0.waiters -= 1 }
        bench.arrived.signal()
    }

    /// Somebody waits.
    var isWaitedFor: Bool { bench.state.withLock { $0.waiters > 0 } }
}
