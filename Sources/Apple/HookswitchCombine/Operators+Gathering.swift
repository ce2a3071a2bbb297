// Operators that make one value, or groups, of many. All values are taken as they come.

extension Publisher {
    public func scan<Value>(_ initial: Value, _ next: @escaping (Value, Output) -> Value) -> AnyPublisher<Value, Failure> {
        through(initial) { last, value in
            last = next(last, value)
            return last
        }
    }

    /// The result of a closure over all values, one after the other, when the publisher has finished.
    private func gather<Value>(_ initial: Value, _ add: @escaping (inout Value, Output) -> Void) -> AnyPublisher<Value, Failure> {
        AnyPublisher { downstream in
            let all = Locked(initial)
            pooled({ value, _ in all.update { add(&$0, value) } }) { completion, outlet in
                if case .finished = completion { outlet.send(all.update { $0 }) }
                outlet.finish(completion)
            }.receive(subscriber: downstream)
        }
    }

    /// All values in one array, when the publisher has finished.
    public func collect() -> AnyPublisher<[Output], Failure> { gather([]) { $0.append($1) } }

    /// The values in arrays of so many; the last may have fewer. A failure drops those that wait.
    public func collect(_ count: Int) -> AnyPublisher<[Output], Failure> {
        precondition(count > 0, "a group has a value")
        return AnyPublisher { downstream in
            let group = Locked<[Output]>([])
            let end = { (completion: Subscribers.Completion<Failure>, sink: Sink<[Output], Failure>) in
                let rest = group.update { $0 }
                if case .finished = completion, !rest.isEmpty { _ = sink.receive(rest) }
                sink.receive(completion: completion)
            }
            let grouped = through(
                { value, sink in
                    let full = group.update { group -> [Output]? in
                        group.append(value)
                        guard group.count == count else { return nil }
                        defer { group = [] }
                        return group
                    }
                    return full.map { sink.receive($0) * count } ?? .none
                }, completion: end)
            grouped.multiplyingRequests(by: count).receive(subscriber: downstream)
        }
    }

    /// The same values; a request of some requests so many times as many.
    private func multiplyingRequests(by count: Int) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { upstream in
                        downstream.receive(
                            subscription: ClosureSubscription(request: { upstream.request($0 * count) }) { upstream.cancel() })
                    }, value: { downstream.receive($0) }, completion: { downstream.receive(completion: $0) }))
        }
    }

    /// The result of all values, when the publisher has finished.
    public func reduce<Value>(_ initial: Value, _ next: @escaping (Value, Output) -> Value) -> AnyPublisher<Value, Failure> {
        gather(initial) { $0 = next($0, $1) }
    }

    /// The number of values, when the publisher has finished.
    public func count() -> AnyPublisher<Int, Failure> { gather(0) { count, _ in count += 1 } }

    /// The last value, when the publisher has finished; none where none came.
    public func last() -> AnyPublisher<Output, Failure> { gather(Output?.none) { $0 = $1 }.compactMap(\.self) }

    /// The last such value, when the publisher has finished; none where none came.
    public func last(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> { filter(isWanted).last() }

    /// The smallest value, when the publisher has finished; none where none came. Of equal ones the first.
    public func min(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        gather(Output?.none) { least, value in
            if let known = least, !areInIncreasingOrder(value, known) { return }
            least = value
        }.compactMap(\.self)
    }

    /// The greatest value, when the publisher has finished; none where none came. Of equal ones the last.
    public func max(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        gather(Output?.none) { greatest, value in
            if let known = greatest, areInIncreasingOrder(value, known) { return }
            greatest = value
        }.compactMap(\.self)
    }

    /// The completion alone.
    public func ignoreOutput() -> AnyPublisher<Never, Failure> { pooled({ _, _ in }) { $1.finish($0) } }

    /// True and the end as soon as such a value comes; false when the publisher has finished without one.
    public func contains(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Bool, Failure> {
        first(where: isWanted).map { _ in true }.replaceEmpty(with: false)
    }

    /// Whether all values are so: false and the end at the first that is not.
    public func allSatisfy(_ isSo: @escaping (Output) -> Bool) -> AnyPublisher<Bool, Failure> { contains { !isSo($0) }.map { !$0 } }
}

extension Publisher where Output: Comparable {
    /// The smallest value, when the publisher has finished; none where none came.
    public func min() -> AnyPublisher<Output, Failure> { min(by: <) }

    /// The greatest value, when the publisher has finished; none where none came.
    public func max() -> AnyPublisher<Output, Failure> { max(by: <) }
}

extension Publisher where Output: Equatable {
    /// True and the end as soon as this value comes; false when the publisher has finished without it.
    public func contains(_ value: Output) -> AnyPublisher<Bool, Failure> { contains { $0 == value } }
}
