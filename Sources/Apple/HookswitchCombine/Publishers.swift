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
}
