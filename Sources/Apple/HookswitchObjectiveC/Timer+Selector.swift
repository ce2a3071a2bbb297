import Dispatch
import Foundation

extension Timer {
    /// A timer that holds its target, and gives itself to the selector's method. `userInfo` is not kept: Foundation has no place for it here.
    public convenience init(
        timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
    ) {
        let call = PendingCall(target: target as AnyObject, selector: selector, argument: nil)
        self.init(timeInterval: interval, repeats: repeats) { @Sendable timer in call.perform(with: timer) }
    }

    /// The same, on the run loop of this thread.
    @discardableResult
    public class func scheduledTimer(
        timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
    ) -> Timer {
        let call = PendingCall(target: target as AnyObject, selector: selector, argument: nil)
        return scheduledTimer(withTimeInterval: interval, repeats: repeats) { @Sendable timer in call.perform(with: timer) }
    }
}

extension NSObject {
    public func perform(_ selector: Selector) { selector.hookswitchPerform(on: self) }
    public func perform(_ selector: Selector, with object: Any?) { selector.hookswitchPerform(on: self, [object]) }

    /// On the main queue after so many seconds, unless it is cancelled.
    public func perform(_ selector: Selector, with object: Any?, afterDelay delay: TimeInterval) {
        let call = PendingCall(target: self, selector: selector, argument: object)
        PendingCalls.shared.add(call)
        DispatchQueue.main.asyncAfter(deadline: .now() + delay) { if PendingCalls.shared.take(call) { call.perform(with: call.argument) } }
    }

    public func performSelector(onMainThread selector: Selector, with object: Any?, waitUntilDone wait: Bool) {
        let call = PendingCall(target: self, selector: selector, argument: object)
        if Thread.isMainThread, wait { return call.perform(with: object) }
        if wait {
            DispatchQueue.main.sync { call.perform(with: call.argument) }
        } else {
            DispatchQueue.main.async { call.perform(with: call.argument) }
        }
    }

    public class func cancelPreviousPerformRequests(withTarget target: Any) { PendingCalls.shared.cancel(target as AnyObject, nil) }

    public class func cancelPreviousPerformRequests(withTarget target: Any, selector: Selector, object: Any?) {
        PendingCalls.shared.cancel(target as AnyObject, selector)
    }
}

/// A selector that is to be performed on a target.
private final class PendingCall: @unchecked Sendable {
    let target: AnyObject
    let selector: Selector
    let argument: Any?

    init(target: AnyObject, selector: Selector, argument: Any?) {
        (self.target, self.selector, self.argument) = (target, selector, argument)
    }

    func perform(with argument: Any?) { selector.hookswitchPerform(on: target, [argument]) }
}

private final class PendingCalls: @unchecked Sendable {
    static let shared = PendingCalls()
    private let lock = NSLock()
    private var waiting: [PendingCall] = []

    func add(_ call: PendingCall) { lock.withLock { waiting.append(call) } }

    /// Whether it still waits; then it does no longer.
    func take(_ call: PendingCall) -> Bool {
        lock.withLock {
            guard let index = waiting.firstIndex(where: { $0 === call }) else { return false }
            waiting.remove(at: index)
            return true
        }
    }

    func cancel(_ target: AnyObject, _ selector: Selector?) {
        lock.withLock { waiting.removeAll { $0.target === target && (selector == nil || $0.selector == selector) } }
    }
}
