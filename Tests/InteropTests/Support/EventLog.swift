import Dispatch
import Synchronization

/// What happened, in order, and the wait for what is still to happen. Thread-safe.
///
/// A wait looks at what is there already, so nothing is missed between an act and the wait for its effect.
final class EventLog<Event: Sendable>: Sendable {
    private struct Waiter {
        let matches: @Sendable (Event) -> Bool
        let continuation: CheckedContinuation<Event?, Never>
    }

    private struct State {
        var events: [Event] = []
        var isOver = false
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    var all: [Event] { state.withLock { $0.events } }

    /// The place behind the last event, from where on a later one is waited for.
    var end: Int { state.withLock { $0.events.count } }

    func append(_ event: Event) {
        let due = state.withLock { state in
            state.events.append(event)
            let due = state.waiters.filter { $0.value.matches(event) }
            for key in due.keys { state.waiters[key] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: event) }
    }

    /// Nothing more will come.
    func close() {
        let left = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.continuation)
        }
        for continuation in left { continuation.resume(returning: nil) }
    }

    /// The first event from `start` on that matches; nil when the time is over, or the log was closed without one.
    func first(from start: Int = 0, within limit: Duration, where matches: @escaping @Sendable (Event) -> Bool) async -> Event? {
        await withCheckedContinuation { continuation in
            let (found, waiter) = state.withLock { state -> (Event??, Int) in
                if let event = state.events.dropFirst(start).first(where: matches) { return (event, 0) }
                if state.isOver { return (.some(nil), 0) }
                state.nextWaiter += 1
                state.waiters[state.nextWaiter] = Waiter(matches: matches, continuation: continuation)
                return (nil, state.nextWaiter)
            }
            guard let found else { return expire(waiter, after: limit) }
            continuation.resume(returning: found)
        }
    }

    private func expire(_ waiter: Int, after limit: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { [self] in
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.continuation.resume(returning: nil)
        }
    }
}

/// What did not happen in time, with all that helps to see why.
struct Unmet: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Waits for a fact that nothing announces (the kernel's tables, the length of a file), by looking every 20 ms.
func eventually(_ fact: String, within limit: Duration = .seconds(10), _ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Unmet("\(fact): not within \(limit)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
