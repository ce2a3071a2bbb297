// Operators that look at the values which came before.

extension Publisher {
    /// The values from the first one on for which the closure is false.
    public func drop(while isDropped: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let isDropping = Locked(true)
            through { value, sink in
                if isDropping.update({
                    $0 = $0 && isDropped(value); return !$0
                }) {
                    _ = sink.receive(value)
                }
            }.receive(subscriber: downstream)
        }
    }

    /// The values up to the first one for which the closure is false. That one ends the publisher.
    public func prefix(while isTaken: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through { value, sink in
            if isTaken(value) { _ = sink.receive(value) } else { sink.end(.finished) }
        }
    }

    public func scan<Value>(_ initial: Value, _ next: @escaping (Value, Output) -> Value) -> AnyPublisher<Value, Failure> {
        AnyPublisher { downstream in
            let last = Locked(initial)
            through { value, sink in
                let result = last.update {
                    $0 = next($0, value); return $0
                }
                _ = sink.receive(result)
            }.receive(subscriber: downstream)
        }
    }

    /// All values in one array, when the publisher has finished.
    public func collect() -> AnyPublisher<[Output], Failure> {
        AnyPublisher { downstream in
            let all = Locked<[Output]>([])
            through({ value, _ in all.update { $0.append(value) } }) { completion, sink in
                if case .finished = completion { _ = sink.receive(all.update { $0 }) }
                sink.receive(completion: completion)
            }.receive(subscriber: downstream)
        }
    }

    /// The last value, when the publisher has finished; none where none came.
    public func last() -> AnyPublisher<Output, Failure> { collect().compactMap(\.last) }

    /// These values before those of the publisher.
    public func prepend(_ values: Output...) -> AnyPublisher<Output, Failure> { prepend(values) }

    public func prepend<S: Sequence>(_ values: S) -> AnyPublisher<Output, Failure> where S.Element == Output {
        Empty().append(values).append(self)
    }

    public func replaceNil<Value>(with value: Value) -> AnyPublisher<Value, Failure> where Output == Value? { map { $0 ?? value } }

    /// One value at most in each stretch of time: the first at once, then the newest of the stretch at its end, or the first
    /// of it. A value that waits comes before the end.
    public func throttle<S: Scheduler>(for time: HookswitchInterval, scheduler: S, latest: Bool) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let gate = ThrottleGate(downstream, latest: latest, now: { scheduler.hookswitchSchedule($0) }) {
                scheduler.hookswitchSchedule(after: time, $0)
            }
            through({ value, _ in gate.receive(value) }) { completion, _ in gate.finish(completion) }.receive(subscriber: downstream)
        }
    }
}

/// The value that waits for the end of a stretch of time, and the end that waits for the value.
private final class ThrottleGate<Value, Failure: Error>: @unchecked Sendable {
    typealias Schedule = (@escaping @Sendable () -> Void) -> Void
    private struct State {
        /// A value is to be given, or one was within this stretch of time.
        var isClosed = false
        var waiting: Value?, completion: Subscribers.Completion<Failure>?
    }

    private let downstream: Sink<Value, Failure>
    private let latest: Bool
    private let now: Schedule, later: Schedule
    private let state = Locked(State())

    init(_ downstream: Sink<Value, Failure>, latest: Bool, now: @escaping Schedule, later: @escaping Schedule) {
        (self.downstream, self.latest, self.now, self.later) = (downstream, latest, now, later)
    }

    func receive(_ value: Value) {
        let isFirst = state.update { state in
            if latest || state.waiting == nil { state.waiting = value }
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { now { [self] in give() } }
    }

    func finish(_ completion: Subscribers.Completion<Failure>) {
        let waits = state.update { state in
            if state.waiting != nil { state.completion = completion }
            return state.waiting != nil
        }
        let completion = Unchecked(completion)
        if !waits { now { [downstream] in downstream.receive(completion: completion.value) } }
    }

    /// A stretch of time is over: the value that waits begins another.
    private func give() {
        let (value, completion) = state.update { state in
            state.isClosed = state.waiting != nil
            return (state.waiting.take(), state.completion)
        }
        guard let value else { return }
        _ = downstream.receive(value)
        if let completion { return downstream.receive(completion: completion) }
        later { [self] in give() }
    }
}

extension Publisher where Failure == Never {
    public func setFailureType<Other: Error>(to type: Other.Type) -> AnyPublisher<Output, Other> {
        through({ _ = $1.receive($0) }) { _, sink in sink.receive(completion: .finished) }
    }

    /// The values for `for await`. Values that come before they are asked for are kept.
    public var values: AsyncStream<Output> {
        AsyncStream { continuation in
            let held = sink(receiveCompletion: { _ in continuation.finish() }) { value in
                let value = Unchecked(value)
                continuation.yield(value.value)
            }
            continuation.onTermination = { _ in held.cancel() }
        }
    }
}
