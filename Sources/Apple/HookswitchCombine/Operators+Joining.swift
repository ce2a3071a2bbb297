// Operators that join several publishers.

extension Publisher {
    /// The values of both, as they come.
    public func merge<Other: Publisher>(with other: Other) -> AnyPublisher<Output, Failure>
    where Other.Output == Output, Other.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            feeds.add(self) { _ = downstream.receive($0) }
            feeds.add(other) { _ = downstream.receive($0) }
            feeds.close()
        }
    }

    /// The values of all, as they come.
    public func merge<B: Publisher, C: Publisher>(with b: B, _ c: C) -> AnyPublisher<Output, Failure>
    where B.Output == Output, C.Output == Output, B.Failure == Failure, C.Failure == Failure { merge(with: b).merge(with: c) }

    public func merge<B: Publisher, C: Publisher, D: Publisher>(with b: B, _ c: C, _ d: D) -> AnyPublisher<Output, Failure>
    where
        B.Output == Output, C.Output == Output, D.Output == Output, B.Failure == Failure, C.Failure == Failure, D.Failure == Failure
    { merge(with: b, c).merge(with: d) }

    /// The newest value of each, once there are both.
    public func combineLatest<Other: Publisher>(_ other: Other) -> AnyPublisher<(Output, Other.Output), Failure>
    where Other.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream), newest = Locked<(Output?, Other.Output?)>((nil, nil))
            let give = { @Sendable in
                if case (let a?, let b?) = newest.update({ $0 }) { _ = downstream.receive((a, b)) }
            }
            feeds.add(self) { value in
                newest.update { $0.0 = value }; give()
            }
            feeds.add(other) { value in
                newest.update { $0.1 = value }; give()
            }
            feeds.close()
        }
    }

    /// The newest value of each, once there are all.
    public func combineLatest<B: Publisher, C: Publisher>(_ b: B, _ c: C) -> AnyPublisher<(Output, B.Output, C.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure { combineLatest(b).combineLatest(c).map { ($0.0, $0.1, $1) } }

    public func combineLatest<B: Publisher, C: Publisher, D: Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(Output, B.Output, C.Output, D.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c).combineLatest(d).map { ($0.0, $0.1, $0.2, $1) }
    }

    public func combineLatest<Other: Publisher, Value>(
        _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure { combineLatest(other).map { transform($0.0, $0.1) } }

    public func zip<Other: Publisher, Value>(
        _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure { zip(other).map { transform($0.0, $0.1) } }

    public func zip<B: Publisher, C: Publisher>(_ b: B, _ c: C) -> AnyPublisher<(Output, B.Output, C.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure { zip(b).zip(c).map { ($0.0, $0.1, $1) } }

    /// The values until the other gives one.
    public func prefix<P: Publisher>(untilOutputFrom other: P) -> AnyPublisher<Output, Failure> {
        let ends = other.map { _ in Output?.none }.replaceError(with: nil).first()
        return map(Optional.some).merge(with: ends.setFailureType(to: Failure.self)).prefix { $0 != nil }.compactMap(\.self)
    }

    /// The first value of each, then the second of each, and so on.
    public func zip<Other: Publisher>(_ other: Other) -> AnyPublisher<(Output, Other.Output), Failure> where Other.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream), waiting = Locked<([Output], [Other.Output])>(([], []))
            let give = { @Sendable in
                let pair = waiting.update { $0.0.isEmpty || $0.1.isEmpty ? nil : Unchecked(($0.0.removeFirst(), $0.1.removeFirst())) }
                if let pair { _ = downstream.receive(pair.value) }
            }
            feeds.add(self) { value in
                waiting.update { $0.0.append(value) }; give()
            }
            feeds.add(other) { value in
                waiting.update { $0.1.append(value) }; give()
            }
            feeds.close()
        }
    }

    /// The values of the publishers that the closure makes of each value, as they come.
    public func flatMap<P: Publisher>(_ transform: @escaping (Output) -> P) -> AnyPublisher<P.Output, Failure> where P.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            feeds.add(self) { value in feeds.add(transform(value)) { _ = downstream.receive($0) } }
            feeds.close()
        }
    }

    /// After a failure, the values of the publisher that the closure makes of the error.
    public func `catch`<P: Publisher>(_ handler: @escaping (Failure) -> P) -> AnyPublisher<Output, P.Failure> where P.Output == Output {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            let first = sink(receiveCompletion: { completion in
                if case .failure(let error) = completion { feeds.add(handler(error)) { _ = downstream.receive($0) } }
                feeds.close()
            }) {
                _ = downstream.receive($0)
            }
            feeds.hold(first)
        }
    }

    /// One subscription for all who listen: it begins with the first of them, and lasts as long as this publisher.
    public func share() -> AnyPublisher<Output, Failure> {
        let subject = PassthroughSubject<Output, Failure>(), upstream = Locked<AnyCancellable?>(nil)
        return AnyPublisher { downstream in
            subject.receive(subscriber: downstream)
            upstream.update { held in
                guard held == nil else { return }
                held = sink(receiveCompletion: { subject.send(completion: $0) }) { subject.send($0) }
            }
        }
    }
}

/// The publishers that feed one subscriber. It ends when all have finished and the list is closed, or as soon as one fails.
final class Feeds<Value, Failure: Error>: @unchecked Sendable {
    private struct State {
        /// The list itself counts as one until it is closed.
        var open = 1
        var held: [AnyCancellable] = []
        var isCancelled = false
    }

    private let downstream: Sink<Value, Failure>
    private let state = Locked(State())

    init(_ downstream: Sink<Value, Failure>) {
        self.downstream = downstream
        downstream.receive(subscription: ClosureSubscription { [weak self] in self?.cancel() })
    }

    func add<P: Publisher>(_ publisher: P, each: @escaping (P.Output) -> Void) where P.Failure == Failure {
        let isCancelled = state.update { state in
            state.open += 1
            return state.isCancelled
        }
        if isCancelled { return }
        hold(publisher.sink(receiveCompletion: { [self] in end($0) }, receiveValue: each))
    }

    func hold(_ subscription: AnyCancellable) {
        let isLate = state.update { state in
            if !state.isCancelled { state.held.append(subscription) }
            return state.isCancelled
        }
        if isLate { subscription.cancel() }
    }

    /// No publisher is added any more but by those that are there.
    func close() { end(.finished) }

    func fail(_ error: Failure) { end(.failure(error)) }

    /// - Parameter isLast: whatever else is open is not waited for.
    func end(_ completion: Subscribers.Completion<Failure>, isLast: Bool = false) {
        let isLast = state.update { state in
            state.open -= 1
            return isLast || state.open == 0
        }
        if case .finished = completion, !isLast { return }
        downstream.receive(completion: completion)
        cancel()
    }

    private func cancel() {
        let held = state.update { state in
            state.isCancelled = true
            defer { state.held = [] }
            return state.held
        }
        for each in held { each.cancel() }
    }
}
