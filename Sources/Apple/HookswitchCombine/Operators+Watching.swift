import Foundation

// Operators that let others watch, or listen too, and change nothing.

extension Publisher {
    /// Calls each closure where that happens. A request that a subscriber makes with a value is one too.
    public func handleEvents(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveOutput: ((Output) -> Void)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil, receiveCancel: (() -> Void)? = nil,
        receiveRequest: ((Subscribers.Demand) -> Void)? = nil
    ) -> AnyPublisher<Output, Failure> {
        watched(
            receiveSubscription: receiveSubscription, receiveOutput: receiveOutput, receiveCompletion: receiveCompletion,
            receiveCancel: receiveCancel, receiveRequest: receiveRequest, receiveMore: receiveRequest)
    }

    private func watched(
        receiveSubscription: ((any Subscription) -> Void)?, receiveOutput: ((Output) -> Void)?,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?, receiveCancel: (() -> Void)?,
        receiveRequest: ((Subscribers.Demand) -> Void)?, receiveMore: ((Subscribers.Demand) -> Void)?
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let request = { (upstream: any Subscription, demand: Subscribers.Demand) in
                receiveRequest?(demand)
                upstream.request(demand)
            }
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { upstream in
                        receiveSubscription?(upstream)
                        let own = ClosureSubscription(request: { request(upstream, $0) }) {
                            receiveCancel?()
                            upstream.cancel()
                        }
                        downstream.receive(subscription: own)
                    },
                    value: {
                        receiveOutput?($0)
                        let more = downstream.receive($0)
                        if more > .none { receiveMore?(more) }
                        return more
                    },
                    completion: {
                        receiveCompletion?($0)
                        downstream.receive(completion: $0)
                    }))
        }
    }

    /// Writes a line for each event, on standard output or to the stream.
    public func print(_ prefix: String = "", to stream: (any TextOutputStream)? = nil) -> AnyPublisher<Output, Failure> {
        let stream = Locked(stream), beginning = prefix.isEmpty ? "" : "\(prefix): "
        let write = { (text: String) in
            let isWritten = stream.update { stream in
                stream?.write("\(beginning)\(text)\n")
                return stream != nil
            }
            if !isWritten { Swift.print(beginning + text) }
        }
        let word = { (demand: Subscribers.Demand) in demand.max.map { "max: (\($0))" } ?? "unlimited" }
        return watched(
            receiveSubscription: { _ in write("receive subscription: (\(Self.self))") }, receiveOutput: { write("receive value: (\($0))") },
            receiveCompletion: { completion in
                if case .failure(let error) = completion { write("receive error: (\(error))") } else { write("receive finished") }
            }, receiveCancel: { write("receive cancel") }, receiveRequest: { write("request \(word($0))") },
            receiveMore: { write("request \(word($0)) (synchronous)") })
    }

    /// Stops in the debugger where a closure says so, by the signal SIGTRAP. Without a debugger the process ends.
    public func breakpoint(
        receiveSubscription: ((any Subscription) -> Bool)? = nil, receiveOutput: ((Output) -> Bool)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Bool)? = nil
    ) -> AnyPublisher<Output, Failure> {
        let stop = { (isWanted: Bool?) in if isWanted == true { raise(SIGTRAP) } }
        return handleEvents(
            receiveSubscription: { stop(receiveSubscription?($0)) }, receiveOutput: { stop(receiveOutput?($0)) },
            receiveCompletion: { stop(receiveCompletion?($0)) })
    }

    /// Stops in the debugger at a failure, as `breakpoint` does.
    public func breakpointOnError() -> AnyPublisher<Output, Failure> {
        breakpoint(receiveCompletion: { if case .failure = $0 { true } else { false } })
    }

    /// A failure ends the process.
    public func assertNoFailure(_ prefix: String = "", file: StaticString = #file, line: UInt = #line) -> AnyPublisher<Output, Never> {
        through({ $1.receive($0) }) { completion, sink in
            if case .failure(let error) = completion { fatalError("\(prefix): \(error)", file: file, line: line) }
            sink.receive(completion: .finished)
        }
    }

    /// One subscription for all who listen to a subject that the closure makes, from `connect()` on.
    public func multicast<S: Subject>(_ createSubject: @escaping () -> S) -> Publishers.Multicast<Self, S>
    where S.Output == Output, S.Failure == Failure { Publishers.Multicast(upstream: self, createSubject: createSubject) }

    /// One subscription for all who listen to the subject, from `connect()` on.
    public func multicast<S: Subject>(subject: S) -> Publishers.Multicast<Self, S> where S.Output == Output, S.Failure == Failure {
        multicast { subject }
    }

    /// One subscription for all who listen: it begins with the first of them, and ends with the last.
    public func share() -> Publishers.Share<Self> { Publishers.Share(upstream: self) }
}

extension Publisher where Failure == Never {
    /// The values for all who listen, from `connect()` on.
    public func makeConnectable() -> Publishers.MakeConnectable<Self> { Publishers.MakeConnectable(upstream: self) }
}
