import Foundation

// Each gives an `AnyPublisher`: names of the publishers between (`Publishers.Map`) are not here.

extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }

    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void, receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Sink(value: receiveValue, completion: receiveCompletion)
        receive(subscriber: sink)
        return AnyCancellable(sink)
    }

    /// Gives all values, and the end, to a subject.
    public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
        sink(receiveCompletion: { subject.send(completion: $0) }) { subject.send($0) }
    }

    /// A publisher of the same values, each of which goes through a closure that may hand on any number.
    func through<Value>(_ each: @escaping (Output, Sink<Value, Failure>) -> Void) -> AnyPublisher<Value, Failure> {
        through(each) { $1.receive(completion: $0) }
    }

    func through<Value, Other: Error>(
        _ each: @escaping (Output, Sink<Value, Other>) -> Void,
        completion: @escaping (Subscribers.Completion<Failure>, Sink<Value, Other>) -> Void
    ) -> AnyPublisher<Value, Other> {
        AnyPublisher { downstream in
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { downstream.receive(subscription: $0) }, value: { each($0, downstream) },
                    completion: { completion($0, downstream) }))
        }
    }

    public func map<Value>(_ transform: @escaping (Output) -> Value) -> AnyPublisher<Value, Failure> {
        through { _ = $1.receive(transform($0)) }
    }

    public func map<A, B>(_ a: KeyPath<Output, A>, _ b: KeyPath<Output, B>) -> AnyPublisher<(A, B), Failure> {
        map { ($0[keyPath: a], $0[keyPath: b]) }
    }

    public func compactMap<Value>(_ transform: @escaping (Output) -> Value?) -> AnyPublisher<Value, Failure> {
        through { if let value = transform($0) { _ = $1.receive(value) } }
    }

    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through { if isIncluded($0) { _ = $1.receive($0) } }
    }

    public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let seen = Locked(0)
            through {
                if seen.update({
                    $0 += 1; return $0
                }) > count {
                    _ = $1.receive($0)
                }
            }.receive(subscriber: downstream)
        }
    }

    /// The first values, so many, and the end after the last of them: at once where none is wanted.
    public func prefix(_ count: Int) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let seen = Locked(0)
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: {
                        downstream.receive(subscription: $0)
                        if count == 0 { downstream.end(.finished) }
                    },
                    value: {
                        let index = seen.update {
                            $0 += 1; return $0
                        }
                        if index <= count { _ = downstream.receive($0) }
                        if index >= count { downstream.end(.finished) }
                    }, completion: { downstream.receive(completion: $0) }))
        }
    }

    public func first() -> AnyPublisher<Output, Failure> { prefix(1) }
    public func first(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> { filter(isWanted).prefix(1) }

    public func removeDuplicates(by isSame: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let last = Locked<Output?>(nil)
            through { value, sink in
                let isNew = last.update { last in
                    defer { last = value }
                    return last.map { !isSame($0, value) } ?? true
                }
                if isNew { _ = sink.receive(value) }
            }.receive(subscriber: downstream)
        }
    }

    public func receive<S: Scheduler>(on scheduler: S, options: Never? = nil) -> AnyPublisher<Output, Failure> {
        through({ value, sink in
            let value = Unchecked(value)
            scheduler.hookswitchSchedule { _ = sink.receive(value.value) }
        }) { completion, sink in
            let completion = Unchecked(completion)
            scheduler.hookswitchSchedule { sink.receive(completion: completion.value) }
        }
    }

    /// Subscribes where it is called: publishers of call code do no work by themselves.
    public func subscribe<S: Scheduler>(on scheduler: S, options: Never? = nil) -> AnyPublisher<Output, Failure> { AnyPublisher(self) }

    /// Gives a value when no other has come for so long. The end drops the value that waits.
    public func debounce<S: Scheduler>(for time: HookswitchInterval, scheduler: S) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let count = Locked(0)
            through({ value, sink in
                let value = Unchecked(value),
                    own = count.update {
                        $0 += 1; return $0
                    }
                scheduler.hookswitchSchedule(after: time) { if count.update({ $0 }) == own { _ = sink.receive(value.value) } }
            }) { completion, sink in
                let completion = Unchecked(completion)
                count.update { $0 += 1 }
                scheduler.hookswitchSchedule { sink.receive(completion: completion.value) }
            }.receive(subscriber: downstream)
        }
    }

    /// Gives each value, and the end, so long after it came.
    public func delay<S: Scheduler>(for time: HookswitchInterval, scheduler: S) -> AnyPublisher<Output, Failure> {
        through({ value, sink in
            let value = Unchecked(value)
            scheduler.hookswitchSchedule(after: time) { _ = sink.receive(value.value) }
        }) { completion, sink in
            let completion = Unchecked(completion)
            scheduler.hookswitchSchedule(after: time) { sink.receive(completion: completion.value) }
        }
    }

    public func mapError<Other: Error>(_ transform: @escaping (Failure) -> Other) -> AnyPublisher<Output, Other> {
        through({ _ = $1.receive($0) }) { completion, sink in
            switch completion {
            case .finished: sink.receive(completion: .finished)
            case .failure(let error): sink.receive(completion: .failure(transform(error)))
            }
        }
    }

    public func replaceError(with value: Output) -> AnyPublisher<Output, Never> {
        through({ _ = $1.receive($0) }) { completion, sink in
            if case .failure = completion { _ = sink.receive(value) }
            sink.receive(completion: .finished)
        }
    }
}

extension Publisher where Output: Equatable {
    public func removeDuplicates() -> AnyPublisher<Output, Failure> { removeDuplicates(by: ==) }
}

extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// The object is held.
    public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
        sink { object[keyPath: keyPath] = $0 }
    }

    public func assign(to published: inout Published<Output>.Publisher) {
        let box = published.box
        let held = sink { [weak box] in box?.set($0) }
        box.hold(held)
    }
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

final class ClosureSubscription: Subscription, @unchecked Sendable {
    private let action: () -> Void
    init(_ cancel: @escaping () -> Void) { action = cancel }
    func request(_ demand: Subscribers.Demand) {}
    func cancel() { action() }
}
