import CLinux
import Dispatch
import Synchronization

/// Work that may wait, done in its order by a thread of its own that all others go before (nice 19): what is measured beside it is not disturbed by it.
///
/// What is left when the last reference goes is not done.
public final class PatientQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isOver = false
    }

    /// What the thread holds; it holds no queue, so that a queue can end.
    private final class Bench: Sendable {
        let state = Mutex(State())
        let arrived = DispatchSemaphore(value: 0)

        func run() {
            while true {
                arrived.wait()
                var last = state.withLock { state in
                    defer { state.waiting = [] }
                    return Array(state.waiting.reversed())
                }
                while let work = last.popLast() {
                    if state.withLock(\.isOver) { return }
                    work()
                }
                if state.withLock(\.isOver) { return }
            }
        }
    }

    private let bench = Bench()

    /// - Parameter name: of the thread; 15 bytes.
    public init(name: String) throws(PumpError) {
        try startThread { [bench] in
            clinux_name_thread(name)
            clinux_make_thread_patient()
            bench.run()
        }
    }

    deinit {
        bench.state.withLock { $0.isOver = true }
        bench.arrived.signal()
    }

    public func async(_ work: @escaping @Sendable () -> Void) {
        bench.state.withLock { $0.waiting.append(work) }
        bench.arrived.signal()
    }

    /// Returns when everything that was given before is done. Not from the queue itself.
    public func wait() {
        let done = DispatchSemaphore(value: 0)
        async { done.signal() }
        done.wait()
    }
}
