import Foundation

extension NotificationCenter {
    /// The notifications of a name, of an object or of any.
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
        Publisher(center: self, name: name, object: object)
    }

    /// A publisher of the notifications of a name. Those that nobody has requested are dropped.
    public struct Publisher: HookswitchCombine.Publisher {
        public typealias Output = Notification
        public typealias Failure = Never
        public let center: NotificationCenter, name: Notification.Name, object: AnyObject?

        public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
            (self.center, self.name, self.object) = (center, name, object)
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Notification, S.Failure == Never {
            let outlet = Outlet<Notification, Never>(Sink(subscriber)) { _, _ in }
            let token = Unchecked(center.addObserver(forName: name, object: object, queue: nil) { @Sendable in outlet.send($0) })
            outlet.begin(ClosureSubscription { [center] in center.removeObserver(token.value) })
        }
    }
}

extension Timer {
    /// The dates of a timer that begins to run when it is connected.
    public static func publish(
        every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode, options: Never? = nil
    ) -> TimerPublisher { TimerPublisher(interval: interval, tolerance: tolerance, runLoop: runLoop, mode: mode) }

    /// A publisher of dates, one after each interval. `connect()` starts the timer, and `autoconnect()` does with the first subscriber.
    public final class TimerPublisher: ConnectablePublisher, @unchecked Sendable {
        public typealias Output = Date
        public typealias Failure = Never
        public let interval: TimeInterval, tolerance: TimeInterval?
        public let runLoop: RunLoop, mode: RunLoop.Mode
        private let listeners = Listeners<Date, Never>(excess: { _, _ in })

        public init(interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop, mode: RunLoop.Mode, options: Never? = nil) {
            (self.interval, self.tolerance, self.runLoop, self.mode) = (interval, tolerance, runLoop, mode)
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Date, S.Failure == Never {
            listeners.add(subscriber, first: nil)
        }

        public func connect() -> any Cancellable {
            let timer = Timer(timeInterval: interval, repeats: true) { @Sendable [listeners] _ in listeners.send(Date()) }
            if let tolerance { timer.tolerance = tolerance }
            runLoop.add(timer, forMode: mode)
            let held = Unchecked(timer)
            return ClosureSubscription { held.value.invalidate() }
        }
    }
}
