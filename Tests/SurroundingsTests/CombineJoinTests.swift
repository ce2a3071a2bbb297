import HookswitchCombine
import Testing

/// Publishers that are joined, and the requests that they get.
@Suite struct CombineJoinTests {
    private enum Fault: Error { case wanted }

    @Test func `of those that are merged each is asked for one value at a time`() {
        var requests: [String] = []
        let first = PassthroughSubject<Int, Never>(), second = PassthroughSubject<Int, Never>()
        let asker = Asker(first.handleEvents(receiveRequest: { requests.append("\($0)") }).merge(with: second), first: .max(1))
        first.send(1)
        for value in [2, 3] { first.send(value) }
        second.send(4)
        #expect(asker.news() == ["1"])
        asker.ask(2)
        #expect(asker.news() == ["2", "4"])
        for subject in [first, second] { subject.send(completion: .finished) }
        #expect(asker.news() == ["finished"])
        #expect(requests == ["max(1)", "max(1)", "max(1)"])
    }

    @Test func `the end of those that are merged comes after the values that wait`() {
        let asker = Asker([1, 2].publisher.merge(with: Just(3)), first: .max(1))
        #expect(asker.news() == ["1"])
        asker.ask(1)
        #expect(asker.news() == ["2"])
        asker.ask(1)
        #expect(asker.news() == ["3", "finished"])
        let late = Asker([1, 2].publisher.merge(with: [3].publisher))
        late.askForAll()
        #expect(late.words.count == 4 && Set(late.words) == ["1", "2", "3", "finished"])
    }

    @Test func `a pair is requested of both, and the end comes with the last pair`() {
        let first = PassthroughSubject<Int, Never>(), asker = Asker([7, 8].publisher.zip(first), first: .max(1))
        first.send(1)
        first.send(2)
        #expect(asker.news() == ["(7, 1)"], "nobody has asked for the second")
        asker.ask(1)
        first.send(3)
        #expect(asker.news() == ["(8, 3)", "finished"])
    }

    @Test func `a request that comes with a pair is one of both`() {
        #expect(Asker([1, 2].publisher.zip(["a", "b"].publisher), first: .max(1), more: .max(1)).words.count == 3)
        let first = CurrentValueSubject<Int, Never>(1), second = PassthroughSubject<Int, Never>()
        let asker = Asker(first.combineLatest(second), first: .max(1), more: .max(1))
        for value in [5, 6] { second.send(value) }
        first.send(2)
        #expect(asker.words == ["(1, 5)", "(1, 6)", "(2, 6)"])
    }

    @Test func `a change beyond those that are requested is dropped`() {
        let first = CurrentValueSubject<Int, Never>(1), second = CurrentValueSubject<String, Never>("a")
        let asker = Asker(first.combineLatest(second), first: .max(1))
        #expect(asker.news() == [#"(1, "a")"#])
        first.send(2)
        #expect(asker.news().isEmpty)
        asker.ask(1)
        second.send("b")
        #expect(asker.words.count == 1)
    }

    @Test func `so many publishers at a time give their values`() {
        let subjects = (0..<3).map { _ in PassthroughSubject<Int, Never>() }
        var asked: [Int] = []
        let joined = (0..<3).publisher.flatMap(maxPublishers: .max(2)) { index -> PassthroughSubject<Int, Never> in
            asked.append(index)
            return subjects[index]
        }
        let asker = Asker(joined, first: .unlimited)
        #expect(asked == [0, 1])
        subjects[2].send(9)
        subjects[0].send(1)
        subjects[0].send(completion: .finished)
        #expect(asked == [0, 1, 2])
        subjects[2].send(3)
        for subject in subjects { subject.send(completion: .finished) }
        #expect(asker.words == ["1", "3", "finished"])
    }

    @Test func `publishers one after the other keep their order`() {
        let scheduler = VirtualScheduler()
        let joined = [3, 1, 2].publisher.flatMap(maxPublishers: .max(1)) { seconds in
            Just(seconds).delay(for: .seconds(seconds), scheduler: scheduler)
        }
        let asker = Asker(joined, first: .unlimited)
        scheduler.pass(6)
        #expect(asker.words == ["3", "1", "2", "finished"])
    }

    @Test func `up to eight are merged, and four make a group`() {
        let eight = Publishers.Merge8(Just(1), [2].publisher, Just(3), Just(4), Just(5), Just(6), Just(7), Just(8).map { $0 })
        #expect(Asker(eight, first: .unlimited).words == ["1", "2", "3", "4", "5", "6", "7", "8", "finished"])
        let many = Publishers.MergeMany(Just(1), Just(2)).merge(with: Just(3))
        #expect(Asker(many, first: .unlimited).words == ["1", "2", "3", "finished"])
        let four = Publishers.Zip4(Just(1), Just(2), Just(3), Just(4)).map { $0 + $1 + $2 + $3 }
        #expect(Asker(four, first: .unlimited).words == ["10", "finished"])
        let pairs = Just(1).zip(Just(2), Just(3)) { $0 + $1 + $2 }
        #expect(Asker(pairs, first: .unlimited).words == ["6", "finished"])
        let newest = Just(1).combineLatest(Just(2), Just(3)) { $0 + $1 + $2 }
        #expect(Asker(newest, first: .unlimited).words == ["6", "finished"])
    }

    @Test func `publishers that never fail are joined to those that may`() {
        let failing = [1, 2].publisher.setFailureType(to: Fault.self)
        #expect(Asker(failing.flatMap { Just($0 * 2) }, first: .unlimited).words == ["2", "4", "finished"])
        let made = [1].publisher.flatMap { _ in Fail<Int, Fault>(error: .wanted) }
        #expect(Asker(made, first: .unlimited).words == ["failed"])
        #expect(Asker(Just(failing).switchToLatest(), first: .unlimited).words == ["1", "2", "finished"])
    }

    @Test func `values are dropped, or taken, until the other gives one`() {
        let subject = PassthroughSubject<Int, Never>(), other = PassthroughSubject<Void, Never>()
        let dropped = Asker(subject.drop(untilOutputFrom: other), first: .max(2)), taken = Asker(subject.prefix(untilOutputFrom: other))
        taken.ask(1)
        subject.send(1)
        other.send()
        for value in [2, 3] { subject.send(value) }
        #expect(dropped.words == ["2"], "the value that was dropped counts")
        #expect(taken.words == ["1", "finished"])
        let spared = Asker(subject.prefix(untilOutputFrom: Empty<Void, Fault>()), first: .unlimited)
        subject.send(4)
        #expect(spared.words == ["4"], "an other that ends without a value ends nothing")
    }

    @Test func `a failure ends all that are joined`() {
        var cancelled = 0
        let good = PassthroughSubject<Int, Fault>(), bad = PassthroughSubject<Int, Fault>()
        let watched = good.handleEvents(receiveCancel: { cancelled += 1 })
        let askers = [Asker(watched.merge(with: bad), first: .unlimited), Asker(watched.zip(bad).map(\.0), first: .unlimited)]
        bad.send(completion: .failure(.wanted))
        #expect(askers.map(\.words) == [["failed"], ["failed"]] && cancelled == 2)
    }
}
