// Operators that take the values of one publisher after the other.

extension Publisher {
    /// The values of the next after those of this publisher, when it has finished.
    public func append<P: Publisher>(_ next: P) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        AnyPublisher { downstream in
            let all = Succession(downstream)
            all.begin()
            all.follow(self) { completion in
                guard case .finished = completion else { return all.finish(completion) }
                all.follow(next) { all.finish($0) }
            }
        }
    }

    /// These values after those of the publisher, when it has finished.
    public func append(_ values: Output...) -> AnyPublisher<Output, Failure> { append(values) }

    public func append<S: Sequence>(_ values: S) -> AnyPublisher<Output, Failure> where S.Element == Output {
        append(Publishers.Sequence<S, Failure>(sequence: values))
    }

    /// The values of the other before those of this publisher, which begins when that has finished.
    public func prepend<P: Publisher>(_ first: P) -> AnyPublisher<Output, Failure> where P.Output == Output, P.Failure == Failure {
        first.append(self)
    }

    /// These values before those of the publisher.
    public func prepend(_ values: Output...) -> AnyPublisher<Output, Failure> { prepend(values) }

    public func prepend<S: Sequence>(_ values: S) -> AnyPublisher<Output, Failure> where S.Element == Output {
        prepend(Publishers.Sequence<S, Failure>(sequence: values))
    }

    /// After a failure, the values of the publisher that the closure makes of the error.
    public func `catch`<P: Publisher>(_ handler: @escaping (Failure) -> P) -> AnyPublisher<Output, P.Failure> where P.Output == Output {
        AnyPublisher { downstream in
            let all = Succession(downstream)
            all.begin()
            all.follow(self) { completion in
                guard case .failure(let error) = completion else { return all.finish(.finished) }
                all.follow(handler(error)) { all.finish($0) }
            }
        }
    }

    public func replaceError(with value: Output) -> AnyPublisher<Output, Never> { self.catch { _ in Just(value) } }

    /// This value where the publisher finishes without any.
    public func replaceEmpty(with value: Output) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let isEmpty = Locked(true)
            let noted = through { value, sink in
                isEmpty.update { $0 = false }
                return sink.receive(value)
            }
            let rest = Deferred { Publishers.Sequence<[Output], Failure>(sequence: isEmpty.update { $0 } ? [value] : []) }
            noted.append(rest).receive(subscriber: downstream)
        }
    }

    /// Subscribes anew after a failure, so many times.
    public func retry(_ retries: Int) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let all = Succession(downstream)
            all.begin()
            attempt(retries, all)
        }
    }

    private func attempt(_ retries: Int, _ all: Succession<Output, Failure>) {
        all.follow(self) { completion in
            if case .failure = completion, retries > 0 { return attempt(retries - 1, all) }
            all.finish(completion)
        }
    }
}

extension Publisher where Output: Publisher, Output.Failure == Failure {
    /// The values of the publisher that came last; the one before is cancelled.
    public func switchToLatest() -> AnyPublisher<Output.Output, Failure> {
        AnyPublisher { downstream in
            let all = Succession(downstream), open = Locked((outer: true, inner: false))
            let end = { (completion: Subscribers.Completion<Failure>) in
                let isLast = open.update { !$0.outer && !$0.inner }
                if case .finished = completion, !isLast { return }
                all.finish(completion)
            }
            let outer = Sink<Output, Failure>.all(value: { publisher in
                open.update { $0.inner = true }
                all.follow(publisher) { completion in
                    open.update { $0.inner = false }
                    end(completion)
                }
            }) { completion in
                open.update { $0.outer = false }
                end(completion)
            }
            all.begin(outer: outer)
            receive(subscriber: outer)
        }
    }
}

extension Publisher where Output: Publisher, Output.Failure == Never, Failure: Error {
    /// The same, where the publishers that come never fail.
    @_disfavoredOverload
    public func switchToLatest() -> AnyPublisher<Output.Output, Failure> {
        map { $0.setFailureType(to: Failure.self) }.switchToLatest()
    }
}

extension Publisher where Failure == Never, Output: Publisher {
    /// The same, where this publisher never fails and those that come may.
    @_disfavoredOverload
    public func switchToLatest() -> AnyPublisher<Output.Output, Output.Failure> {
        setFailureType(to: Output.Failure.self).switchToLatest()
    }
}
