@_exported import Foundation

// The part of Combine that call code uses, under a name that other packages do not look for. Demand is not counted: a publisher gives what
// it has, as it does to `sink` on Apple systems.

/// A source of values over time, and of one completion.
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    /// Begins to give values to a subscriber; the first is its subscription.
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

/// A receiver of values and of one completion.
public protocol Subscriber<Input, Failure>: AnyObject {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

/// The tie of a subscriber to its publisher.
public protocol Subscription: Cancellable, AnyObject {
    /// Has no effect: demand is not counted.
    func request(_ demand: Subscribers.Demand)
}

public enum Subscribers {
    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }

    public struct Demand: Equatable, Sendable {
        let count: Int
        public static let none = Demand(count: 0), unlimited = Demand(count: .max)
        public static func max(_ value: Int) -> Demand { Demand(count: value) }
    }
}

extension Subscribers.Completion: Equatable where Failure: Equatable {}
extension Subscribers.Completion: Sendable where Failure: Sendable {}

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

/// Any publisher of these values.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let subscribe: (Sink<Output, Failure>) -> Void

    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
        subscribe = { publisher.receive(subscriber: $0) }
    }

    /// A publisher that gives to the sink what the closure has for it.
    init(subscribe: @escaping (Sink<Output, Failure>) -> Void) { self.subscribe = subscribe }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        subscribe(
            Sink(
                subscription: { subscriber.receive(subscription: $0) }, value: { _ = subscriber.receive($0) },
                completion: { subscriber.receive(completion: $0) }))
    }
}

/// A subscriber of closures. Nothing comes after its completion, and nothing after it is cancelled.
final class Sink<Input, Failure: Error>: Subscriber, Subscription, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var upstream: (any Subscription)?
    private var isOver = false
    private let onSubscription: ((any Subscription) -> Void)?
    private let onValue: (Input) -> Void
    private let onCompletion: (Subscribers.Completion<Failure>) -> Void

    init(
        subscription: ((any Subscription) -> Void)? = nil, value: @escaping (Input) -> Void,
        completion: @escaping (Subscribers.Completion<Failure>) -> Void
    ) { (onSubscription, onValue, onCompletion) = (subscription, value, completion) }

    func receive(subscription: any Subscription) {
        let isLate = lock.withLock {
            if !isOver { upstream = subscription }
            return isOver
        }
        if isLate { return subscription.cancel() }
        onSubscription?(self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        if !lock.withLock({ isOver }) { onValue(input) }
        return .unlimited
    }

    func receive(completion: Subscribers.Completion<Failure>) { if close() != nil { onCompletion(completion) } }

    /// Ends before the publisher does, which is cancelled.
    func end(_ completion: Subscribers.Completion<Failure>) {
        guard let upstream = close() else { return }
        upstream.cancel()
        onCompletion(completion)
    }

    func request(_ demand: Subscribers.Demand) {}
    func cancel() { close()?.cancel() }

    /// The subscription that it had; nil when it was over.
    private func close() -> (any Subscription)? {
        lock.withLock {
            guard !isOver else { return nil }
            isOver = true
            defer { upstream = nil }
            return upstream ?? NoSubscription()
        }
    }
}

/// The subscription of a publisher that has nothing to stop.
final class NoSubscription: Subscription {
    func request(_ demand: Subscribers.Demand) {}
    func cancel() {}
}
