import Foundation

/// The values of two publishers that wait for each other.
protocol PairStore {
    associatedtype A
    associatedtype B
    init()
    mutating func put(a: A)
    mutating func put(b: B)
    /// The pair that the last value has made complete.
    mutating func next() -> (A, B)?
    /// Whether no pair can come any more.
    func isOver(_ over: (a: Bool, b: Bool)) -> Bool
}

/// The first value of each makes a pair, then the second of each, and so on.
struct ZipStore<A, B>: PairStore {
    private var a: ArraySlice<A> = [], b: ArraySlice<B> = []
    mutating func put(a value: A) { a.append(value) }
    mutating func put(b value: B) { b.append(value) }

    mutating func next() -> (A, B)? {
        guard let first = a.first, let second = b.first else { return nil }
        (a, b) = (a.dropFirst(), b.dropFirst())
        return (first, second)
    }

    func isOver(_ over: (a: Bool, b: Bool)) -> Bool { over.a && a.isEmpty || over.b && b.isEmpty }
}

/// The newest value of each makes a pair.
struct LatestStore<A, B>: PairStore {
    private var a: A?, b: B?, isNew = false
    mutating func put(a value: A) { (a, isNew) = (value, true) }
    mutating func put(b value: B) { (b, isNew) = (value, true) }

    mutating func next() -> (A, B)? {
        guard isNew, let a, let b else { return nil }
        isNew = false
        return (a, b)
    }

    func isOver(_ over: (a: Bool, b: Bool)) -> Bool { over.a && over.b }
}

/// Two publishers whose values go in pairs to one subscriber. Each is asked for as many as the pairs that are requested; a pair beyond them
/// is dropped. It ends when no pair can come any more, or as soon as one fails.
final class Pairing<Store: PairStore, Failure: Error>: Subscription, @unchecked Sendable {
    private struct State {
        var demand = Subscribers.Demand.none
        var store = Store()
        var over = (a: false, b: false)
        var a: Sink<Store.A, Failure>?, b: Sink<Store.B, Failure>?
    }

    private let downstream: Sink<(Store.A, Store.B), Failure>
    private let state = Locked(State())
    /// Values that several threads send at once are given one after the other.
    private let delivery = NSRecursiveLock()

    init(_ downstream: Sink<(Store.A, Store.B), Failure>) { self.downstream = downstream }

    func begin<A: Publisher, B: Publisher>(_ a: A, _ b: B)
    where A.Output == Store.A, B.Output == Store.B, A.Failure == Failure, B.Failure == Failure {
        let first = Sink<Store.A, Failure>(
            value: { [self] value in take { $0.put(a: value) } }, completion: { [self] completion in end(completion) { $0.a = true } })
        let second = Sink<Store.B, Failure>(
            value: { [self] value in take { $0.put(b: value) } }, completion: { [self] completion in end(completion) { $0.b = true } })
        state.update { ($0.a, $0.b) = (first, second) }
        downstream.receive(subscription: self)
        a.receive(subscriber: first)
        b.receive(subscriber: second)
    }

    func request(_ demand: Subscribers.Demand) {
        let (a, b) = state.update { state in
            state.demand += demand
            return (state.a, state.b)
        }
        a?.request(demand)
        b?.request(demand)
    }

    func cancel() {
        let (a, b) = state.update { state in
            defer { (state.a, state.b) = (nil, nil) }
            return (state.a, state.b)
        }
        a?.cancel()
        b?.cancel()
    }

    private func take(_ put: (inout Store) -> Void) -> Subscribers.Demand {
        let pair = state.update { state -> (Store.A, Store.B)? in
            put(&state.store)
            guard let pair = state.store.next(), state.demand > .none else { return nil }
            state.demand -= 1
            return pair
        }
        guard let pair else { return .none }
        let more = delivery.withLock { downstream.receive(pair) }
        if more > .none { request(more) }
        finishIfOver()
        return .none
    }

    private func end(_ completion: Subscribers.Completion<Failure>, note: (inout (a: Bool, b: Bool)) -> Void) {
        state.update { note(&$0.over) }
        guard case .failure = completion else { return finishIfOver() }
        finish(completion)
    }

    private func finishIfOver() {
        if state.update({ $0.store.isOver($0.over) }) { finish(.finished) }
    }

    private func finish(_ completion: Subscribers.Completion<Failure>) {
        cancel()
        delivery.withLock { downstream.receive(completion: completion) }
    }
}
