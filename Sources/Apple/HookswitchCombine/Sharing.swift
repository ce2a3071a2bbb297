/// A publisher that gives no value until it is connected.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
    /// Begins to give values to all who listen. It stops when the result is cancelled.
    func connect() -> any Cancellable
}

extension ConnectablePublisher {
    /// A publisher that connects this one with its first subscriber, and disconnects it with the last.
    public func autoconnect() -> Publishers.Autoconnect<Self> { Publishers.Autoconnect(upstream: self) }
}

extension Publishers {
    /// A publisher whose one subscription feeds a subject, to which all others listen.
    public final class Multicast<Upstream: Publisher, SubjectType: Subject>: ConnectablePublisher, @unchecked Sendable
    where Upstream.Output == SubjectType.Output, Upstream.Failure == SubjectType.Failure {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        public let upstream: Upstream
        public let createSubject: () -> SubjectType
        private let made = Locked<SubjectType?>(nil)

        public init(upstream: Upstream, createSubject: @escaping () -> SubjectType) {
            (self.upstream, self.createSubject) = (upstream, createSubject)
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            subject.receive(subscriber: subscriber)
        }

        public func connect() -> any Cancellable { upstream.subscribe(subject) }

        /// The subject is made when it is first wanted, and kept.
        private var subject: SubjectType {
            made.update { made in
                let subject = made ?? createSubject()
                made = subject
                return subject
            }
        }
    }

    /// A publisher that never fails, whose values come from `connect()` on.
    public struct MakeConnectable<Upstream: Publisher>: ConnectablePublisher where Upstream.Failure == Never {
        public typealias Output = Upstream.Output
        public typealias Failure = Never
        private let shared: Multicast<Upstream, PassthroughSubject<Output, Never>>
        public init(upstream: Upstream) { shared = Multicast(upstream: upstream) { PassthroughSubject() } }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
            shared.receive(subscriber: subscriber)
        }
        public func connect() -> any Cancellable { shared.connect() }
    }

    /// A publisher that is connected as long as somebody listens.
    public final class Autoconnect<Upstream: ConnectablePublisher>: Publisher, @unchecked Sendable {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        public let upstream: Upstream
        private let state = Locked<(listeners: Int, connection: (any Cancellable)?)>((0, nil))
        public init(upstream: Upstream) { self.upstream = upstream }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let stay = AnyCancellable { [self] in leave() }
            let isFirst = state.update { state in
                state.listeners += 1
                return state.listeners == 1
            }
            upstream.receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { upstream in
                        let own = ClosureSubscription(request: { upstream.request($0) }) {
                            upstream.cancel()
                            stay.cancel()
                        }
                        subscriber.receive(subscription: own)
                    }, value: { subscriber.receive($0) },
                    completion: {
                        stay.cancel()
                        subscriber.receive(completion: $0)
                    }))
            if isFirst { connect() }
        }

        private func connect() {
            if state.update({ $0.listeners == 0 }) { return }
            let connection = upstream.connect()
            let isLate = state.update { state in
                if state.listeners > 0 { state.connection = connection }
                return state.listeners == 0
            }
            if isLate { connection.cancel() }
        }

        private func leave() {
            let connection = state.update { state -> (any Cancellable)? in
                state.listeners -= 1
                return state.listeners == 0 ? state.connection.take() : nil
            }
            connection?.cancel()
        }
    }

    /// A publisher whose one subscription, for all who listen, begins with the first of them and ends with the last.
    public final class Share<Upstream: Publisher>: Publisher, Equatable, @unchecked Sendable {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure
        public let upstream: Upstream
        private let shared: Autoconnect<Multicast<Upstream, PassthroughSubject<Output, Failure>>>

        public init(upstream: Upstream) {
            self.upstream = upstream
            shared = upstream.multicast { PassthroughSubject() }.autoconnect()
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            shared.receive(subscriber: subscriber)
        }

        public static func == (a: Share, b: Share) -> Bool { a === b }
    }
}
