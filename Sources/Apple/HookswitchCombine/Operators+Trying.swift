import Foundation

// Operators whose closures, or coders, may throw: an error ends the publisher.

extension Publisher {
    /// A publisher of the same values, each of which goes through a closure that may throw.
    private func trying<Value>(
        _ each: @escaping (Output, Sink<Value, any Error>) throws -> Subscribers.Demand
    ) -> AnyPublisher<Value, any Error> {
        through({ value, sink in
            do { return try each(value, sink) } catch {
                sink.end(.failure(error))
                return .none
            }
        }) { completion, sink in
            switch completion {
            case .finished: sink.receive(completion: .finished)
            case .failure(let error): sink.receive(completion: .failure(error))
            }
        }
    }

    /// The same with a state of each subscription. Nil requests another value.
    private func trying<Value, State>(
        _ initial: State, _ each: @escaping (inout State, Output) throws -> Value?
    ) -> AnyPublisher<Value, any Error> {
        AnyPublisher { downstream in
            let state = Locked(initial)
            trying { value, sink in
                let result = state.update { state in Result { try each(&state, value) } }
                return try result.get().map { sink.receive($0) } ?? .max(1)
            }.receive(subscriber: downstream)
        }
    }

    public func tryMap<Value>(_ transform: @escaping (Output) throws -> Value) -> AnyPublisher<Value, any Error> {
        trying { $1.receive(try transform($0)) }
    }

    public func tryCompactMap<Value>(_ transform: @escaping (Output) throws -> Value?) -> AnyPublisher<Value, any Error> {
        trying { value, sink in try transform(value).map { sink.receive($0) } ?? .max(1) }
    }

    public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        trying { try isIncluded($0) ? $1.receive($0) : .max(1) }
    }

    public func tryScan<Value>(
        _ initial: Value, _ next: @escaping (Value, Output) throws -> Value
    ) -> AnyPublisher<Value, any Error> {
        trying(initial) { last, value in
            last = try next(last, value)
            return last
        }
    }

    public func tryReduce<Value>(
        _ initial: Value, _ next: @escaping (Value, Output) throws -> Value
    ) -> AnyPublisher<Value, any Error> { tryScan(initial, next).last().replaceEmpty(with: initial) }

    public func tryRemoveDuplicates(by isSame: @escaping (Output, Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        trying(Output?.none) { last, value in
            defer { last = value }
            return try last.map { try isSame($0, value) } == true ? nil : value
        }
    }

    public func tryDrop(while isDropped: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        trying(true) { isDropping, value in
            isDropping = try isDropping && isDropped(value)
            return isDropping ? nil : value
        }
    }

    public func tryPrefix(while isTaken: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        trying { value, sink in
            if try isTaken(value) { return sink.receive(value) }
            sink.end(.finished)
            return .none
        }
    }

    public func tryFirst(where isWanted: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        tryFilter(isWanted).first()
    }

    public func tryLast(where isWanted: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> { tryFilter(isWanted).last() }

    public func tryContains(where isWanted: @escaping (Output) throws -> Bool) -> AnyPublisher<Bool, any Error> {
        tryFirst(where: isWanted).map { _ in true }.replaceEmpty(with: false)
    }

    public func tryAllSatisfy(_ isSo: @escaping (Output) throws -> Bool) -> AnyPublisher<Bool, any Error> {
        tryContains { try !isSo($0) }.map { !$0 }
    }

    /// The smallest value, when the publisher has finished; none where none came.
    public func tryMin(by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        tryReduce(Output?.none) { least, value in
            guard let least else { return value }
            return try areInIncreasingOrder(value, least) ? value : least
        }.compactMap(\.self)
    }

    /// The greatest value, when the publisher has finished; none where none came.
    public func tryMax(by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        tryReduce(Output?.none) { greatest, value in
            guard let greatest else { return value }
            return try areInIncreasingOrder(value, greatest) ? greatest : value
        }.compactMap(\.self)
    }

    /// After a failure, the values of the publisher that the closure makes of the error, or the error that it throws.
    public func tryCatch<P: Publisher>(_ handler: @escaping (Failure) throws -> P) -> AnyPublisher<Output, any Error>
    where P.Output == Output {
        self.catch { error -> AnyPublisher<Output, any Error> in
            do { return try handler(error).mapError { $0 as any Error } } catch { return Fail(error: error).eraseToAnyPublisher() }
        }
    }

    public func decode<Item: Decodable, Coder: TopLevelDecoder>(type: Item.Type, decoder: Coder) -> AnyPublisher<Item, any Error>
    where Output == Coder.Input { tryMap { try decoder.decode(type, from: $0) } }

    public func encode<Coder: TopLevelEncoder>(encoder: Coder) -> AnyPublisher<Coder.Output, any Error> where Output: Encodable {
        tryMap { try encoder.encode($0) }
    }
}

/// A decoder of whole documents.
public protocol TopLevelDecoder<Input> {
    associatedtype Input
    func decode<Item: Decodable>(_ type: Item.Type, from input: Input) throws -> Item
}

/// An encoder of whole documents.
public protocol TopLevelEncoder<Output> {
    associatedtype Output
    func encode<Item: Encodable>(_ value: Item) throws -> Output
}

extension JSONDecoder: TopLevelDecoder {}
extension PropertyListDecoder: TopLevelDecoder {}
extension JSONEncoder: TopLevelEncoder {}
extension PropertyListEncoder: TopLevelEncoder {}
