import HookswitchCombine

/// A subscriber that asks for so many values at its subscription, and for so many more with each. It keeps what it hears, in words.
final class Asker<Input, Failure: Error>: Subscriber {
    private let first: Subscribers.Demand, more: Subscribers.Demand
    private(set) var words: [String] = []
    private var subscription: (any Subscription)?

    init<P: Publisher>(_ publisher: P, first: Subscribers.Demand = .none, more: Subscribers.Demand = .none)
    where P.Output == Input, P.Failure == Failure {
        (self.first, self.more) = (first, more)
        publisher.subscribe(self)
    }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
        if first > .none { subscription.request(first) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        words.append("\(input)")
        return more
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        if case .failure = completion { words.append("failed") } else { words.append("finished") }
    }

    func ask(_ count: Int) { subscription?.request(.max(count)) }
    func askForAll() { subscription?.request(.unlimited) }
    func cancel() { subscription?.cancel() }

    /// The words since the last time.
    func news() -> [String] {
        defer { words = [] }
        return words
    }
}
