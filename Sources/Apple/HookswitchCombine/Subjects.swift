import Foundation

/// A publisher that is told what to give.
public protocol Subject<Output, Failure>: Publisher, AnyObject {
    func send(_ value: Output)
    func send(completion: Subscribers.Completion<Failure>)
}

extension Subject where Output == Void {
    public func send() { send(()) }
}

/// A subject that gives each value to those who listen at that time.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let listeners = Listeners<Output, Failure>()
    public init() {}

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        listeners.add(subscriber, first: nil)
    }
    public func send(_ value: Output) { listeners.send(value) }
    public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
}

/// A subject that has a value, and gives it to each who begins to listen.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let listeners = Listeners<Output, Failure>()
    private let current: Locked<Output>
    public init(_ value: Output) { current = Locked(value) }

    public var value: Output {
        get { current.update { $0 } }
        set { send(newValue) }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        listeners.add(subscriber, first: value)
    }

    public func send(_ value: Output) {
        current.update { $0 = value }
        listeners.send(value)
    }

    public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
}

/// The subscribers of a subject.
final class Listeners<Output, Failure: Error>: @unchecked Sendable {
    private struct State {
        var sinks: [Sink<Output, Failure>] = []
        var completion: Subscribers.Completion<Failure>?
    }

    private let state = Locked(State())

    func add<S: Subscriber>(_ subscriber: S, first: Output?) where S.Input == Output, S.Failure == Failure {
        let sink = Sink<Output, Failure>(value: { _ = subscriber.receive($0) }, completion: { subscriber.receive(completion: $0) })
        let completion = state.update { state in
            if state.completion == nil { state.sinks.append(sink) }
            return state.completion
        }
        sink.receive(subscription: NoSubscription())
        subscriber.receive(
            subscription: ClosureSubscription { [weak self] in
                sink.cancel()
                self?.state.update { $0.sinks.removeAll { $0 === sink } }
            })
        if let completion { return sink.receive(completion: completion) }
        if let first { _ = sink.receive(first) }
    }

    func send(_ value: Output) { for sink in state.update({ $0.sinks }) { _ = sink.receive(value) } }

    func end(_ completion: Subscribers.Completion<Failure>) {
        let sinks = state.update { state in
            defer { (state.sinks, state.completion) = ([], state.completion ?? completion) }
            return state.sinks
        }
        for sink in sinks { sink.receive(completion: completion) }
    }
}

/// A publisher of one value.
public struct Just<Output>: Publisher {
    public typealias Failure = Never
    private let value: Output
    public init(_ output: Output) { value = output }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        subscriber.receive(subscription: NoSubscription())
        _ = subscriber.receive(value)
        subscriber.receive(completion: .finished)
    }
}

/// A publisher of nothing.
public struct Empty<Output, Failure: Error>: Publisher {
    private let completes: Bool
    public init(completeImmediately: Bool = true) { completes = completeImmediately }
    public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) { completes = completeImmediately }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        subscriber.receive(subscription: NoSubscription())
        if completes { subscriber.receive(completion: .finished) }
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
    private let subject = CurrentValueSubject<Output?, Failure>(nil)

    public init(_ attempt: @escaping (@escaping Promise) -> Void) {
        attempt { [subject] result in
            switch result {
            case .success(let value):
                subject.send(value)
                subject.send(completion: .finished)
            case .failure(let error): subject.send(completion: .failure(error))
            }
        }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        // A subject that has ended gives no value any more, and a future does.
        let value = subject.value
        guard let value else { return subject.compactMap { $0 }.receive(subscriber: subscriber) }
        subscriber.receive(subscription: NoSubscription())
        _ = subscriber.receive(value)
        subscriber.receive(completion: .finished)
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
