import HookswitchCombine
import Testing

/// No publisher gives more than was requested.
@Suite struct CombineDemandTests {
    private enum Fault: Error { case wanted }

    @Test func `a sequence gives as many as are asked for, and ends with the last`() {
        let asker = Asker([1, 2, 3].publisher, first: .max(1))
        #expect(asker.news() == ["1"])
        asker.ask(1)
        #expect(asker.news() == ["2"])
        asker.ask(1)
        #expect(asker.news() == ["3", "finished"])
        #expect(Asker([Int]().publisher).words == ["finished"])
        #expect(Asker([1, 2, 3].publisher, first: .max(1), more: .max(1)).words == ["1", "2", "3", "finished"])
    }

    @Test func `a sequence without end stops when its listener does`() {
        var heard: [Int] = []
        _ = (1...).publisher.prefix(3).sink { heard.append($0) }
        #expect(heard == [1, 2, 3])
    }

    @Test func `one value waits until it is asked for`() {
        var promise: ((Result<Int, Fault>) -> Void)?
        let future = Future<Int, Fault> { promise = $0 }, waiting = Asker(future), just = Asker(Just(1))
        let askers = [Asker(Result<Int, Fault>.success(1).publisher), waiting]
        promise?(.success(1))
        promise?(.failure(.wanted))
        let late = Asker(future)
        for asker in askers + [late] {
            #expect(asker.news().isEmpty)
            asker.ask(1)
            #expect(asker.news() == ["1", "finished"])
        }
        #expect(just.news().isEmpty)
        just.ask(1)
        #expect(just.news() == ["1", "finished"])
        #expect(Asker(Result<Int, Fault>.failure(.wanted).publisher).words == ["failed"])
    }

    @Test func `a subject drops what nobody has asked for`() {
        let subject = PassthroughSubject<Int, Never>(), asker = Asker(subject, first: .max(1)), other = Asker(subject, first: .unlimited)
        for value in 1...3 { subject.send(value) }
        asker.ask(2)
        for value in 4...7 { subject.send(value) }
        subject.send(completion: .finished)
        #expect(asker.words == ["1", "4", "5", "finished"] && other.words == ["1", "2", "3", "4", "5", "6", "7", "finished"])
    }

    /// One who asks for one value with each, and answers 1 by having 2 sent.
    private func answerer(_ publisher: some Publisher<Int, Never>, _ send: @escaping (Int) -> Void) -> () -> [Int] {
        var heard: [Int] = []
        publisher.subscribe(
            AnySubscriber<Int, Never>(
                receiveSubscription: { $0.request(.max(1)) },
                receiveValue: { value in
                    heard.append(value)
                    if value == 1 { send(2) }
                    return .max(1)
                }))
        return { heard }
    }

    @Test func `a value that is sent while another is given comes as soon as it is asked for`() {
        let subject = CurrentValueSubject<Int, Never>(0), heard = answerer(subject) { subject.send($0) }
        subject.send(1)
        #expect(heard() == [0, 1, 2])
        let (one, other) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        let both = answerer(one.merge(with: other)) { other.send($0) }
        one.send(1)
        #expect(both() == [1, 2])
    }

    @Test func `a subject with a value gives the newest when it is asked`() {
        let subject = CurrentValueSubject<Int, Never>(1), asker = Asker(subject)
        #expect(asker.words.isEmpty)
        for value in [2, 3] { subject.send(value) }
        asker.ask(2)
        #expect(asker.news() == ["3"])
        for value in [4, 5] { subject.send(value) }
        #expect(asker.news() == ["4"])
        subject.send(completion: .finished)
        #expect(asker.news() == ["finished"], "the end drops what nobody has asked for")
    }

    @Test func `a value that an operator leaves out is not counted`() {
        let numbers = (1...9).publisher
        #expect(Asker(numbers.filter { $0 > 7 }, first: .max(1)).words == ["8"])
        #expect(Asker(numbers.compactMap { $0 > 7 ? $0 : nil }, first: .max(1)).words == ["8"])
        #expect(Asker(numbers.dropFirst(6), first: .max(1)).words == ["7"])
        #expect(Asker(numbers.drop { $0 < 5 }, first: .max(1)).words == ["5"])
        #expect(Asker([1, 1, 2].publisher.removeDuplicates(), first: .max(2)).words == ["1", "2", "finished"])
        #expect(Asker(numbers.tryFilter { $0 > 7 }, first: .max(1)).words == ["8"])
        #expect(Asker(numbers.map { $0 * 2 }.scan(0, +), first: .max(2)).words == ["2", "6"])
        #expect(Asker(numbers.prefix(2), first: .max(1), more: .max(1)).words == ["1", "2", "finished"])
    }

