import Foundation

/// The subscription of a publisher, or an operator, that has values at its own time: it gives no more than was requested.
final class Outlet<Value, Failure: Error>: Subscription, @unchecked Sendable {
    /// The fate of a value that nobody has requested yet.
    typealias Excess = (_ waiting: inout ArraySlice<Value>, _ value: Value) -> Void

    private struct State {
        var demand = Subscribers.Demand.none
        var waiting: ArraySlice<Value> = []
        var completion: Subscribers.Completion<Failure>?
        var isDraining = false, isOver = false
        var upstream: (any Subscription)?
    }

    private enum Step {
        case value(Value)
        case completion(Subscribers.Completion<Failure>)
    }

    private let downstream: Sink<Value, Failure>
    private let excess: Excess
    private let refills: Bool
    private let state = Locked(State())
    /// Values that several threads send at once are given one after the other. One that is sent while another is given, by the same thread,
    /// is given within.
    private let delivery = NSRecursiveLock()

    /// - Parameter refills: one more value is requested for each that waited and is given.
    init(_ downstream: Sink<Value, Failure>, refills: Bool = false, excess: @escaping Excess) {
        (self.downstream, self.refills, self.excess) = (downstream, refills, excess)
    }

    var isOver: Bool { state.update { $0.isOver } }

    /// Hands on the subscription. The upstream is cancelled with it.
    func begin(_ upstream: any Subscription) {
        state.update { if !$0.isOver { $0.upstream = upstream } }
        downstream.receive(subscription: self)
    }

    /// - Returns: whether the value was given at once.
    @discardableResult
    func send(_ value: Value) -> Bool {
        let passes = state.update { state in
            guard !state.isOver, state.completion == nil else { return false }
            guard state.waiting.isEmpty, state.demand > .none else {
                excess(&state.waiting, value)
                return false
            }
            state.demand -= 1
            return true
        }
        guard passes else { return false }
        give(value)
        // One that came meanwhile waits, and may have been requested.
        drain()
        return true
    }

    /// Ends when the values that wait have been given.
    func finish(_ completion: Subscribers.Completion<Failure>) {
        state.update { $0.completion = $0.completion ?? completion }
        drain()
    }

    /// Cancels the publisher, and fails when the values that wait have been given.
    func fail(_ error: Failure) {
        state.update { $0.upstream }?.cancel()
        finish(.failure(error))
    }

    /// Ends now. Values that wait are dropped.
    func end(_ completion: Subscribers.Completion<Failure>) {
        state.update { $0.waiting = [] }
        finish(completion)
    }

    func request(_ demand: Subscribers.Demand) {
        add(demand)
        drain()
    }

    func cancel() {
        let upstream = state.update { state in
            (state.isOver, state.waiting) = (true, [])
            return state.upstream.take()
        }
        upstream?.cancel()
    }

    private func give(_ value: Value) { add(delivery.withLock { downstream.receive(value) }) }

    private func add(_ demand: Subscribers.Demand) { state.update { $0.demand += demand } }

    private func drain() {
        let isOther = state.update { state in
            defer { state.isDraining = true }
            return state.isDraining
        }
        if isOther { return }
        while let step = state.update(next) {
            switch step {
            case .value(let value):
                give(value)
                if refills { state.update { $0.upstream }?.request(.max(1)) }
            case .completion(let completion): delivery.withLock { downstream.receive(completion: completion) }
            }
        }
    }

    private func next(_ state: inout State) -> Step? {
        if !state.isOver, state.demand > .none, let value = state.waiting.popFirst() {
            state.demand -= 1
            return .value(value)
        }
        if !state.isOver, state.waiting.isEmpty, let completion = state.completion {
            (state.isOver, state.upstream) = (true, nil)
            return .completion(completion)
        }
        state.isDraining = false
        return nil
    }
}
