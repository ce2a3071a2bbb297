import Foundation
import HookswitchCombine
import Testing

/// Operators that look at the end of a publisher, follow one after the other, or watch.
@Suite struct CombineEndTests {
    private struct Failed: Error, Equatable {}

    /// All that a publisher gives, in words.
    private final class Heard<Value, Failure: Error> {
        var words: [String] = []
        private var held: AnyCancellable?
        init(_ publisher: AnyPublisher<Value, Failure>) {
            held = publisher.sink(receiveCompletion: { [unowned self] completion in
                if case .failure = completion { words.append("failed") } else { words.append("finished") }
            }) { [unowned self] in words.append("\($0)") }
        }
        func cancel() { held?.cancel() }
    }

    @Test func `values and publishers come after the end, or before the beginning`() {
        let first = PassthroughSubject<Int, Failed>(), next = PassthroughSubject<Int, Failed>()
        let heard = Heard(first.append(next).append(8, 9).prepend([0].publisher.setFailureType(to: Failed.self)))
        next.send(1)
        first.send(2)
        first.send(completion: .finished)
        next.send(3)
        #expect(heard.words == ["0", "2", "3"])
        next.send(completion: .finished)
        #expect(heard.words == ["0", "2", "3", "8", "9", "finished"])
        let failing = PassthroughSubject<Int, Failed>(), failed = Heard(failing.append(Just(1).setFailureType(to: Failed.self)).append(2))
        failing.send(completion: .failure(Failed()))
        #expect(failed.words == ["failed"])
    }

    @Test func `a failure is tried again, so many times`() {
        var attempts = 0
        func heard(_ retries: Int) -> [String] {
            attempts = 0
            let trying = Deferred { () -> AnyPublisher<Int, Failed> in
                attempts += 1
                return [attempts].publisher.setFailureType(to: Failed.self).append(Fail(error: Failed())).eraseToAnyPublisher()
            }
            return Heard(trying.retry(retries)).words
        }
        #expect(heard(2) == ["1", "2", "3", "failed"] && attempts == 3)
        #expect(heard(0) == ["1", "failed"])
        #expect(Heard(Just(1).retry(3)).words == ["1", "finished"])
    }

    @Test func `only the end, whether a value came, and a value where none came`() {
        #expect(Heard([1, 2].publisher.ignoreOutput()).words == ["finished"])
        #expect(Heard(Fail<Int, Failed>(error: Failed()).ignoreOutput()).words == ["failed"])
        let subject = PassthroughSubject<Int, Never>(), heard = Heard(subject.contains(2))
        subject.send(1)
        #expect(heard.words.isEmpty)
        subject.send(2)
        #expect(heard.words == ["true", "finished"])
        #expect(Heard([1, 3].publisher.contains { $0 > 3 }).words == ["false", "finished"])
        #expect(Heard(Empty<Int, Never>().replaceEmpty(with: 5)).words == ["5", "finished"])
        #expect(Heard([1].publisher.replaceEmpty(with: 5)).words == ["1", "finished"])
        #expect(Heard([1, 2, 3].publisher.reduce(10, +).assertNoFailure()).words == ["16", "finished"])
    }

    @Test func `the newest publisher is followed, and the one before is not`() {
        let outer = PassthroughSubject<PassthroughSubject<Int, Failed>, Failed>(), heard = Heard(outer.switchToLatest())
        let first = PassthroughSubject<Int, Failed>(), second = PassthroughSubject<Int, Failed>()
        outer.send(first)
        first.send(1)
        outer.send(second)
        first.send(2)
        first.send(completion: .failure(Failed()))
        second.send(3)
        #expect(heard.words == ["1", "3"])
        outer.send(completion: .finished)
        second.send(4)
        #expect(heard.words == ["1", "3", "4"])
        second.send(completion: .finished)
        #expect(heard.words == ["1", "3", "4", "finished"])
        #expect(Heard([Just(1), Just(2)].publisher.switchToLatest()).words == ["1", "2", "finished"])
        let failing = PassthroughSubject<Just<Int>, Failed>(), failed = Heard(failing.switchToLatest())
        failing.send(Just(7))
        failing.send(completion: .failure(Failed()))
        #expect(failed.words == ["7", "failed"])
    }

