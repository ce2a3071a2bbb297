// Operators that look at a publisher's end, or bring it about.

extension Publisher {
    /// These values after those of the publisher, when it has finished.
    public func append(_ values: Output...) -> AnyPublisher<Output, Failure> { append(values) }

    public func append<S: Sequence>(_ values: S) -> AnyPublisher<Output, Failure> where S.Element == Output {
        through({ _ = $1.receive($0) }) { completion, sink in
            if case .finished = completion { for value in values { _ = sink.receive(value) } }
            sink.receive(completion: completion)
        }
    }

    /// The values of the other after those of this publisher, when it has finished.
    public func append<P: Publisher>(_ next: P) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            let first = sink(receiveCompletion: { completion in
                if case .failure(let error) = completion { feeds.fail(error) } else { feeds.add(next) { _ = downstream.receive($0) } }
                feeds.close()
            }) {
                _ = downstream.receive($0)
            }
            feeds.hold(first)
        }
    }

    /// The values of the other before those of this publisher, which begins when that has finished.
    public func prepend<P: Publisher>(_ first: P) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        first.append(self)
    }

    /// Subscribes anew after a failure, so many times.
    public func retry(_ retries: Int) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in attempt(retries, Feeds(downstream), downstream) }
    }

    private func attempt(_ retries: Int, _ feeds: Feeds<Output, Failure>, _ downstream: Sink<Output, Failure>) {
        let held = sink(receiveCompletion: { completion in
            if case .failure(let error) = completion {
                guard retries == 0 else { return attempt(retries - 1, feeds, downstream) }
                feeds.fail(error)
            }
            feeds.close()
        }) {
            _ = downstream.receive($0)
        }
        feeds.hold(held)
    }

    /// Ends when no value has come for so long: with the error, or finished where there is none.
    public func timeout<S: Scheduler>(
        _ interval: HookswitchInterval, scheduler: S, customError: (() -> Failure)? = nil
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream), count = Locked(0), error = Unchecked(customError)
            let wait = {
                let own = count.update {
                    $0 += 1; return $0
                }
                scheduler.hookswitchSchedule(after: interval) {
                    guard count.update({ $0 }) == own else { return }
                    feeds.end(error.value.map { .failure($0()) } ?? .finished, isLast: true)
                }
            }
            wait()
            feeds.add(self) { value in
                wait()
                _ = downstream.receive(value)
            }
            feeds.close()
        }
    }

    /// The completion alone.
    public func ignoreOutput() -> AnyPublisher<Never, Failure> { through { _, _ in } }

    /// True and the end as soon as such a value comes; false when the publisher has finished without one.
    public func contains(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Bool, Failure> {
        first(where: isWanted).map { _ in true }.replaceEmpty(with: false)
    }

    /// Whether all values are so: false and the end at the first that is not.
    public func allSatisfy(_ isSo: @escaping (Output) -> Bool) -> AnyPublisher<Bool, Failure> { contains { !isSo($0) }.map { !$0 } }

    /// The number of values, when the publisher has finished.
    public func count() -> AnyPublisher<Int, Failure> { reduce(0) { count, _ in count + 1 } }

    /// The last such value, when the publisher has finished; none where none came.
    public func last(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> { filter(isWanted).last() }

    /// This value where the publisher finishes without any.
    public func replaceEmpty(with value: Output) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let isEmpty = Locked(true)
            through({ value, sink in
                isEmpty.update { $0 = false }
                _ = sink.receive(value)
            }) { completion, sink in
                if case .finished = completion, isEmpty.update({ $0 }) { _ = sink.receive(value) }
                sink.receive(completion: completion)
            }.receive(subscriber: downstream)
        }
    }

    /// The result of all values, when the publisher has finished.
    public func reduce<Value>(_ initial: Value, _ next: @escaping (Value, Output) -> Value) -> AnyPublisher<Value, Failure> {
        collect().map { $0.reduce(initial, next) }
    }

    /// A failure ends the process.
    public func assertNoFailure(_ prefix: String = "", file: StaticString = #file, line: UInt = #line) -> AnyPublisher<Output, Never> {
        through({ _ = $1.receive($0) }) { completion, sink in
            if case .failure(let error) = completion { fatalError("\(prefix): \(error)", file: file, line: line) }
            sink.receive(completion: .finished)
        }
    }
}

extension Publisher where Output: Equatable {
    /// True and the end as soon as this value comes; false when the publisher has finished without it.
    public func contains(_ value: Output) -> AnyPublisher<Bool, Failure> { contains { $0 == value } }
}

extension Sequence {
    /// The elements, one after the other, and the end.
    public var publisher: AnyPublisher<Element, Never> { Empty<Element, Never>().append(self) }
}
