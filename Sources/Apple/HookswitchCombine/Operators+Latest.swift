// The operator that follows one publisher after the other.

extension Publisher where Output: Publisher, Output.Failure == Failure {
    /// The values of the publisher that came last; the one before is cancelled.
    public func switchToLatest() -> AnyPublisher<Output.Output, Failure> {
        AnyPublisher { downstream in LatestFeed(downstream).follow(self) }
    }
}

extension Publisher where Output: Publisher, Output.Failure == Never, Failure: Error {
    /// The same, where the publishers that come never fail.
    @_disfavoredOverload
    public func switchToLatest() -> AnyPublisher<Output.Output, Failure> {
        map { $0.setFailureType(to: Failure.self) }.switchToLatest()
    }
}

/// The feed of the publisher that came last. It ends when the outer publisher and that one have, or as soon as one fails.
private final class LatestFeed<Value, Failure: Error>: @unchecked Sendable {
    private struct State {
        var turn = 0
        var isOuterOver = false, isInnerOver = true, isCancelled = false
        var outer: AnyCancellable?, inner: AnyCancellable?
    }

    private let downstream: Sink<Value, Failure>
    private let state = Locked(State())
    init(_ downstream: Sink<Value, Failure>) { self.downstream = downstream }

    func follow<P: Publisher>(_ outer: P)
    where P.Output: Publisher, P.Output.Output == Value, P.Output.Failure == Failure, P.Failure == Failure {
        // The subscription holds the feed, and the feed its publishers.
        downstream.receive(subscription: ClosureSubscription { [self] in cancel() })
        let held = outer.sink(receiveCompletion: { [self] in end($0) { $0.isOuterOver = true } }, receiveValue: { [self] in take($0) })
        keep(held, \.outer)
    }

    private func take<P: Publisher>(_ publisher: P) where P.Output == Value, P.Failure == Failure {
        let (turn, former) = state.update { state in
            state.turn += 1
            state.isInnerOver = false
            return (state.turn, state.inner.take())
        }
        former?.cancel()
        let held = publisher.sink(receiveCompletion: { [self] completion in
            guard state.update({ $0.turn }) == turn else { return }
            end(completion) { $0.isInnerOver = true }
        }) { [self] value in
            if state.update({ $0.turn }) == turn { _ = downstream.receive(value) }
        }
        if state.update({ $0.turn }) == turn { keep(held, \.inner) } else { held.cancel() }
    }

    private func keep(_ held: AnyCancellable, _ place: WritableKeyPath<State, AnyCancellable?>) {
        let isLate = state.update { state in
            if !state.isCancelled { state[keyPath: place] = held }
            return state.isCancelled
        }
        if isLate { held.cancel() }
    }

    private func end(_ completion: Subscribers.Completion<Failure>, _ note: (inout State) -> Void) {
        let isLast = state.update { state in
            note(&state)
            return state.isOuterOver && state.isInnerOver
        }
        if case .finished = completion, !isLast { return }
        downstream.receive(completion: completion)
        cancel()
    }

    private func cancel() {
        let held = state.update { state in
            state.isCancelled = true
            return [state.outer.take(), state.inner.take()]
        }
        for each in held { each?.cancel() }
    }
}
