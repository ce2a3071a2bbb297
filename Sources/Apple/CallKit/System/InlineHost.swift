import Foundation
import Primitives
import Synchronization

/// Hosts systems on a thread that somebody else owns: a gateway's lane, or a rehearsal in virtual time.
///
/// Callbacks run on the caller's thread, first in first out and never inside one another: what a callback causes is
/// delivered after it returned, by the call into the system that is outermost. Queues named by the app are ignored.
/// Time is told. One host may serve any number of systems of the same lane.
public final class InlineHost: CallSystemHost {
    private let nanoseconds: Atomic<UInt64>
    private let epoch: Date
    private let moved: UncheckedBox<((CallSystem, Instant?) -> Void)?>

    /// - Parameters:
    ///   - now: the time at the beginning.
    ///   - epoch: the wall clock's date at `Instant.zero`.
    ///   - deadlineMoved: where to (re)arm a timer for a system; nil when the owner reads `CallSystem.deadline` itself.
    public init(
        now: Instant = .zero, epoch: Date = Date(timeIntervalSince1970: 0), deadlineMoved: ((CallSystem, Instant?) -> Void)? = nil
    ) {
        nanoseconds = Atomic(now.nanoseconds)
        self.epoch = epoch
        moved = UncheckedBox(deadlineMoved)
    }

    /// Set it, never backwards, before anything is told to a system.
    public var now: Instant {
        get { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
        set {
            precondition(newValue >= now, "time runs forwards")
            nanoseconds.store(newValue.nanoseconds, ordering: .relaxed)
        }
    }

    public func date(at instant: Instant) -> Date {
        epoch.addingTimeInterval(Double(instant.nanoseconds) / 1e9)
    }

    /// Now: told time and the wall clock have nothing to do with each other, so an action counts from its request.
    public func instant(at date: Date) -> Instant { now }

    public func run(on queue: CallbackQueue, _ callback: @escaping @Sendable () -> Void) { callback() }

    public func deadlineMoved(to deadline: Instant?, of system: CallSystem) { moved.value?(system, deadline) }
}
