import Dispatch
import Synchronization

/// Work that reads disks, a little at the same time and the rest one after the other, apart from every lane.
///
/// Thread-safe.
final class JobQueue: Sendable {
    static let mostRunning = 2, mostWaiting = 16

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(label: String) { queue = DispatchQueue(label: label, attributes: .concurrent) }

    /// One more may wait. It stays so until the same caller adds one.
    var hasRoom: Bool { state.withLock { $0.running < Self.mostRunning || $0.waiting.count < Self.mostWaiting } }

    func perform(_ job: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            guard state.running < Self.mostRunning else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        if begins { run(job) }
    }

    private func run(_ job: @escaping @Sendable () -> Void) {
        queue.async {
            job()
            let next = self.state.withLock { state -> (@Sendable () -> Void)? in
                if state.waiting.isEmpty { state.running -= 1 }
                return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            if let next { self.run(next) }
        }
    }
}
