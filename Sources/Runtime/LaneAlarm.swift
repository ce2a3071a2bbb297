import Dispatch
import Primitives

/// What rings a lane when something is due.
///
/// Unchecked: Dispatch's sources may be used from any thread, and do not say so.
enum LaneAlarm: @unchecked Sendable {
    /// Costs no thread of its own, and with each ring three wake-ups of threads: of Dispatch's manager to set it, of that again, and of a worker.
    case timer(any DispatchSourceTimer)
    /// Costs a thread, and with each ring one wake-up.
    case thread(MediaPump)

    /// - Parameter hasThread: whether a thread is worth its room; where the system refuses one it is a timer all the same.
    init(on queue: DispatchQueue, hasThread: Bool) {
        if hasThread, let pump = try? MediaPump() { self = .thread(pump) } else { self = .timer(DispatchSource.makeTimerSource(queue: queue)) }
    }

    /// From here on `ring` is called on the queue. Once only.
    /// - Returns: false where no thread could be started; nothing will ring then.
    func activate(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void) -> Bool {
        switch self {
        case .timer(let timer):
            timer.setEventHandler(handler: ring)
            timer.activate()
            return true
        case .thread(let pump):
            let isStarted: Void? = try? pump.start(name: String(queue.label.prefix(15)), batch: .immediate) { _ in
                queue.sync(execute: ring)
                return nil
            }
            return isStarted != nil
        }
    }

    /// Moves the ring to that time; it comes up to half a millisecond later.
    func set(to instant: Instant, now: Instant) {
        switch self {
        case .timer(let timer):
            timer.schedule(deadline: .now() + .nanoseconds(Int((instant - now).wholeNanoseconds)), leeway: .microseconds(500))
        case .thread(let pump): pump.ring(at: instant.nextHalfMillisecond)
        }
    }

    /// The last: one more ring may come, and is to find nothing to do.
    func cancel() {
        switch self {
        case .timer(let timer): timer.cancel()
        case .thread(let pump): pump.stop()
        }
    }
}

extension Instant {
    /// What is due close together is done in one turn.
    fileprivate var nextHalfMillisecond: Instant { Instant(nanoseconds: nanoseconds / 500_000 * 500_000 &+ 500_000) }
}
