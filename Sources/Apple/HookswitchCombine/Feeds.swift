import Foundation

/// Publishers whose values go to one subscriber, as they come. Unless all values are requested, each is asked for one value at a time, and
/// one that nobody has requested waits here. It ends when the last of them has, or as soon as one fails.
final class Feeds<Value, Failure: Error>: Subscription, @unchecked Sendable {
    private final class Feed {
        /// Holds the feed, which holds it until it is over.
        var sink: Sink<Value, Failure>?
        var waiting: ArraySlice<Value> = []
        var isOver = false
    }

    private struct State {
        var demand = Subscribers.Demand.none
        var feeds: [Feed] = []
        /// The publisher of the publishers: it is asked for one more when one of them is over.
        var outer: (any Subscription)?
        var isClosed = false, isDraining = false, isOver = false
    }

    private let downstream: Sink<Value, Failure>
    private let state = Locked(State())
    /// Values that several threads send at once are given one after the other.
    private let delivery = NSRecursiveLock()

    init(_ downstream: Sink<Value, Failure>) { self.downstream = downstream }

    /// Hands on the subscription.
    func begin() { downstream.receive(subscription: self) }

    func add<P: Publisher>(_ publisher: P) where P.Output == Value, P.Failure == Failure {
        let feed = Feed()
        let sink = Sink<Value, Failure>(
            subscription: { [self] in $0.request(isUnlimited ? .unlimited : .max(1)) }, value: { [self] in take($0, of: feed) },
            completion: { [self] in end($0, of: feed) })
        let isLate = state.update { state in
            if state.isOver { return true }
            feed.sink = sink
            state.feeds.append(feed)
            return false
        }
        if !isLate { publisher.receive(subscriber: sink) }
    }

    /// Adds the publishers that another gives.
    func add(_ outer: any Subscription, atOnce count: Subscribers.Demand) {
        state.update { $0.outer = outer }
        outer.request(count)
    }

    /// No publisher is added any more.
    func close(_ completion: Subscribers.Completion<Failure> = .finished) {
        if case .failure = completion { return finish(completion) }
        state.update { $0.isClosed = true }
        settle()
    }

    func request(_ demand: Subscribers.Demand) {
        ask(demand)
        drain()
    }

    func cancel() { stop() }

    private var isUnlimited: Bool { state.update { $0.demand == .unlimited } }

    private func take(_ value: Value, of feed: Feed) -> Subscribers.Demand {
        let passes = state.update { state in
            guard feed.waiting.isEmpty, state.demand > .none else {
                feed.waiting.append(value)
                return false
            }
            state.demand -= 1
            return true
        }
        guard passes else { return .none }
        ask(delivery.withLock { downstream.receive(value) })
        // One that came meanwhile waits, and may have been requested.
        drain()
        return isUnlimited ? .none : .max(1)
    }

    private func ask(_ demand: Subscribers.Demand) {
        let unbound = state.update { state -> [Sink<Value, Failure>?] in
            let wasUnlimited = state.demand == .unlimited
            state.demand += demand
            return !wasUnlimited && state.demand == .unlimited ? state.feeds.map(\.sink) : []
        }
        for sink in unbound { sink?.request(.unlimited) }
    }

    private func drain() {
        let isOther = state.update { state in
            defer { state.isDraining = true }
            return state.isDraining
        }
        if isOther { return }
        while let (value, sink) = state.update(next) {
            ask(delivery.withLock { downstream.receive(value) })
            if !isUnlimited { sink?.request(.max(1)) }
            settle()
        }
    }

    private func next(_ state: inout State) -> (Value, Sink<Value, Failure>?)? {
        guard state.demand > .none, let feed = state.feeds.first(where: { !$0.waiting.isEmpty }), let value = feed.waiting.popFirst() else {
            state.isDraining = false
            return nil
        }
        state.demand -= 1
        return (value, feed.sink)
    }

    private func end(_ completion: Subscribers.Completion<Failure>, of feed: Feed) {
        if case .failure = completion { return finish(completion) }
        state.update { _ in feed.isOver = true }
        settle()
    }

    /// Lets those go that are over and have nothing that waits.
    private func settle() {
        let (count, outer, isLast) = state.update { state in
            let isOver = { (feed: Feed) in feed.isOver && feed.waiting.isEmpty }, over = state.feeds.filter(isOver)
            for feed in over { feed.sink = nil }
            state.feeds.removeAll(where: isOver)
            return (over.count, state.outer, state.isClosed && state.feeds.isEmpty)
        }
        if isLast { return finish(.finished) }
        if count > 0 { outer?.request(.max(count)) }
    }

    private func finish(_ completion: Subscribers.Completion<Failure>) {
        stop()
        delivery.withLock { downstream.receive(completion: completion) }
    }

    private func stop() {
        let (sinks, outer) = state.update { state in
            state.isOver = true
            defer {
                for feed in state.feeds { feed.sink = nil }
                (state.feeds, state.outer) = ([], nil)
            }
            return (state.feeds.map(\.sink), state.outer)
        }
        outer?.cancel()
        for sink in sinks { sink?.cancel() }
    }
}
