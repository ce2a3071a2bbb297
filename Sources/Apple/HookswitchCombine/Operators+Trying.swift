import Foundation

// Operators whose closures, or coders, may throw: an error ends the publisher.

extension Publisher {
    /// A publisher of the same values, each of which goes through a closure that may throw.
    private func trying<Value>(_ each: @escaping (Output, Sink<Value, any Error>) throws -> Void) -> AnyPublisher<Value, any Error> {
        through({ value, sink in
            do { try each(value, sink) } catch { sink.end(.failure(error)) }
        }) { completion, sink in
            switch completion {
            case .finished: sink.receive(completion: .finished)
            case .failure(let error): sink.receive(completion: .failure(error))
            }
        }
    }

    public func tryMap<Value>(_ transform: @escaping (Output) throws -> Value) -> AnyPublisher<Value, any Error> {
        trying { _ = $1.receive(try transform($0)) }
    }

    public func tryCompactMap<Value>(_ transform: @escaping (Output) throws -> Value?) -> AnyPublisher<Value, any Error> {
        trying { if let value = try transform($0) { _ = $1.receive(value) } }
    }

    public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        trying { if try isIncluded($0) { _ = $1.receive($0) } }
    }

    /// After a failure, the values of the publisher that the closure makes of the error, or the error that it throws.
    public func tryCatch<P: Publisher>(_ handler: @escaping (Failure) throws -> P) -> AnyPublisher<Output, any Error>
    where P.Output == Output {
        mapError { $0 as any Error }.catch { error -> AnyPublisher<Output, any Error> in
            guard let error = error as? Failure else { return Fail(error: error).eraseToAnyPublisher() }
            do { return try handler(error).mapError { $0 as any Error } } catch { return Fail(error: error).eraseToAnyPublisher() }
        }
    }

    public func decode<Item: Decodable>(type: Item.Type, decoder: JSONDecoder) -> AnyPublisher<Item, any Error> where Output == Data {
        tryMap { try decoder.decode(type, from: $0) }
    }

    public func encode(encoder: JSONEncoder) -> AnyPublisher<Data, any Error> where Output: Encodable { tryMap { try encoder.encode($0) } }
}

extension Optional {
    /// The value, where there is one, and the end.
    public var publisher: AnyPublisher<Wrapped, Never> { (map { [$0] } ?? []).publisher }
}

extension Result {
    /// The value and the end, or the error.
    public var publisher: AnyPublisher<Success, Failure> {
        switch self {
        case .success(let value): Just(value).setFailureType(to: Failure.self)
        case .failure(let error): Fail(error: error).eraseToAnyPublisher()
        }
    }
}

extension Publisher where Failure == any Error {
    /// The values for `for try await`. Values that come before they are asked for are kept.
    public var values: AsyncThrowingStream<Output, any Error> {
        AsyncThrowingStream { continuation in
            let held = sink(receiveCompletion: { completion in
                if case .failure(let error) = completion { continuation.finish(throwing: error) } else { continuation.finish() }
            }) { value in
                let value = Unchecked(value)
                continuation.yield(value.value)
            }
            continuation.onTermination = { _ in held.cancel() }
        }
    }
}
