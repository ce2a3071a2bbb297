import Dispatch
import Foundation
import Primitives

/// Hosts one system on Dispatch queues and the machine's clocks: how an app runs on a server, in CI, or in a test.
///
/// Callbacks go to the queues that the app named; nothing of the app runs inside its own call into CallKit.
public final class QueueHost: CallSystemHost {
    private let queue = DispatchQueue(label: "CallKit.system")
    /// Nothing of the app runs here, so that a callback that blocks holds up no deadline.
    private let deadlines = DispatchQueue(label: "CallKit.deadlines")
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)

    public init() {}

    deinit { timer.withLock { $0?.cancel() } }

    public var now: Instant { Instant(nanoseconds: DispatchTime.now().uptimeNanoseconds) }

    public func date(at instant: Instant) -> Date { Date().addingTimeInterval((instant - now) / .seconds(1)) }

    public func instant(at date: Date) -> Instant { now + .seconds(min(0, date.timeIntervalSinceNow)) }

    public func run(on queue: CallbackQueue, _ callback: @escaping @Sendable () -> Void) {
        switch queue {
        case .main: DispatchQueue.main.async(execute: callback)
        case .private: self.queue.async(execute: callback)
        case .given(let queue): queue.async(execute: callback)
        }
    }

    /// Arms the timer on the queue of deadlines, where it reads the deadline again: moves told by several threads may overtake
    /// one another.
    public func deadlineMoved(to deadline: Instant?, of system: CallSystem) {
        deadlines.async { [weak self, weak system] in
            guard let self, let system else { return }
            arm(for: system)
        }
    }

    private func arm(for system: CallSystem) {
        let deadline = system.deadline
        timer.withLock { timer in
            guard let deadline else {
                timer?.cancel()
                timer = nil
                return
            }
            let source = timer ?? makeTimer(for: system)
            source.schedule(deadline: DispatchTime(uptimeNanoseconds: deadline.nanoseconds))
            timer = source
        }
    }

    private func makeTimer(for system: CallSystem) -> any DispatchSourceTimer {
        let source = DispatchSource.makeTimerSource(queue: deadlines)
        source.setEventHandler { @Sendable [weak system] in system.map { $0.advance(to: $0.now) } }
        source.resume()
        return source
    }
}
