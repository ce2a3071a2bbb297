// Operators that choose values by their place, by those before them or by another publisher.

extension Publisher {
    public func dropFirst(_ count: Int = 1) -> AnyPublisher<Output, Failure> {
        through(0) { seen, value in
            seen += 1
            return seen > count ? value : nil
        }
    }

    /// The values from the first one on for which the closure is false.
    public func drop(while isDropped: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through(true) { isDropping, value in
            isDropping = isDropping && isDropped(value)
            return isDropping ? nil : value
        }
    }

    public func removeDuplicates(by isSame: @escaping (Output, Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through(Output?.none) { last, value in
            defer { last = value }
            return last.map { isSame($0, value) } == true ? nil : value
        }
    }

    /// The first values, so many, and the end after the last of them: at once where none is wanted.
    public func prefix(_ count: Int) -> AnyPublisher<Output, Failure> {
        precondition(count >= 0, "a number of values is not negative")
        return AnyPublisher { downstream in
            let left = Locked(count)
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: {
                        downstream.receive(subscription: $0)
                        if count == 0 { downstream.end(.finished) }
                    },
                    value: { value in
                        let rest = left.update {
                            $0 -= 1; return $0
                        }
                        let more = rest >= 0 ? downstream.receive(value) : .none
                        if rest == 0 { downstream.end(.finished) }
                        return rest > 0 ? more : .none
                    }, completion: { downstream.receive(completion: $0) }))
        }
    }

    /// The values up to the first one for which the closure is false. That one ends the publisher.
    public func prefix(while isTaken: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        through { value, sink in
            if isTaken(value) { return sink.receive(value) }
            sink.end(.finished)
            return .none
        }
    }

    public func first() -> AnyPublisher<Output, Failure> { prefix(1) }
    public func first(where isWanted: @escaping (Output) -> Bool) -> AnyPublisher<Output, Failure> { filter(isWanted).prefix(1) }

    /// The value at this place, counted from 0, and the end; none where the publisher finishes before it.
    public func output(at index: Int) -> AnyPublisher<Output, Failure> { output(in: index...index) }

    /// The values at these places, counted from 0, and the end after the last of them. No place is negative.
    public func output<R: RangeExpression>(in range: R) -> AnyPublisher<Output, Failure> where R.Bound == Int {
        let places = range.relative(to: 0..<Int.max)
        precondition(places.lowerBound >= 0, "a place is not negative")
        return dropFirst(places.lowerBound).prefix(places.count)
    }

    /// The values until the other gives one.
    public func prefix<P: Publisher>(untilOutputFrom other: P) -> AnyPublisher<Output, Failure> {
        watching(other, value: { $0.end(.finished) }) { _, _ in
        } each: {
            $1.receive($0)
        }
    }

    /// The values after the other's first. Where the other ends without any, so does this. A value that is dropped counts as requested.
    public func drop<P: Publisher>(untilOutputFrom other: P) -> AnyPublisher<Output, Failure> where P.Failure == Failure {
        AnyPublisher { downstream in
            let isOpen = Locked(false)
            watching(other, value: { _ in isOpen.update { $0 = true } }) { completion, sink in
                if !isOpen.update({ $0 }) { sink.end(completion) }
            } each: { value, sink in
                isOpen.update { $0 } ? sink.receive(value) : .none
            }.receive(subscriber: downstream)
        }
    }

    /// A publisher of the values that closures choose. They hear of the first value of another publisher, or of its end before any. The
    /// other one is subscribed to first.
    private func watching<P: Publisher>(
        _ other: P, value: @escaping (Sink<Output, Failure>) -> Void,
        completion: @escaping (Subscribers.Completion<P.Failure>, Sink<Output, Failure>) -> Void,
        each: @escaping (Output, Sink<Output, Failure>) -> Subscribers.Demand
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let own = Sink<Output, Failure>(value: { each($0, downstream) }, completion: { downstream.receive(completion: $0) })
            let trigger = Sink<P.Output, P.Failure>(
                subscription: { $0.request(.max(1)) },
                value: { _ in
                    value(downstream)
                    return .none
                }, completion: { completion($0, downstream) })
            downstream.receive(
                subscription: ClosureSubscription(request: { own.request($0) }) {
                    own.cancel()
                    trigger.cancel()
                })
            other.receive(subscriber: trigger)
            receive(subscriber: own)
        }
    }
}

extension Publisher where Output: Equatable {
    public func removeDuplicates() -> AnyPublisher<Output, Failure> { removeDuplicates(by: ==) }
}
