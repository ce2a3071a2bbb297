import Foundation

/// A subscriber of closures, and the subscription of the one after it. Nothing comes after its completion, nor after it is cancelled.
///
/// Requests go to the publisher; those that come before it has given a subscription wait for it.
final class Sink<Input, Failure: Error>: Subscriber, Subscription, @unchecked Sendable {
    private struct State {
        var upstream: (any Subscription)?
        var early = Subscribers.Demand.none
        var isOver = false
    }

    private let state = Locked(State())
    private let onSubscription: ((any Subscription) -> Void)?
    private let onValue: (Input) -> Subscribers.Demand
    private let onCompletion: (Subscribers.Completion<Failure>) -> Void

    init(
        subscription: ((any Subscription) -> Void)? = nil, value: @escaping (Input) -> Subscribers.Demand,
        completion: @escaping (Subscribers.Completion<Failure>) -> Void
    ) { (onSubscription, onValue, onCompletion) = (subscription, value, completion) }

    /// One that hands all on to another subscriber.
    convenience init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
        self.init(
            subscription: { subscriber.receive(subscription: $0) }, value: { subscriber.receive($0) },
            completion: { subscriber.receive(completion: $0) })
    }

    /// One that asks for all values, at its subscription.
    static func all(value: @escaping (Input) -> Void, completion: @escaping (Subscribers.Completion<Failure>) -> Void) -> Sink {
        Sink(
            subscription: { $0.request(.unlimited) },
            value: {
                value($0)
                return .none
            }, completion: completion)
    }

    func receive(subscription: any Subscription) {
        let (isLate, early) = state.update { state in
            let isLate = state.isOver || state.upstream != nil
            if !isLate { state.upstream = subscription }
            defer { if !isLate { state.early = .none } }
            return (isLate, state.early)
        }
        if isLate { return subscription.cancel() }
        if early > .none { subscription.request(early) }
        onSubscription?(self)
    }

    func receive(_ input: Input) -> Subscribers.Demand { state.update { $0.isOver } ? .none : onValue(input) }

    func receive(completion: Subscribers.Completion<Failure>) { if close() != nil { onCompletion(completion) } }

    /// Ends before the publisher does, which is cancelled.
    func end(_ completion: Subscribers.Completion<Failure>) {
        guard let upstream = close() else { return }
        upstream.cancel()
        onCompletion(completion)
    }

    func request(_ demand: Subscribers.Demand) {
        let upstream = state.update { state in
            if state.upstream == nil, !state.isOver { state.early += demand }
            return state.upstream
        }
        upstream?.request(demand)
    }

    func cancel() { close()?.cancel() }

    /// The subscription that it had; nil when it was over.
    private func close() -> (any Subscription)? {
        state.update { state in
            guard !state.isOver else { return nil }
            state.isOver = true
            defer { state.upstream = nil }
            return state.upstream ?? NoSubscription()
        }
    }
}

extension Sink {
    /// Gives a value at another time than the publisher did, and hands on what is requested then.
    func give(_ value: Input) {
        let more = receive(value)
        if more > .none { request(more) }
    }
}
