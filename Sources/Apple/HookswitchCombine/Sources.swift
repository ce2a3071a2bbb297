import Foundation

extension Publishers {
    /// The elements of a sequence, one after the other as they are requested, and the end.
    public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
        public typealias Output = Elements.Element
        public let sequence: Elements
        public init(sequence: Elements) { self.sequence = sequence }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            Supply<Elements.Iterator, Failure>(sequence.makeIterator(), Sink(subscriber)).begin()
        }
    }
}

extension Sequence {
    /// The elements, one after the other, and the end.
    public var publisher: Publishers.Sequence<Self, Never> { Publishers.Sequence(sequence: self) }
}

/// The elements that are left of a sequence. Its iterator is asked for one more than was given, so that the end comes with the last.
private final class Supply<Elements: IteratorProtocol, Failure: Error>: Subscription, @unchecked Sendable {
    private struct State {
        var demand = Subscribers.Demand.none
        var isGiving = true, isOver = false
    }

    private let downstream: Sink<Elements.Element, Failure>
    private let state = Locked(State())
    /// The iterator and its next element belong to the one that gives.
    private var elements: Elements
    private var next: Elements.Element?

    init(_ elements: Elements, _ downstream: Sink<Elements.Element, Failure>) {
        (self.elements, self.downstream) = (elements, downstream)
    }

    func begin() {
        next = elements.next()
        downstream.receive(subscription: self)
        give()
    }

    func request(_ demand: Subscribers.Demand) {
        let isOther = state.update { state in
            state.demand += demand
            defer { state.isGiving = true }
            return state.isGiving
        }
        if !isOther { give() }
    }

    func cancel() { state.update { $0.isOver = true } }

    private func give() {
        while let value = next {
            // Another thread may give from here on.
            guard mayGive else { return }
            next = elements.next()
            let more = downstream.receive(value)
            state.update { $0.demand += more }
        }
        downstream.receive(completion: .finished)
    }

    private var mayGive: Bool {
        state.update { state in
            state.isGiving = state.demand > .none && !state.isOver
            if state.isGiving { state.demand -= 1 }
            return state.isGiving
        }
    }
}

/// A publisher of one value.
public struct Just<Output>: Publisher {
    public typealias Failure = Never
    public let output: Output
    public init(_ output: Output) { self.output = output }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        Publishers.Sequence(sequence: CollectionOfOne(output)).receive(subscriber: subscriber)
    }
}

/// A publisher of nothing.
public struct Empty<Output, Failure: Error>: Publisher {
    public let completeImmediately: Bool
    public init(completeImmediately: Bool = true) { self.completeImmediately = completeImmediately }
    public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
        self.completeImmediately = completeImmediately
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        subscriber.receive(subscription: NoSubscription())
        if completeImmediately { subscriber.receive(completion: .finished) }
    }
}

/// A publisher of an error.
public struct Fail<Output, Failure: Error>: Publisher {
    public let error: Failure
    public init(error: Failure) { self.error = error }
    public init(outputType: Output.Type, failure: Failure) { error = failure }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        subscriber.receive(subscription: NoSubscription())
        subscriber.receive(completion: .failure(error))
    }
}

/// A publisher of one value that comes later. Its work begins when it is made.
public final class Future<Output, Failure: Error>: Publisher, @unchecked Sendable {
    public typealias Promise = (Result<Output, Failure>) -> Void
    private typealias State = (result: Result<Output, Failure>?, outlets: [Outlet<Output, Failure>])
    private let state = Locked<State>((nil, []))

    public init(_ attempt: @escaping (@escaping Promise) -> Void) {
        attempt { [state] result in
            let outlets = state.update { state in
                defer { if state.result == nil { state = (result, []) } }
                return state.outlets
            }
            for outlet in outlets { Self.give(result, to: outlet) }
        }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let outlet = Outlet<Output, Failure>(Sink(subscriber), excess: { $0.append($1) })
        let result = state.update { state in
            if state.result == nil { state.outlets.append(outlet) }
            return state.result
        }
        outlet.begin(ClosureSubscription { [state] in state.update { $0.outlets.removeAll { $0 === outlet } } })
        if let result { Self.give(result, to: outlet) }
    }

    private static func give(_ result: Result<Output, Failure>, to outlet: Outlet<Output, Failure>) {
        switch result {
        case .success(let value):
            outlet.send(value)
            outlet.finish(.finished)
        case .failure(let error): outlet.end(.failure(error))
        }
    }
}

/// A publisher that is made anew for each who listens.
public struct Deferred<DeferredPublisher: Publisher>: Publisher {
    public typealias Output = DeferredPublisher.Output
    public typealias Failure = DeferredPublisher.Failure
    public let createPublisher: () -> DeferredPublisher
    public init(createPublisher: @escaping () -> DeferredPublisher) { self.createPublisher = createPublisher }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        createPublisher().receive(subscriber: subscriber)
    }
}

extension Optional {
    /// The value, where there is one, and the end.
    public var publisher: AnyPublisher<Wrapped, Never> { (map { [$0] } ?? []).publisher.eraseToAnyPublisher() }
}

extension Result {
    /// The value and the end, or the error.
    public var publisher: AnyPublisher<Success, Failure> {
        switch self {
        case .success(let value): Publishers.Sequence(sequence: CollectionOfOne(value)).eraseToAnyPublisher()
        case .failure(let error): Fail(error: error).eraseToAnyPublisher()
        }
    }
}
