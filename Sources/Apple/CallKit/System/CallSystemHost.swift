import Dispatch
import Foundation
import Primitives

/// The source of a system's time, and the runner of its callbacks.
public protocol CallSystemHost: AnyObject, Sendable {
    /// The system's clock.
    var now: Instant { get }
    /// The wall clock's date at an instant of the system's clock.
    func date(at instant: Instant) -> Date
    /// The instant of something made at a wall clock date that is not in the future; deadlines run from it.
    func instant(at date: Date) -> Instant
    /// Runs a callback of the app. Callbacks given to one queue run in the order given.
    func run(on queue: CallbackQueue, _ callback: @escaping @Sendable () -> Void)
    /// `CallSystem.deadline` has moved; nil when nothing is awaited. Must not call the system back before returning.
    func deadlineMoved(to deadline: Instant?, of system: CallSystem)
}

/// The queue that an app wants a callback on.
public enum CallbackQueue: Sendable {
    case main
    /// A private serial queue of the system.
    case `private`
    case given(DispatchQueue)
}
