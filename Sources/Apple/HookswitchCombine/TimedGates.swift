/// The value that waits for the end of a stretch of time, and the end that waits for the value.
final class ThrottleGate<Value, Failure: Error>: @unchecked Sendable {
    typealias Schedule = (@escaping @Sendable () -> Void) -> Void
    typealias Way = Outlet<Value, Failure>
    private struct State {
        /// A value is to be given, or one was within this stretch of time.
        var isClosed = false
        var waiting: Value?, completion: Subscribers.Completion<Failure>?
    }

    private let latest: Bool
    private let now: Schedule, later: Schedule
    private let state = Locked(State())

    init(latest: Bool, now: @escaping Schedule, later: @escaping Schedule) {
        (self.latest, self.now, self.later) = (latest, now, later)
    }

    func receive(_ value: Value, _ way: Way) {
        let isFirst = state.update { state in
            if latest || state.waiting == nil { state.waiting = value }
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { now { [self] in give(way) } }
    }

    func finish(_ completion: Subscribers.Completion<Failure>, _ way: Way) {
        let waits = state.update { state in
            if state.waiting != nil { state.completion = completion }
            return state.waiting != nil
        }
        let completion = Unchecked(completion)
        if !waits { now { way.end(completion.value) } }
    }

    /// A stretch of time is over: the value that waits begins another.
    private func give(_ way: Way) {
        let (value, completion) = state.update { state in
            state.isClosed = state.waiting != nil
            return (state.waiting.take(), state.completion)
        }
        guard let value else { return }
        way.send(value)
        if let completion { return way.end(completion) }
        later { [self] in give(way) }
    }
}

/// The values of a stretch of time that go together.
final class TimedGroup<Value, Failure: Error>: @unchecked Sendable {
    private let outlet: Outlet<[Value], Failure>
    private let most: Int?
    private let later: (@escaping @Sendable () -> Void) -> Void
    private let values = Locked<[Value]>([])

    init(_ outlet: Outlet<[Value], Failure>, most: Int?, later: @escaping (@escaping @Sendable () -> Void) -> Void) {
        (self.outlet, self.most, self.later) = (outlet, most, later)
    }

    /// A stretch of time begins, and one after the other until the end.
    func begin() {
        if outlet.isOver { return }
        later { [self] in
            give()
            begin()
        }
    }

    func add(_ value: Value) {
        let count = values.update { values in
            values.append(value)
            return values.count
        }
        if count == most { give() }
    }

    func finish(_ completion: Subscribers.Completion<Failure>) {
        if case .failure = completion { return outlet.end(completion) }
        give()
        outlet.finish(completion)
    }

    private func give() {
        let group = values.update { values in
            defer { values = [] }
            return values
        }
        if !group.isEmpty { outlet.send(group) }
    }
}