    @Test func `what is cancelled or released follows nobody any more`() {
        let outer = PassthroughSubject<AnyPublisher<Int, Never>, Never>(), inner = PassthroughSubject<Int, Never>()
        var cancelled: [String] = []
        func watched(_ name: String) -> AnyPublisher<Int, Never> { inner.handleEvents(receiveCancel: { cancelled.append(name) }) }
        let heard = Heard(outer.handleEvents(receiveCancel: { cancelled.append("outer") }).switchToLatest())
        outer.send(watched("a"))
        outer.send(watched("b"))
        #expect(cancelled == ["a"])
        heard.cancel()
        inner.send(1)
        outer.send(watched("c"))
        #expect(heard.words.isEmpty && cancelled == ["a", "outer", "b"])
    }

    @Test(arguments: [false, true]) func `no value for so long is the end`(fails: Bool) {
        let subject = PassthroughSubject<Int, Failed>(), scheduler = ManualScheduler(), error: (() -> Failed)? = fails ? { Failed() } : nil
        let heard = Heard(subject.timeout(.seconds(1), scheduler: scheduler, customError: error))
        let early = Heard([1].publisher.timeout(1, scheduler: scheduler)), busy = PassthroughSubject<Int, Never>()
        let spared = Heard(busy.timeout(1, scheduler: scheduler))
        subject.send(1)
        scheduler.pass()
        #expect(heard.words == ["1", fails ? "failed" : "finished"] && early.words == ["1", "finished"] && spared.words == ["finished"])
        subject.send(2)
        #expect(heard.words.count == 2)
    }

    @Test func `a value begins the wait anew`() {
        let subject = PassthroughSubject<Int, Never>(), scheduler = ManualScheduler()
        let heard = Heard(subject.timeout(.seconds(1), scheduler: StaleScheduler(scheduler)))
        subject.send(1)
        scheduler.pass()
        #expect(heard.words == ["1"], "the first wait is nobody's any more")
        subject.send(2)
        #expect(heard.words == ["1", "2"])
    }

