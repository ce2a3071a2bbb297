import Dispatch
import Foundation

/// A place where values can be received: a queue, an operation queue or a run loop.
public protocol Scheduler {
    func hookswitchSchedule(_ action: @escaping @Sendable () -> Void)
    func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void)
    /// The time that has passed since a point of the scheduler's own.
    var hookswitchNow: HookswitchInterval { get }
}

/// A stretch of time, as `debounce` and `delay` take it: `.milliseconds(300)`, `.seconds(1)` or seconds as a number.
public struct HookswitchInterval: Hashable, Comparable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Its length, for schedulers of one's own.
    public let seconds: Double
    /// Its length, as that of a run loop's stride.
    public var timeInterval: TimeInterval { seconds }
    public init(floatLiteral value: Double) { seconds = value }
    public init(integerLiteral value: Int) { seconds = Double(value) }
    init(seconds: Double) { self.seconds = seconds }

    public static func seconds(_ value: Double) -> HookswitchInterval { HookswitchInterval(seconds: value) }
    public static func seconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value)) }
    public static func milliseconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value) / 1_000) }
    public static func microseconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value) / 1_000_000) }
    public static func nanoseconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value) / 1_000_000_000) }
    public static func < (a: HookswitchInterval, b: HookswitchInterval) -> Bool { a.seconds < b.seconds }
    public static func - (a: HookswitchInterval, b: HookswitchInterval) -> HookswitchInterval {
        HookswitchInterval(seconds: a.seconds - b.seconds)
    }
}

/// The place where something is received: there, and at once.
public struct ImmediateScheduler: Scheduler, Sendable {
    public static let shared = ImmediateScheduler()
    public func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { action() }
    public func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) { action() }
}

extension Scheduler {
    public func schedule(_ action: @escaping @Sendable () -> Void) { hookswitchSchedule(action) }
    public var hookswitchNow: HookswitchInterval { .nanoseconds(Int(DispatchTime.now().uptimeNanoseconds)) }
}

extension DispatchQueue: Scheduler {
    public func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { async(execute: action) }
    public func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) {
        asyncAfter(deadline: .now() + interval.seconds, execute: action)
    }
}

extension RunLoop: Scheduler {
    public func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { perform(action) }
    public func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) {
        add(Timer(timeInterval: interval.seconds, repeats: false) { _ in action() }, forMode: .default)
    }
}

extension OperationQueue: Scheduler {
    public func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { addOperation(action) }
    public func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + interval.seconds) { self.addOperation(action) }
    }
}
