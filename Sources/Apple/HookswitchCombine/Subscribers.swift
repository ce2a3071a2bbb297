import Foundation

/// Subscribers, and what they say and are told, by the names that call code writes.
public enum Subscribers {
    /// The end of a publisher.
    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }

    /// A number of values that are asked for. Sums do not overflow, and no difference is below none.
    public struct Demand: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Nil for an unlimited number.
        public let max: Int?
        public static let none = Demand(max: 0), unlimited = Demand(max: nil)

        public static func max(_ value: Int) -> Demand {
            precondition(value >= 0, "a demand is not negative")
            return Demand(max: value)
        }

        private init(max: Int?) { self.max = max }

        public var description: String { max.map { "max(\($0))" } ?? "unlimited" }

        public static func + (a: Demand, b: Demand) -> Demand {
            guard let one = a.max, let other = b.max else { return .unlimited }
            let (sum, overflows) = one.addingReportingOverflow(other)
            return overflows ? .unlimited : Demand(max: sum)
        }

        public static func - (a: Demand, b: Demand) -> Demand {
            guard let one = a.max else { return .unlimited }
            return Demand(max: Swift.max(0, one - (b.max ?? one)))
        }

        public static func < (a: Demand, b: Demand) -> Bool {
            (a.max ?? .max, a.max == nil ? 1 : 0) < (b.max ?? .max, b.max == nil ? 1 : 0)
        }

        public static func + (a: Demand, b: Int) -> Demand { a + .max(b) }
        public static func - (a: Demand, b: Int) -> Demand { a - .max(b) }
        public static func * (a: Demand, b: Int) -> Demand {
            guard let (product, overflows) = a.max?.multipliedReportingOverflow(by: b) else { return .unlimited }
            return overflows ? .unlimited : .max(product)
        }
        public static func += (a: inout Demand, b: Demand) { a = a + b }
        public static func -= (a: inout Demand, b: Demand) { a = a - b }
        public static func += (a: inout Demand, b: Int) { a = a + b }
        public static func -= (a: inout Demand, b: Int) { a = a - b }
        public static func *= (a: inout Demand, b: Int) { a = a * b }
        public static func > (a: Demand, b: Int) -> Bool { a > .max(b) }
        public static func >= (a: Demand, b: Int) -> Bool { a >= .max(b) }
        public static func < (a: Demand, b: Int) -> Bool { a < .max(b) }
        public static func <= (a: Demand, b: Int) -> Bool { a <= .max(b) }
        public static func == (a: Demand, b: Int) -> Bool { a.max == b }
    }

    /// A subscriber of closures that asks for all values.
    public final class Sink<Input, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
        public let receiveValue: (Input) -> Void
        public let receiveCompletion: (Subscribers.Completion<Failure>) -> Void
        private let sink: HookswitchCombine.Sink<Input, Failure>

        public init(receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void, receiveValue: @escaping (Input) -> Void) {
            (self.receiveValue, self.receiveCompletion) = (receiveValue, receiveCompletion)
            sink = .all(value: receiveValue, completion: receiveCompletion)
        }

        public func receive(subscription: any Subscription) { sink.receive(subscription: subscription) }
        public func receive(_ value: Input) -> Demand { sink.receive(value) }
        public func receive(completion: Subscribers.Completion<Failure>) { sink.receive(completion: completion) }
        public func cancel() { sink.cancel() }
    }

    /// A subscriber that sets a property of an object, which it holds until the end.
    public final class Assign<Root, Input>: Subscriber, Cancellable, @unchecked Sendable {
        public private(set) var object: Root?
        public let keyPath: ReferenceWritableKeyPath<Root, Input>
        private var sink: HookswitchCombine.Sink<Input, Never>?

        public init(object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
            (self.object, self.keyPath) = (object, keyPath)
            sink = .all(value: { [weak self] in self?.object?[keyPath: keyPath] = $0 }) { [weak self] _ in self?.object = nil }
        }

        public func receive(subscription: any Subscription) { sink?.receive(subscription: subscription) }
        public func receive(_ value: Input) -> Demand { sink?.receive(value) ?? .none }
        public func receive(completion: Subscribers.Completion<Never>) { sink?.receive(completion: completion) }
        public func cancel() {
            sink?.cancel()
            object = nil
        }
    }
}

extension Subscribers.Completion: Equatable where Failure: Equatable {}
extension Subscribers.Completion: Hashable where Failure: Hashable {}
extension Subscribers.Completion: Sendable where Failure: Sendable {}

/// Any subscriber to these values, or one of closures.
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    public let combineIdentifier: CombineIdentifier
    private let onSubscription: ((any Subscription) -> Void)?
    private let onValue: ((Input) -> Subscribers.Demand)?
    private let onCompletion: ((Subscribers.Completion<Failure>) -> Void)?

    public init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
        combineIdentifier = subscriber.combineIdentifier
        onSubscription = { subscriber.receive(subscription: $0) }
        onValue = { subscriber.receive($0) }
        onCompletion = { subscriber.receive(completion: $0) }
    }

    public init(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveValue: ((Input) -> Subscribers.Demand)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
    ) {
        combineIdentifier = CombineIdentifier()
        (onSubscription, onValue, onCompletion) = (receiveSubscription, receiveValue, receiveCompletion)
    }

    public func receive(subscription: any Subscription) { onSubscription?(subscription) }
    public func receive(_ value: Input) -> Subscribers.Demand { onValue?(value) ?? .none }
    public func receive(completion: Subscribers.Completion<Failure>) { onCompletion?(completion) }
}
