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
            if isTaken(value) { _ = sink.receive(value) } else { sink.receive(completion: .finished) }
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
    public func prepend(_ values: Output...) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            for value in values { _ = downstream.receive(value) }
            self.receive(subscriber: downstream)
        }
    }

    public func replaceNil<Value>(with value: Value) -> AnyPublisher<Value, Failure> where Output == Value? { map { $0 ?? value } }

    /// One value at most in each stretch of time: the first at once, then the newest of the stretch at its end, or the first of it.
    public func throttle<S: Scheduler>(for time: HookswitchInterval, scheduler: S, latest: Bool) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let gate = ThrottleGate<Output>(latest: latest) { value in _ = downstream.receive(value) }
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { downstream.receive(subscription: $0) },
                    value: { value in gate.receive(value) { scheduler.hookswitchSchedule(after: time, $0) } },
                    completion: { downstream.receive(completion: $0) }))
        }
    }
}

/// The value that waits for the end of a stretch of time.
private final class ThrottleGate<Value>: @unchecked Sendable {
    private struct State {
        var isClosed = false
        var waiting: Value?
    }

    private let latest: Bool
    private let give: (Value) -> Void
    private let state = Locked(State())
    init(latest: Bool, give: @escaping (Value) -> Void) { (self.latest, self.give) = (latest, give) }

    func receive(_ value: Value, after wait: @escaping (@escaping @Sendable () -> Void) -> Void) {
        let passes = state.update { state in
            if state.isClosed, latest || state.waiting == nil { state.waiting = value }
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if passes { pass(value, after: Unchecked(wait)) }
    }

    private func pass(_ value: Value, after wait: Unchecked<(@escaping @Sendable () -> Void) -> Void>) {
        give(value)
        wait.value { [self] in
            let next = state.update { state in
                defer { state.waiting = nil }
                state.isClosed = state.waiting != nil
                return state.waiting
            }
            if let next { pass(next, after: wait) }
        }
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
