import Foundation

// Most operators give an `AnyPublisher`: names of the publishers between (`Publishers.Map`) are not here.

extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }

    /// Begins to give values to a subscriber, as it requests them.
    public func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure { receive(subscriber: subscriber) }

    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void, receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Sink<Output, Failure>.all(value: receiveValue, completion: receiveCompletion)
        receive(subscriber: sink)
        return AnyCancellable(sink)
    }

    /// Gives all values, and the end, to a subject.
    public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
        let sink = Sink<Output, Failure>(
            subscription: { subject.send(subscription: $0) },
            value: {
                subject.send($0)
                return .none
            }, completion: { subject.send(completion: $0) })
        receive(subscriber: sink)
        return AnyCancellable(sink)
    }

    /// A publisher of the same values, each of which goes through a closure that may hand it on. One that does not requests another.
    func through<Value>(_ each: @escaping (Output, Sink<Value, Failure>) -> Subscribers.Demand) -> AnyPublisher<Value, Failure> {
        through(each) { $1.receive(completion: $0) }
    }

    func through<Value, Other: Error>(
        _ each: @escaping (Output, Sink<Value, Other>) -> Subscribers.Demand,
        completion: @escaping (Subscribers.Completion<Failure>, Sink<Value, Other>) -> Void
    ) -> AnyPublisher<Value, Other> {
        AnyPublisher { downstream in
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { downstream.receive(subscription: $0) }, value: { each($0, downstream) },
                    completion: { completion($0, downstream) }))
        }
    }

    /// The same with a state of each subscription.
    func through<Value, State>(
        _ initial: State, _ each: @escaping (inout State, Output) -> Value?
    ) -> AnyPublisher<Value, Failure> {
        AnyPublisher { downstream in
            let state = Locked(initial)
            through { value, sink in state.update { each(&$0, value) }.map { sink.receive($0) } ?? .max(1) }.receive(subscriber: downstream)
        }
    }

    /// A publisher that takes all values of this one, at once, and gives what closures make of them as it is requested.
    func pooled<Value, Other: Error>(
        excess: @escaping Outlet<Value, Other>.Excess = { $0.append($1) }, _ each: @escaping (Output, Outlet<Value, Other>) -> Void,
        completion: @escaping (Subscribers.Completion<Failure>, Outlet<Value, Other>) -> Void
    ) -> AnyPublisher<Value, Other> {
        AnyPublisher { downstream in
            let outlet = Outlet(downstream, excess: excess)
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: {
                        outlet.begin($0)
                        $0.request(.unlimited)
                    },
                    value: {
                        each($0, outlet)
                        return .none
                    }, completion: { completion($0, outlet) }))
        }
    }

    /// The values, or the error, for `for try await`.
    @_disfavoredOverload
    public var values: AsyncThrowingPublisher<Self> { AsyncThrowingPublisher(self) }

    public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
        through { $1.receive(transform($0)) }
    }

    public func map<A, B>(_ a: KeyPath<Output, A>, _ b: KeyPath<Output, B>) -> AnyPublisher<(A, B), Failure> {
        map { ($0[keyPath: a], $0[keyPath: b]) }
    }

    public func map<A, B, C>(
        _ a: KeyPath<Output, A>, _ b: KeyPath<Output, B>, _ c: KeyPath<Output, C>
    ) -> AnyPublisher<(A, B, C), Failure> { map { ($0[keyPath: a], $0[keyPath: b], $0[keyPath: c]) } }

    public func compactMap<Value>(_ transform: @escaping (Output) -> Value?) -> AnyPublisher<Value, Failure> {
        through { value, sink in transform(value).map { sink.receive($0) } ?? .max(1) }
    }

    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through { isIncluded($0) ? $1.receive($0) : .max(1) }
    }

    public func replaceNil<Value>(with value: Value) -> AnyPublisher<Value, Failure> where Output == Value? { map { $0 ?? value } }

    public func mapError<Other: Error>(_ transform: @escaping (Failure) -> Other) -> AnyPublisher<Output, Other> {
        through({ $1.receive($0) }) { completion, sink in
            switch completion {
            case .finished: sink.receive(completion: .finished)
            case .failure(let error): sink.receive(completion: .failure(transform(error)))
            }
        }
    }
}

extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// The object is held until the end.
    public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
        let subscriber = Subscribers.Assign(object: object, keyPath: keyPath)
        subscribe(subscriber)
        return AnyCancellable(subscriber)
    }

    public func assign(to published: inout Published<Output>.Publisher) {
        let box = published.box
        let held = sink { [weak box] in box?.set($0) }
        box.hold(held)
    }

    public func setFailureType<Other: Error>(to type: Other.Type) -> AnyPublisher<Output, Other> {
        through({ $1.receive($0) }) { _, sink in sink.receive(completion: .finished) }
    }

    /// The values for `for await`.
    public var values: AsyncPublisher<Self> { AsyncPublisher(self) }
}
