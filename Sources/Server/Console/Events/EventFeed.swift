import CallJournal
import Gateway
import Synchronization

/// Carries the journal's events from the signalling lane to the API's, many in one turn, and never waits.
///
/// Thread-safe. When the API does not keep up, what it did not take is dropped, and it is told so.
final class EventFeed: Sendable {
    /// Events that may wait.
    static let mostWaiting = 100_000

    private struct State {
        var events: [JournalEvent] = []
        var isCalled = false
        var isOverflowing = false
    }

    private let state = Mutex(State())
    private let call: @Sendable () -> Void

    /// - Parameter call: has somebody `take` soon. Called on the signalling lane.
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    func note(_ event: borrowing JournalEvent) {
        guard EventType.concerns(event.kind) else { return }
        let isFirst = state.withLock { [event = copy event] state in
            if state.events.count >= Self.mostWaiting {
                state.events.removeAll()
                state.isOverflowing = true
            }
            state.events.append(event)
            defer { state.isCalled = true }
            return !state.isCalled
        }
        if isFirst { call() }
    }

    /// What waits, and whether something before it was dropped.
    func take() -> (events: [JournalEvent], hasGap: Bool) {
        state.withLock { state in
            defer { (state.events, state.isCalled, state.isOverflowing) = ([], false, false) }
            return (state.events, state.isOverflowing)
        }
    }
}
