// Operators that let somebody watch, and change nothing.

extension Publisher {
    /// Calls each closure where that happens. What is requested is always unlimited.
    public func handleEvents(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveOutput: ((Output) -> Void)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil, receiveCancel: (() -> Void)? = nil,
        receiveRequest: ((Subscribers.Demand) -> Void)? = nil
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: { subscription in
                        receiveSubscription?(subscription)
                        downstream.receive(
                            subscription: ClosureSubscription {
                                receiveCancel?()
                                subscription.cancel()
                            })
                        receiveRequest?(.unlimited)
                    },
                    value: {
                        receiveOutput?($0)
                        _ = downstream.receive($0)
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
        return handleEvents(
            receiveSubscription: { _ in write("receive subscription: (\(Self.self))") }, receiveOutput: { write("receive value: (\($0))") },
            receiveCompletion: { completion in
                if case .failure(let error) = completion { write("receive error: (\(error))") } else { write("receive finished") }
            }, receiveCancel: { write("receive cancel") }, receiveRequest: { _ in write("request unlimited") })
    }
}
