@_exported import Foundation

// The part of Combine that call code uses, under a name that other packages do not look for.

/// A source of values over time, and of one completion.
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    /// Begins to give values to a subscriber; the first is its subscription. No value comes that was not requested there.
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

/// A receiver of values and of one completion.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    /// - Returns: so many more are requested.
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
    public func receive() -> Subscribers.Demand { receive(()) }
}

/// The tie of a subscriber to its publisher.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    /// Lets the publisher give so many values more.
    func request(_ demand: Subscribers.Demand)
}

/// A name that is no other's.
public struct CombineIdentifier: Hashable, Sendable, CustomStringConvertible {
    private static let last = Locked<UInt64>(0)
    private let number: UInt64

    public init() {
        number = Self.last.update {
            $0 += 1; return $0
        }
    }

    /// The name of an object.
    public init(_ object: AnyObject) { number = UInt64(UInt(bitPattern: ObjectIdentifier(object).hashValue)) }

    public var description: String { "0x\(String(number, radix: 16))" }
}

/// A subscriber or subscription that has a name.
public protocol CustomCombineIdentifierConvertible {
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

/// Any publisher of these values.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let subscribe: (Sink<Output, Failure>) -> Void

    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
        subscribe = { publisher.receive(subscriber: $0) }
    }

    /// A publisher that gives to the sink what the closure has for it.
    init(subscribe: @escaping (Sink<Output, Failure>) -> Void) { self.subscribe = subscribe }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure { subscribe(Sink(subscriber)) }
}
