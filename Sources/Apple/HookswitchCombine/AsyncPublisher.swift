/// The values of a publisher for `for await`. Each step requests one: a subject drops those that come between the steps.
public struct AsyncPublisher<Base: Publisher>: AsyncSequence where Base.Failure == Never {
    public typealias Element = Base.Output
    private let publisher: Base
    public init(_ publisher: Base) { self.publisher = publisher }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let feed: AsyncFeed<Base.Output, Never>
        public mutating func next() async -> Element? { await feed.next().get() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(feed: AsyncFeed(publisher)) }
}

/// The values of a publisher, or its error, for `for try await`. Each step requests one: a subject drops those that come between the steps.
public struct AsyncThrowingPublisher<Base: Publisher>: AsyncSequence {
    public typealias Element = Base.Output
    private let publisher: Base
    public init(_ publisher: Base) { self.publisher = publisher }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let feed: AsyncFeed<Base.Output, Base.Failure>
        public mutating func next() async throws -> Element? { try await feed.next().get() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(feed: AsyncFeed(publisher)) }
}

extension Future where Failure == Never {
    /// The value, when it has come.
    public final var value: Output { get async { await AsyncFeed(self).next().get()! } }
}

extension Future {
    /// The value, when it has come, or the error.
    @_disfavoredOverload
    public final var value: Output { get async throws { try await AsyncFeed(self).next().get()! } }
}

/// A subscriber of tasks that wait, each for one value.
private final class AsyncFeed<Value, Failure: Error>: @unchecked Sendable {
    typealias Step = Result<Value?, Failure>
    private struct State {
        var waiting: ArraySlice<CheckedContinuation<Unchecked<Step>, Never>> = []
        /// The last step, once there is no value any more.
        var end: Step?
    }

    private let state = Locked(State())
    private var sink: Sink<Value, Failure>!

    init<P: Publisher>(_ publisher: P) where P.Output == Value, P.Failure == Failure {
        sink = Sink(
            value: { [state] value in
                state.update { $0.waiting.popFirst() }?.resume(returning: Unchecked(.success(value)))
                return .none
            },
            completion: { [state] completion in
                if case .failure(let error) = completion { Self.end(state, .failure(error)) } else { Self.end(state, .success(nil)) }
            })
        publisher.receive(subscriber: sink)
    }

    deinit { sink.cancel() }

    func next() async -> Step {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = state.update { state -> Step? in
                    if state.end == nil { state.waiting.append(continuation) }
                    defer { if state.end != nil { state.end = .success(nil) } }
                    return state.end
                }
                if let end { continuation.resume(returning: Unchecked(end)) } else { sink.request(.max(1)) }
            }.value
        } onCancel: {
            sink.cancel()
            Self.end(state, .success(nil))
        }
    }

    /// The first who waits hears how it ended, all others that it has.
    private static func end(_ state: Locked<State>, _ step: Step) {
        let waiting = state.update { state in
            state.end = state.waiting.isEmpty ? step : .success(nil)
            defer { state.waiting = [] }
            return state.waiting
        }
        for (index, each) in waiting.enumerated() { each.resume(returning: Unchecked(index == 0 ? step : .success(nil))) }
    }
}
