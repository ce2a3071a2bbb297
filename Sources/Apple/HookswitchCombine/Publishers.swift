import Foundation

/// Publishers of several others, by the names that call code writes.
public enum Publishers {
    /// The values of all, as they come.
    public struct Merge<A: Publisher, B: Publisher>: Publisher where A.Output == B.Output, A.Failure == B.Failure {
        public typealias Output = A.Output
        public typealias Failure = A.Failure
        private let both: AnyPublisher<Output, Failure>
        public init(_ a: A, _ b: B) { both = a.merge(with: b) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            both.receive(subscriber: subscriber)
        }
    }

    /// The newest value of each, once there are both.
    public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure
        private let both: AnyPublisher<Output, Failure>
        public init(_ a: A, _ b: B) { both = a.combineLatest(b) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            both.receive(subscriber: subscriber)
        }
    }

    /// The newest value of each, once there are all.
    public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
    where A.Failure == B.Failure, B.Failure == C.Failure {
        public typealias Output = (A.Output, B.Output, C.Output)
        public typealias Failure = A.Failure
        private let all: AnyPublisher<Output, Failure>
        public init(_ a: A, _ b: B, _ c: C) { all = a.combineLatest(b, c) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            all.receive(subscriber: subscriber)
        }
    }

    /// The values of all, as they come.
    public static func Merge3<A: Publisher, B: Publisher, C: Publisher>(_ a: A, _ b: B, _ c: C) -> AnyPublisher<A.Output, A.Failure>
    where A.Output == B.Output, B.Output == C.Output, A.Failure == B.Failure, B.Failure == C.Failure { a.merge(with: b, c) }

    /// A publisher of the same values and failures as another.
    public typealias Like<A: Publisher> = any Publisher<A.Output, A.Failure>

    /// The values of all, as they come.
    public static func Merge4<A: Publisher>(_ a: A, _ b: Like<A>, _ c: Like<A>, _ d: Like<A>) -> AnyPublisher<A.Output, A.Failure> {
        a.merge(with: b, c, d)
    }

    public static func Merge5<A: Publisher>(_ a: A, _ b: Like<A>, _ c: Like<A>, _ d: Like<A>, _ e: Like<A>) -> AnyPublisher<
        A.Output, A.Failure
    > {
        a.merge(with: b, c, d, e)
    }

    public static func Merge6<A: Publisher>(_ a: A, _ b: Like<A>, _ c: Like<A>, _ d: Like<A>, _ e: Like<A>, _ f: Like<A>) -> AnyPublisher<
        A.Output, A.Failure
    > {
        a.merge(with: b, c, d, e, f)
    }

    public static func Merge7<A: Publisher>(_ a: A, _ b: Like<A>, _ c: Like<A>, _ d: Like<A>, _ e: Like<A>, _ f: Like<A>, _ g: Like<A>)
        -> AnyPublisher<A.Output, A.Failure>
    {
        a.merge(with: b, c, d, e, f, g)
    }

    public static func Merge8<A: Publisher>(
        _ a: A, _ b: Like<A>, _ c: Like<A>, _ d: Like<A>, _ e: Like<A>, _ f: Like<A>, _ g: Like<A>, _ h: Like<A>
    ) -> AnyPublisher<A.Output, A.Failure> {
        a.merge(with: b, c, d, e, f, g, h)
    }

    /// The newest value of each, once there are all.
    public static func CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>(
        _ a: A, _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(A.Output, B.Output, C.Output, D.Output), A.Failure>
    where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure { a.combineLatest(b, c, d) }

    /// The first value of each, then the second of each, and so on.
    public static func Zip3<A: Publisher, B: Publisher, C: Publisher>(
        _ a: A, _ b: B, _ c: C
    ) -> AnyPublisher<(A.Output, B.Output, C.Output), A.Failure> where A.Failure == B.Failure, B.Failure == C.Failure { a.zip(b, c) }

    /// The first value of each, then the second of each, and so on.
    public static func Zip4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>(
        _ a: A, _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(A.Output, B.Output, C.Output, D.Output), A.Failure>
    where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure { a.zip(b, c, d) }

    /// The first value of each, then the second of each, and so on.
    public struct Zip<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure
        private let both: AnyPublisher<Output, Failure>
        public init(_ a: A, _ b: B) { both = a.zip(b) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            both.receive(subscriber: subscriber)
        }
    }

    /// The values of all publishers of a list, as they come.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        public let publishers: [Upstream]
        public init(_ upstream: Upstream...) { publishers = upstream }
        public func merge(with other: Upstream) -> MergeMany { MergeMany(publishers + [other]) }
        public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            AnyPublisher<Output, Failure> { downstream in
                let feeds = Feeds(downstream)
                feeds.begin()
                for publisher in publishers { feeds.add(publisher) }
                feeds.close()
            }.receive(subscriber: subscriber)
        }
    }
}
