import HookswitchCombine
import Testing

/// The values of publishers in tasks.
@Suite struct CombineAsyncTests {
    private enum Fault: Error { case wanted }

    @Test func `values come one by one, as the task asks`() async throws {
        var requests = 0
        nonisolated(unsafe) let note = { requests += 1 }
        var values = (1...3).publisher.handleEvents(receiveRequest: { _ in note() }).values.makeAsyncIterator()
        #expect(await values.next() == 1 && requests == 1)
        var rest: [Int] = []
        while let value = await values.next() { rest.append(value) }
        #expect(rest == [2, 3])
        #expect(await values.next() == nil)
    }

    @Test func `an error ends the values, once`() async throws {
        var values = [1].publisher.setFailureType(to: Fault.self).append(Fail(error: .wanted)).values.makeAsyncIterator()
        #expect(try await values.next() == 1)
        await #expect(throws: Fault.self) { try await values.next() }
        #expect(try await values.next() == nil)
    }

    @Test func `a subject drops what comes between the steps`() async {
        let subject = PassthroughSubject<Int, Never>()
        var values = Prompted(subject: subject).values.makeAsyncIterator()
        subject.send(1)
        #expect(await values.next() == 2)
        subject.send(3)
        #expect(await values.next() == 2)
    }

    /// A subject that is told to send 2 as soon as it has been asked.
    private struct Prompted: Publisher {
        typealias Output = Int
        typealias Failure = Never
        let subject: PassthroughSubject<Int, Never>

        func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
            subject.subscribe(
                AnySubscriber<Int, Never>(
                    receiveSubscription: { subscriber.receive(subscription: Prompt(tie: $0, subject: subject)) },
                    receiveValue: { subscriber.receive($0) }, receiveCompletion: { subscriber.receive(completion: $0) }))
        }
    }

    private struct Prompt: Subscription {
        let tie: any Subscription, subject: PassthroughSubject<Int, Never>
        let combineIdentifier = CombineIdentifier()

        func request(_ demand: Subscribers.Demand) {
            tie.request(demand)
            subject.send(2)
        }
        func cancel() { tie.cancel() }
    }

    @Test func `a cancelled task ends its values`() async {
        let subject = PassthroughSubject<Int, Never>(), isWaiting = Signal()
        let watched = subject.handleEvents(receiveCancel: { isWaiting.set(2) }, receiveRequest: { _ in isWaiting.set(1) })
        let task = Task {
            var values = watched.values.makeAsyncIterator()
            #expect(await values.next() == nil)
            return isWaiting.value
        }
        while isWaiting.value < 1 { await Task.yield() }
        task.cancel()
        #expect(await task.value == 2)
    }

    @Test func `the value of a future can be awaited`() async throws {
        #expect(await Future<Int, Never> { $0(.success(1)) }.value == 1)
        #expect(try await Future<Int, Fault> { $0(.success(2)) }.value == 2)
        await #expect(throws: Fault.self) { try await Future<Int, Fault> { $0(.failure(.wanted)) }.value }
    }

    private final class Signal: @unchecked Sendable {
        private let lock = NSLock()
        private var state = 0
        var value: Int { lock.withLock { state } }
        func set(_ value: Int) { lock.withLock { state = value } }
    }
}
