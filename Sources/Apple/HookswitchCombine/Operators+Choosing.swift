// Operators that choose values by their place or size, or take them in groups.

extension Publisher {
    /// The value at this place, counted from 0, and the end; none where the publisher finishes before it.
    public func output(at index: Int) -> AnyPublisher<Output, Failure> { output(in: index...index) }

    /// The values at these places, counted from 0, and the end after the last of them. No place is negative.
    public func output<R: RangeExpression>(in range: R) -> AnyPublisher<Output, Failure> where R.Bound == Int {
        let places = range.relative(to: 0..<Int.max)
        precondition(places.lowerBound >= 0, "a place is not negative")
        return dropFirst(places.lowerBound).prefix(places.count)
    }

    /// The values in arrays of so many; the last may have fewer. A failure drops those that wait.
    public func collect(_ count: Int) -> AnyPublisher<[Output], Failure> {
        precondition(count > 0, "a group has a value")
        return AnyPublisher { downstream in
            let group = Locked<[Output]>([])
            through({ value, sink in
                let full = group.update { group -> [Output]? in
                    group.append(value)
                    guard group.count == count else { return nil }
                    defer { group = [] }
                    return group
                }
                if let full { _ = sink.receive(full) }
            }) { completion, sink in
                let rest = group.update { $0 }
                if case .finished = completion, !rest.isEmpty { _ = sink.receive(rest) }
                sink.receive(completion: completion)
            }.receive(subscriber: downstream)
        }
    }

    /// The smallest value, when the publisher has finished; none where none came.
    public func min(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        collect().compactMap { $0.min(by: areInIncreasingOrder) }
    }

    /// The greatest value, when the publisher has finished; none where none came.
    public func max(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        collect().compactMap { $0.max(by: areInIncreasingOrder) }
    }

    /// The values after the other's first. Where the other ends without any, so does this.
    public func drop<P: Publisher>(untilOutputFrom other: P) -> AnyPublisher<Output, Failure> where P.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream), isOpen = Locked(false)
            let trigger = other.sink(receiveCompletion: { completion in
                if !isOpen.update({ $0 }) { feeds.end(completion, isLast: true) }
            }) { _ in
                isOpen.update { $0 = true }
            }
            feeds.hold(trigger)
            feeds.add(self) { if isOpen.update({ $0 }) { _ = downstream.receive($0) } }
            feeds.close()
        }
    }
}

extension Publisher where Output: Comparable {
    /// The smallest value, when the publisher has finished; none where none came.
    public func min() -> AnyPublisher<Output, Failure> { min(by: <) }

    /// The greatest value, when the publisher has finished; none where none came.
    public func max() -> AnyPublisher<Output, Failure> { max(by: <) }
}
