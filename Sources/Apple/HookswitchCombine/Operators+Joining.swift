// Operators that join several publishers.

extension Publisher {
    /// The values of all, as they come.
    public func merge<B: Publisher>(with b: B, _ others: any Publisher<Output, Failure>...) -> AnyPublisher<Output, Failure>
    where B.Output == Output, B.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            feeds.begin()
            feeds.add(self)
            feeds.add(b)
            for other in others { feeds.add(other) }
            feeds.close()
        }
    }

    /// The newest value of each, once there are both. A change beyond those that are requested is dropped.
    public func combineLatest<Other: Publisher>(_ other: Other) -> AnyPublisher<(Output, Other.Output), Failure>
    where Other.Failure == Failure { AnyPublisher { Pairing<LatestStore<Output, Other.Output>, Failure>($0).begin(self, other) } }

    /// The newest value of each, once there are all.
    public func combineLatest<B: Publisher, C: Publisher>(_ b: B, _ c: C) -> AnyPublisher<(Output, B.Output, C.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure { combineLatest(b).combineLatest(c).map { ($0.0, $0.1, $1) } }

    public func combineLatest<B: Publisher, C: Publisher, D: Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(Output, B.Output, C.Output, D.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c).combineLatest(d).map { ($0.0, $0.1, $0.2, $1) }
    }

    public func combineLatest<Other: Publisher, Value>(
        _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure { combineLatest(other).map { transform($0.0, $0.1) } }

    public func combineLatest<B: Publisher, C: Publisher, Value>(
        _ b: B, _ c: C, _ transform: @escaping (Output, B.Output, C.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where B.Failure == Failure, C.Failure == Failure {
        combineLatest(b, c).map { transform($0.0, $0.1, $0.2) }
    }

    public func combineLatest<B: Publisher, C: Publisher, D: Publisher, Value>(
        _ b: B, _ c: C, _ d: D, _ transform: @escaping (Output, B.Output, C.Output, D.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c, d).map { transform($0.0, $0.1, $0.2, $0.3) }
    }

    /// The first value of each, then the second of each, and so on. It ends when one has ended whose values are all given.
    public func zip<Other: Publisher>(_ other: Other) -> AnyPublisher<(Output, Other.Output), Failure> where Other.Failure == Failure {
        AnyPublisher { Pairing<ZipStore<Output, Other.Output>, Failure>($0).begin(self, other) }
    }

    public func zip<Other: Publisher, Value>(
        _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where Other.Failure == Failure { zip(other).map { transform($0.0, $0.1) } }

    public func zip<B: Publisher, C: Publisher>(_ b: B, _ c: C) -> AnyPublisher<(Output, B.Output, C.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure { zip(b).zip(c).map { ($0.0, $0.1, $1) } }

    public func zip<B: Publisher, C: Publisher, Value>(
        _ b: B, _ c: C, _ transform: @escaping (Output, B.Output, C.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where B.Failure == Failure, C.Failure == Failure { zip(b, c).map { transform($0.0, $0.1, $0.2) } }

    public func zip<B: Publisher, C: Publisher, D: Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(Output, B.Output, C.Output, D.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure { zip(b, c).zip(d).map { ($0.0, $0.1, $0.2, $1) } }

    public func zip<B: Publisher, C: Publisher, D: Publisher, Value>(
        _ b: B, _ c: C, _ d: D, _ transform: @escaping (Output, B.Output, C.Output, D.Output) -> Value
    ) -> AnyPublisher<Value, Failure> where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        zip(b, c, d).map { transform($0.0, $0.1, $0.2, $0.3) }
    }

    /// The values of the publishers that the closure makes of each value, as they come; of so many publishers at a time.
    public func flatMap<P: Publisher>(
        maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
    ) -> AnyPublisher<P.Output, Failure> where P.Failure == Failure {
        AnyPublisher { downstream in
            let feeds = Feeds(downstream)
            feeds.begin()
            let outer = Sink<Output, Failure>(
                value: {
                    feeds.add(transform($0))
                    return .none
                }, completion: { feeds.close($0) })
            feeds.add(outer, atOnce: maxPublishers)
            receive(subscriber: outer)
        }
    }

    /// The same, where the publishers that the closure makes never fail.
    @_disfavoredOverload
    public func flatMap<P: Publisher>(
        maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
    ) -> AnyPublisher<P.Output, Failure> where P.Failure == Never {
        flatMap(maxPublishers: maxPublishers) { transform($0).setFailureType(to: Failure.self) }
    }
}

extension Publisher where Failure == Never {
    /// The same, where this publisher never fails and those that the closure makes may.
    @_disfavoredOverload
    public func flatMap<P: Publisher>(
        maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
    ) -> AnyPublisher<P.Output, P.Failure> { setFailureType(to: P.Failure.self).flatMap(maxPublishers: maxPublishers, transform) }
}
