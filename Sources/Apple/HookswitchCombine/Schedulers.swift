import Dispatch
import Foundation

/// A place where values can be received: a queue, an operation queue or a run loop.
public protocol Scheduler {
    func hookswitchSchedule(_ action: @escaping @Sendable () -> Void)
    func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void)
}

/// A stretch of time, as `debounce` and `delay` take it: `.milliseconds(300)`, `.seconds(1)` or seconds as a number.
public struct HookswitchInterval: Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// Its length, for schedulers of one's own.
    public let seconds: Double
    public init(floatLiteral value: Double) { seconds = value }
    public init(integerLiteral value: Int) { seconds = Double(value) }
    init(seconds: Double) { self.seconds = seconds }

    public static func seconds(_ value: Double) -> HookswitchInterval { HookswitchInterval(seconds: value) }
    public static func seconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value)) }
    public static func milliseconds(_ value: Int) -> HookswitchInterval { HookswitchInterval(seconds: Double(value) / 1_000) }
}

/// The place where something is received: there, and at once.
public struct ImmediateScheduler: Scheduler, Sendable {
    public static let shared = ImmediateScheduler()
    public func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { action() }
    public func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) { action() }
}

extension Scheduler {
    public func schedule(_ action: @escaping @Sendable () -> Void) { hookswitchSchedule(action) }
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

extension NotificationCenter {
    /// The notifications of a name, of an object or of any.
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> AnyPublisher<Notification, Never> {
        AnyPublisher { downstream in
            let token = Unchecked(
                self.addObserver(forName: name, object: object, queue: nil) { @Sendable in _ = downstream.receive($0) })
            downstream.receive(subscription: ClosureSubscription { self.removeObserver(token.value) })
        }
    }
}

extension Timer {
    /// The dates of a timer that begins to run when somebody listens.
    public static func publish(every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode)
        -> TimerPublisher
    { TimerPublisher(interval: interval, runLoop: runLoop, mode: mode) }

    public struct TimerPublisher: Publisher {
        public typealias Output = Date
        public typealias Failure = Never
        let interval: TimeInterval, runLoop: RunLoop, mode: RunLoop.Mode

        public func autoconnect() -> TimerPublisher { self }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Date, S.Failure == Never {
            let sink = Sink<Date, Never>(value: { _ = subscriber.receive($0) }, completion: { _ in })
            let timer = Timer(timeInterval: interval, repeats: true) { @Sendable _ in _ = sink.receive(Date()) }
            subscriber.receive(subscription: ClosureSubscription { timer.invalidate() })
            runLoop.add(timer, forMode: mode)
        }
    }
}
