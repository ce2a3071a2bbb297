@_exported import Foundation

/// A method of some class, as targets and observers name it: the stand-in for Objective-C's selector.
///
/// The plug-in `CallSources` makes one of each `#selector`, with the method itself in it. One that is made of a name alone has no method,
/// and performing it does nothing. Two are equal when their names are.
public struct Selector: Hashable, @unchecked Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    public let description: String
    /// Whether it was the target's, and was performed.
    private let method: ((_ target: Any, _ arguments: [Any?]) -> Bool)?

    public init(_ name: String) { (description, method) = (name, nil) }
    public init(stringLiteral name: String) { self.init(name) }

    private init(_ name: String, _ method: @escaping (_ target: Any, _ arguments: [Any?]) -> Bool) {
        (description, self.method) = (name, method)
    }

    public static func == (a: Selector, b: Selector) -> Bool { a.description == b.description }
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// Calls the method on a target. False: the selector has none, or the target or an argument is not of the type that it takes.
    ///
    /// - Parameter arguments: at least as many as the method takes; others are left out.
    @discardableResult
    public func hookswitchPerform(on target: Any, _ arguments: [Any?] = []) -> Bool { method?(target, arguments) ?? false }
}

// MARK: - What the plug-in writes

// A method of the main actor is taken as any other, and is called where the event happens, as Objective-C does it.

extension Selector {
    public init<Target, Result>(hookswitch name: String, of method: @escaping (Target) -> @MainActor () -> Result) {
        self.init(name) { target, _ in
            guard let target = target as? Target else { return false }
            _ = unsafeBitCast(method(target), to: (() -> Result).self)()
            return true
        }
    }

    public init<Target, First, Result>(hookswitch name: String, of method: @escaping (Target) -> @MainActor (First) -> Result) {
        self.init(name) { target, arguments in
            guard let target = target as? Target, let first: First = arguments.hookswitchArgument(0) else { return false }
            _ = unsafeBitCast(method(target), to: ((First) -> Result).self)(first)
            return true
        }
    }

    public init<Target, First, Second, Result>(
        hookswitch name: String, of method: @escaping (Target) -> @MainActor (First, Second) -> Result
    ) {
        self.init(name) { target, arguments in
            guard let target = target as? Target, let first: First = arguments.hookswitchArgument(0),
                let second: Second = arguments.hookswitchArgument(1)
            else { return false }
            _ = unsafeBitCast(method(target), to: ((First, Second) -> Result).self)(first, second)
            return true
        }
    }

    public init<Result>(hookswitch name: String, bound method: @escaping @MainActor () -> Result) {
        self.init(name) { _, _ in
            _ = unsafeBitCast(method, to: (() -> Result).self)()
            return true
        }
    }

    public init<First, Result>(hookswitch name: String, bound method: @escaping @MainActor (First) -> Result) {
        self.init(name) { _, arguments in
            guard let first: First = arguments.hookswitchArgument(0) else { return false }
            _ = unsafeBitCast(method, to: ((First) -> Result).self)(first)
            return true
        }
    }
}

extension [Any?] {
    /// nil: there is none, or it is of another type. A notification is an `NSNotification` too.
    fileprivate func hookswitchArgument<Argument>(_ index: Int) -> Argument? {
        guard index < count else { return nil }
        if let argument = self[index] as? Argument { return argument }
        guard let notification = self[index] as? Notification else { return nil }
        return NSNotification(name: notification.name, object: notification.object, userInfo: notification.userInfo) as? Argument
    }
}

public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }

/// Runs the body: there is no pool of objects to empty.
public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result) throws(Failure) -> Result { try body() }

extension URL {
    /// The file of `#fileLiteral`, in whose place the plug-in `CallSources` puts this: in the main bundle, or else in the current folder.
    public init(hookswitchLiteral name: String) {
        self = Bundle.main.url(forResource: name, withExtension: nil) ?? URL(fileURLWithPath: name)
    }
}
