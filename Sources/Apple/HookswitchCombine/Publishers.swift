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
        public init<S: Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            AnyPublisher<Output, Failure> { downstream in
                let feeds = Feeds(downstream)
                for publisher in publishers { feeds.add(publisher) { _ = downstream.receive($0) } }
                feeds.close()
            }.receive(subscriber: subscriber)
        }
    }
}
