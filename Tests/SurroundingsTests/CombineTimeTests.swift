import HookswitchCombine
import Testing

/// Operators that give values at another time than they came, and those that end before their publisher.
@Suite struct CombineTimeTests {
    private enum Fault: Error { case wanted }

    /// The news of a publisher to one who listens: each value, and how it ends.
    private final class Heard {
        var words: [String] = []
        private var held: AnyCancellable?
        init<P: Publisher>(_ publisher: P) {
            held = publisher.sink(receiveCompletion: { [unowned self] completion in
                if case .failure = completion { words.append("failed") } else { words.append("finished") }
            }) { [unowned self] in words.append("\($0)") }
        }
        func cancel() { held?.cancel() }
    }

    @Test func `a delay is that of each value and of the end`() {
        let scheduler = VirtualScheduler(), heard = Heard(Just(1).delay(for: .seconds(2), scheduler: scheduler))
        let failed = Heard(Fail<Int, Fault>(error: .wanted).delay(for: .seconds(2), scheduler: scheduler))
        scheduler.pass(1)
        #expect(heard.words.isEmpty && failed.words.isEmpty)
        scheduler.pass(1)
        #expect(heard.words == ["1", "finished"] && failed.words == ["failed"])
    }

    @Test func `a pause lets the last value through, and the end drops it`() {
        let subject = PassthroughSubject<Int, Never>(), scheduler = VirtualScheduler()
        let heard = Heard(subject.debounce(for: .seconds(2), scheduler: scheduler))
        subject.send(1)
        scheduler.pass(1)
        subject.send(2)
        scheduler.pass(1)
        #expect(heard.words.isEmpty)
        scheduler.pass(1)
        #expect(heard.words == ["2"])
        subject.send(3)
        subject.send(completion: .finished)
        #expect(heard.words == ["2"], "the end comes where the values do")
        scheduler.pass(3)
        #expect(heard.words == ["2", "finished"])
    }

    @Test func `the end drops a value whose pause is over at the same time`() {
        let subject = PassthroughSubject<Int, Never>(), scheduler = VirtualScheduler()
        scheduler.hookswitchSchedule(after: .seconds(2)) { subject.send(completion: .finished) }
        let heard = Heard(subject.debounce(for: .seconds(2), scheduler: scheduler))
        subject.send(1)
        scheduler.pass(2)
        #expect(heard.words == ["finished"])
    }

    @Test(arguments: [true, false]) func `a value that waits for its stretch of time comes before the end`(latest: Bool) {
        let subject = PassthroughSubject<Int, Fault>(), scheduler = VirtualScheduler()
        let heard = Heard(subject.throttle(for: .seconds(5), scheduler: scheduler, latest: latest))
        for value in [1, 2] { subject.send(value) }
        #expect(heard.words.isEmpty, "values come where the scheduler says")
        scheduler.pass(0)
        for value in [3, 4] { subject.send(value) }
        subject.send(completion: .failure(.wanted))
        scheduler.pass(4)
        #expect(heard.words == [latest ? "2" : "1"])
        scheduler.pass(1)
        #expect(heard.words == (latest ? ["2", "4", "failed"] : ["1", "3", "failed"]))
    }

    @Test func `an end without a value that waits does not wait for the stretch of time`() {
        let subject = PassthroughSubject<Int, Never>(), scheduler = VirtualScheduler()
        let heard = Heard(subject.throttle(for: .seconds(5), scheduler: scheduler, latest: true))
        subject.send(1)
        scheduler.pass(1)
        subject.send(completion: .finished)
        scheduler.pass(0)
        #expect(heard.words == ["1", "finished"])
    }

    @Test func `no value wanted is the end at once`() {
        var isCancelled = false
        let subject = CurrentValueSubject<Int, Never>(1)
        #expect(Heard(subject.handleEvents(receiveCancel: { isCancelled = true }).prefix(0)).words == ["finished"])
        #expect(isCancelled)
        #expect(Heard(subject.output(in: 3..<3)).words == ["finished"])
    }

    @Test func `an operator that ends early cancels its publisher`() {
        let subject = PassthroughSubject<Int, Never>()
        var cancelled: [String] = []
        func watched(_ name: String) -> AnyPublisher<Int, Never> { subject.handleEvents(receiveCancel: { cancelled.append(name) }) }
        let heard = [
            Heard(watched("prefix").prefix(1)), Heard(watched("while").prefix { $0 > 1 }),
            Heard(watched("try").tryMap { if $0 == 1 { throw Fault.wanted } else { $0 } }),
        ]
        subject.send(1)
        #expect(Set(cancelled) == ["prefix", "while", "try"])
        #expect(heard.map(\.words) == [["1", "finished"], ["finished"], ["failed"]])
    }

    @Test func `values before a publisher stop with its listener`() {
        let subject = PassthroughSubject<Int, Never>()
        var events: [String] = [], held: AnyCancellable?, all = Set<AnyCancellable>()
        let watched = subject.handleEvents(receiveSubscription: { _ in events.append("subscription") }).prepend(1, 2)
            .handleEvents(receiveSubscription: { held = AnyCancellable($0) })
        watched.sink {
            events.append("\($0)")
            held?.cancel()
        }.store(in: &all)
        subject.send(3)
        #expect(events == ["1"])
        events = []
        subject.handleEvents(receiveSubscription: { _ in events.append("subscription") }).prepend([1, 2]).sink { events.append("\($0)") }
            .store(in: &all)
        subject.send(3)
        #expect(events == ["1", "2", "subscription", "3"])
    }
}
