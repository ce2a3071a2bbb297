import Foundation

/// Something that can be stopped.
public protocol Cancellable {
    func cancel()
}

extension Cancellable {
    public func store(in set: inout Set<AnyCancellable>) { set.insert(AnyCancellable(self)) }
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        collection.append(AnyCancellable(self))
    }
}

/// A subscription that ends when this is released.
public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
    private let lock = NSLock()
    private var action: (() -> Void)?

    public init(_ cancel: @escaping () -> Void) { action = cancel }
    public init<C: Cancellable>(_ canceller: C) { action = { canceller.cancel() } }
    deinit { cancel() }

    public func cancel() {
        lock.withLock {
            defer { action = nil }
            return action
        }?()
    }

    public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable { collection.append(self) }
}

/// A value behind a lock.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var value: Value
    init(_ value: Value) { self.value = value }

    @discardableResult
    func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&value) } }
}

/// A value that goes to another thread, as Combine lets it.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// A subscription of closures. The second cancels, once, and not by release.
final class ClosureSubscription: Subscription, @unchecked Sendable {
    private let onRequest: (Subscribers.Demand) -> Void
    private let onCancel: Locked<(() -> Void)?>
    init(request: @escaping (Subscribers.Demand) -> Void = { _ in }, cancel: @escaping () -> Void) {
        (onRequest, onCancel) = (request, Locked(cancel))
    }
    func request(_ demand: Subscribers.Demand) { onRequest(demand) }
    func cancel() { onCancel.update { $0.take() }?() }
}

/// The subscription of a publisher that has nothing to give or to stop.
final class NoSubscription: Subscription {
    func request(_ demand: Subscribers.Demand) {}
    func cancel() {}
}

/// Subscriptions, by the names that call code writes.
public enum Subscriptions {
    /// One that gives nothing.
    public static var empty: any Subscription { NoSubscription() }
}
