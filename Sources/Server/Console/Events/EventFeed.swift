import CallJournal
import Primitives
import Runtime
import Synchronization

/// Carries the journal's events from the signalling lane to the API's, many in one turn, and never waits.
///
/// Thread-safe. When the API does not keep up, what it did not take is dropped, and it is told so.
final class EventFeed: Sendable {
    /// Events that may wait.
    static let mostWaiting = 100_000
    /// The shortest time between two calls: under load a lane is not woken for each turn of the other.
    static let gathering = Duration.milliseconds(10)

    private struct State {
        var events: [JournalEvent] = []
        var isCalled = false
        var lastCall = Instant.zero
        var isOverflowing = false
    }

    private let state = Mutex(State())
    private let call: @Sendable (_ delay: Duration) -> Void

    /// - Parameter call: has somebody `take` after so long; zero: at once. Called on the signalling lane.
    init(_ call: @escaping @Sendable (_ delay: Duration) -> Void) { self.call = call }

    func note(_ event: borrowing JournalEvent) {
        guard EventType.concerns(event.kind) else { return }
        let delay: Duration? = state.withLock { [event = copy event] state in
            if state.events.count >= Self.mostWaiting {
                state.events.removeAll()
                state.isOverflowing = true
            }
            state.events.append(event)
            guard !state.isCalled else { return nil }
            let now = MonotonicClock.now, due = max(state.lastCall + Self.gathering, now)
            (state.isCalled, state.lastCall) = (true, due)
            return due - now
        }
        if let delay { call(delay) }
    }

    /// Takes the waiting events, and whether events before them were dropped.
    func take() -> (events: [JournalEvent], hasGap: Bool) {
        state.withLock { state in
            defer { (state.events, state.isCalled, state.isOverflowing) = ([], false, false) }
            return (state.events, state.isOverflowing)
        }
    }
}
