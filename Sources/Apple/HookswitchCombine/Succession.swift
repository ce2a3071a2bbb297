/// Publishers whose values go to one subscriber, one publisher after the other. What is requested and not yet given goes over to the next.
final class Succession<Value, Failure: Error>: Subscription, @unchecked Sendable {
    private struct State {
        var demand = Subscribers.Demand.none
        var current: (any Subscription)?
        /// The publisher that names the others.
        var outer: (any Cancellable)?
        var isOver = false
    }

    private let downstream: Sink<Value, Failure>
    private let state = Locked(State())

    init(_ downstream: Sink<Value, Failure>) { self.downstream = downstream }

    /// Hands on the subscription.
    func begin(outer: (any Cancellable)? = nil) {
        state.update { $0.outer = outer }
        downstream.receive(subscription: self)
    }

    /// Takes the values of this publisher from now on. The one before is cancelled.
    func follow<P: Publisher>(_ publisher: P, completion: @escaping (Subscribers.Completion<P.Failure>) -> Void) where P.Output == Value {
        let sink = Sink<Value, P.Failure>(value: { [self] in pass($0) }, completion: completion)
        let (former, isLate) = state.update { state -> ((any Subscription)?, Bool) in
            if state.isOver { return (nil, true) }
            sink.request(state.demand)
            defer { state.current = sink }
            return (state.current, false)
        }
        former?.cancel()
        if !isLate { publisher.receive(subscriber: sink) }
    }

    func finish(_ completion: Subscribers.Completion<Failure>) {
        cancel()
        downstream.receive(completion: completion)
    }

    func request(_ demand: Subscribers.Demand) {
        let current = state.update { state in
            state.demand += demand
            return state.current
        }
        current?.request(demand)
    }

    func cancel() {
        let (outer, current) = state.update { state in
            state.isOver = true
            return (state.outer.take(), state.current.take())
        }
        outer?.cancel()
        current?.cancel()
    }

    private func pass(_ value: Value) -> Subscribers.Demand {
        state.update { $0.demand -= 1 }
        let more = downstream.receive(value)
        state.update { $0.demand += more }
        return more
    }
}