    /// Keeps the first wait alone: those after it are still to come.
    private final class StaleScheduler: Scheduler, @unchecked Sendable {
        private let other: ManualScheduler
        private var isFirst = true
        init(_ other: ManualScheduler) { self.other = other }
        func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { action() }
        func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) {
            if isFirst { other.hookswitchSchedule(after: interval, action) }
            isFirst = false
        }
    }

    @Test func `what throws is the end, and the handler of an error may throw`() {
        #expect(Heard([1, 2].publisher.tryFilter { if $0 == 2 { throw Failed() } else { true } }).words == ["1", "failed"])
        #expect(Heard([1, 2].publisher.tryCompactMap { $0 == 1 ? nil : $0 }).words == ["2", "finished"])
        let failing = Result<Int, Failed>.failure(Failed()).publisher
        #expect(Heard(failing.tryCatch { _ in Just(3) }).words == ["3", "finished"])
        #expect(Heard(failing.tryCatch { error -> Just<Int> in throw error }).words == ["failed"])
        let coded = Result<[Int], Failed>.success([7]).publisher.encode(encoder: JSONEncoder()).decode(
            type: [Int].self, decoder: JSONDecoder())
        #expect(Heard(coded).words == ["[7]", "finished"])
        #expect(Heard(Just(Data()).decode(type: [Int].self, decoder: JSONDecoder())).words == ["failed"])
        #expect(Heard(Int?.none.publisher).words == ["finished"] && Heard(Optional(1).publisher).words == ["1", "finished"])
    }

    @Test func `each operator that throws does what its like does, until it throws`() {
        let numbers = [1, 1, 2, 3].publisher
        func odd(_ value: Int) throws -> Bool { if value == 3 { throw Failed() } else { value == 1 } }
        #expect(Heard(numbers.tryScan(0) { try odd($1) ? $0 + $1 : 9 }).words == ["1", "2", "9", "failed"])
        #expect(Heard(numbers.prefix(2).tryReduce(0) { try odd($1) ? $0 + $1 : 9 }).words == ["2", "finished"])
        #expect(Heard(Empty<Int, Never>().tryReduce(7) { try odd($1) ? $0 : 9 }).words == ["7", "finished"])
        #expect(Heard(numbers.tryRemoveDuplicates { if $1 == 3 { throw Failed() } else { $0 == $1 } }).words == ["1", "2", "failed"])
        #expect(Heard(numbers.tryDrop(while: odd)).words == ["2", "3", "finished"])
        #expect(Heard(numbers.tryPrefix(while: odd)).words == ["1", "1", "finished"])
        #expect(Heard([3].publisher.tryPrefix(while: odd)).words == ["failed"])
        #expect(Heard(numbers.tryFirst { try !odd($0) }).words == ["2", "finished"])
        #expect(Heard(numbers.prefix(3).tryLast(where: odd)).words == ["1", "finished"])
        #expect(Heard(numbers.tryLast(where: odd)).words == ["failed"])
        #expect(Heard(numbers.tryContains { try !odd($0) }).words == ["true", "finished"])
        #expect(Heard([2].publisher.tryContains(where: odd)).words == ["false", "finished"])
        #expect(Heard(numbers.tryAllSatisfy(odd)).words == ["false", "finished"])
        #expect(Heard([1, 1, 3].publisher.tryAllSatisfy(odd)).words == ["failed"])
        #expect(Heard([4, 2, 5].publisher.tryMin { if $0 == 9 { throw Failed() } else { $0 < $1 } }).words == ["2", "finished"])
        #expect(Heard([4, 2, 5].publisher.tryMax { $0 < $1 }).words == ["5", "finished"])
        #expect(Heard([4, 9, 5].publisher.tryMax { if $0 == 9 { throw Failed() } else { $0 < $1 } }).words == ["failed"])
    }

    @Test func `three and four are joined as two are`() {
        let subjects = (0..<4).map { _ in PassthroughSubject<Int, Never>() }, stop = PassthroughSubject<Void, Never>()
        let (a, b, c, d) = (subjects[0], subjects[1], subjects[2], subjects[3])
        let newest = Heard(Publishers.CombineLatest4(a, b, c, d).map { "\($0.0)\($0.1)\($0.2)\($0.3)" }.eraseToAnyPublisher())
        let pairs = Heard(Publishers.Zip3(a, b, c).map { "\($0.0)\($0.1)\($0.2)" }.eraseToAnyPublisher())
        let merged = Heard(Publishers.Merge3(a, b, c)), four = Heard(a.merge(with: b, c, d)), sums = Heard(a.combineLatest(b) { $0 + $1 })
        let products = Heard(a.zip(b) { $0 * $1 }), early = Heard(a.prefix(untilOutputFrom: stop)), other = PassthroughSubject<Int, Never>()
        let copied = Heard(other.eraseToAnyPublisher()), copying = a.subscribe(other)
        for (index, subject) in subjects.enumerated() { subject.send(index + 1) }
        stop.send()
        a.send(5)
        copying.cancel()
        a.send(6)
        #expect(newest.words == ["1234", "5234", "6234"] && pairs.words == ["123"] && merged.words == ["1", "2", "3", "5", "6"])
        #expect(four.words == ["1", "2", "3", "4", "5", "6"] && sums.words == ["3", "7", "8"] && products.words == ["2"])
        #expect(early.words == ["1", "finished"] && copied.words == ["1", "5"])
        #expect(Heard(["ab"].publisher.map(\.count, \.isEmpty)).words == ["(2, false)", "finished"])
    }

    @Test func `how many, whether all, and the last such`() async throws {
        let numbers = [1, 2, 3].publisher
        #expect(Heard(numbers.count()).words == ["3", "finished"] && Heard(numbers.last { $0 < 3 }).words == ["2", "finished"])
        #expect(Heard(numbers.allSatisfy { $0 > 1 }).words == ["false", "finished"])
        #expect(Heard(numbers.allSatisfy { $0 > 0 }).words == ["true", "finished"])
        var awaited: [Int] = []
        await #expect(throws: Failed.self) {
            for try await value in numbers.setFailureType(to: (any Error).self).append(Fail<Int, any Error>(error: Failed())).values {
                awaited.append(value)
            }
        }
        #expect(awaited == [1, 2, 3])
        var isDone = false
        nonisolated(unsafe) let set = { isDone = true }
        ImmediateScheduler.shared.schedule { set() }
        #expect(isDone)
    }

    private final class Page: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    @Test func `who watches sees each event, and changes none`() {
        let subject = PassthroughSubject<Int, Never>(), page = Page()
        var seen: [String] = []
        let watched = subject.handleEvents(
            receiveSubscription: { _ in seen.append("subscription") }, receiveOutput: { seen.append("\($0)") },
            receiveCancel: { seen.append("cancel") }, receiveRequest: { seen.append("\($0 == .unlimited)") })
        let heard = Heard(watched.print("call", to: page))
        subject.send(1)
        heard.cancel()
        subject.send(2)
        #expect(heard.words == ["1"] && seen == ["subscription", "true", "1", "cancel"])
        let lines = page.text.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("call: receive subscription: ("))
        #expect(lines.dropFirst() == ["call: request unlimited", "call: receive value: (1)", "call: receive cancel"])
        let end = Page()
        _ = Heard(Fail<Int, Failed>(error: Failed()).print(to: end))
        #expect(end.text.hasSuffix("receive error: (Failed())\n"))
    }
}