    @Test func `what is made of all values waits until it is asked for`() {
        let askers = [Asker([1, 2].publisher.reduce(0, +)), Asker([3].publisher.last()), Asker([3, 4].publisher.min())]
        #expect(askers.map(\.words) == [[], [], []])
        for asker in askers {
            asker.ask(1)
            #expect(asker.words == ["3", "finished"])
        }
        let groups = Asker((1...5).publisher.collect(2), first: .max(1))
        #expect(groups.news() == ["[1, 2]"])
        groups.ask(2)
        #expect(groups.news() == ["[3, 4]", "[5]", "finished"])
    }

    @Test func `publishers that follow each other share the request`() {
        let asker = Asker([1, 2].publisher.append([3, 4].publisher).prepend(0), first: .max(2))
        #expect(asker.news() == ["0", "1"])
        asker.ask(2)
        #expect(asker.news() == ["2", "3"])
        asker.askForAll()
        #expect(asker.news() == ["4", "finished"])
        let failing = [1].publisher.setFailureType(to: Fault.self).append(Fail(error: .wanted))
        let caught = Asker(failing.catch { _ in [8, 9].publisher }, first: .max(2)), again = Asker(failing.retry(1), first: .max(1))
        #expect(caught.words == ["1", "8"] && again.words == ["1"])
        again.ask(1)
        #expect(again.words == ["1", "1", "failed"])
        let empty = Asker(Empty<Int, Never>().replaceEmpty(with: 7))
        #expect(empty.words.isEmpty)
        empty.ask(1)
        #expect(empty.words == ["7", "finished"])
        let latest = Asker([[1, 2].publisher, [3, 4].publisher].publisher.switchToLatest(), first: .max(1))
        #expect(latest.news() == ["1"])
        latest.ask(1)
        #expect(latest.news() == ["3"])
    }

    @Test func `a request reaches the publisher through what changes time or place`() {
        let scheduler = VirtualScheduler(), asker = Asker((1...3).publisher.delay(for: .seconds(1), scheduler: scheduler), first: .max(1))
        let moved = Asker((1...3).publisher.receive(on: scheduler), first: .max(1), more: .max(1))
        scheduler.pass(1)
        #expect(asker.news() == ["1"] && moved.words == ["1", "2", "3", "finished"])
        asker.ask(2)
        scheduler.pass(1)
        #expect(asker.news() == ["2", "3", "finished"])
        let subject = PassthroughSubject<Int, Never>(), calm = Asker(subject.debounce(for: 1, scheduler: scheduler), first: .max(1))
        let steady = Asker(subject.throttle(for: 1, scheduler: scheduler, latest: true), first: .max(1))
        for value in 1...3 {
            subject.send(value)
            scheduler.pass(2)
        }
        #expect(calm.words == ["1"] && steady.words == ["1"])
    }

    @Test func `who watches sees the requests`() {
        var requests: [String] = []
        let page = Page(), numbers = (1...3).publisher.handleEvents(receiveRequest: { requests.append("\($0)") }).print(to: page)
        let asker = Asker(numbers, first: .max(1), more: .max(1))
        #expect(asker.words.count == 4 && requests == ["max(1)", "max(1)", "max(1)", "max(1)"])
        let lines = page.text.split(separator: "\n")
        #expect(lines.dropFirst().prefix(3) == ["request max: (1)", "receive value: (1)", "request max: (1) (synchronous)"])
    }

    private final class Page: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    @Test func `a demand adds up without overflow, and is never below none`() {
        var demand = Subscribers.Demand.max(2) + .max(3)
        #expect(demand == 5 && demand.max == 5 && "\(demand)" == "max(5)")
        demand -= 7
        #expect(demand == .none)
        #expect(Subscribers.Demand.max(.max) + 1 == .unlimited && Subscribers.Demand.unlimited - 1 == .unlimited)
        #expect(Subscribers.Demand.max(2) * 3 == 6 && Subscribers.Demand.unlimited * 2 == .unlimited)
        #expect(Subscribers.Demand.unlimited > .max(.max) && Subscribers.Demand.max(3) - .unlimited == .none)
        #expect(Subscribers.Demand.unlimited.max == nil && "\(Subscribers.Demand.unlimited)" == "unlimited")
    }

    @Test func `subscribers of closures and of properties ask for all`() {
        final class Phone { var number = 0 }
        var heard: [Int] = []
        let phone = Phone(), subject = PassthroughSubject<Int, Never>()
        subject.subscribe(Subscribers.Assign(object: phone, keyPath: \.number))
        subject.subscribe(Subscribers.Sink(receiveCompletion: { _ in heard.append(-1) }) { heard.append($0) })
        subject.subscribe(
            AnySubscriber(
                receiveSubscription: { $0.request(.max(1)) },
                receiveValue: {
                    heard.append($0 * 10); return .none
                }))
        for value in [1, 2] { subject.send(value) }
        subject.send(completion: .finished)
        #expect(phone.number == 2 && heard == [1, 10, 2, -1])
    }
}
