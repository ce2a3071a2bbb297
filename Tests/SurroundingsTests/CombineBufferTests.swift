import HookswitchCombine
import Testing

/// Operators that keep values: buffers, and groups of a stretch of time.
@Suite struct CombineBufferTests {
    private enum Fault: Error { case wanted, other }

    @Test(arguments: [0, 1, 2]) func `a full buffer drops the newest or the oldest, or fails`(strategy: Int) {
        let subject = PassthroughSubject<Int, Fault>()
        var cancels = 0
        let full: [Publishers.BufferingStrategy<Fault>] = [.dropNewest, .dropOldest, .customError { .wanted }]
        let asker = Asker(
            subject.handleEvents(receiveCancel: { cancels += 1 }).buffer(size: 3, prefetch: .byRequest, whenFull: full[strategy]))
        for value in 1...5 { subject.send(value) }
        #expect(asker.words.isEmpty && cancels == (strategy == 2 ? 1 : 0))
        asker.ask(2)
        asker.ask(1)
        #expect(asker.news() == [["1", "2", "3"], ["3", "4", "5"], ["1", "2", "3", "failed"]][strategy])
        asker.ask(1)
        subject.send(6)
        #expect(asker.news() == (strategy == 2 ? [] : ["6"]))
    }

    @Test func `a buffer that is kept full asks for as many as it has place for`() {
        var requests: [String] = []
        let numbers = (1...9).publisher.handleEvents(receiveRequest: { requests.append("\($0)") })
        let asker = Asker(numbers.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest))
        #expect(requests == ["max(3)"])
        asker.ask(2)
        #expect(asker.news() == ["1", "2"] && requests == ["max(3)", "max(1)", "max(1)"])
        asker.askForAll()
        #expect(asker.news() == ["3", "4", "5", "6", "7", "8", "9", "finished"])
    }

    @Test func `a buffer that is kept full asks for one more with each value that passes`() {
        let subject = PassthroughSubject<Int, Fault>()
        let asker = Asker(subject.buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest), first: .unlimited)
        for value in 1...4 { subject.send(value) }
        #expect(asker.words == ["1", "2", "3", "4"])
    }

    @Test func `the end comes after the values of the buffer, and a failure before them`() {
        let subject = PassthroughSubject<Int, Fault>(), buffer = subject.buffer(size: 9, prefetch: .byRequest, whenFull: .dropOldest)
        let asker = Asker(buffer), failing = PassthroughSubject<Int, Fault>()
        let failed = Asker(failing.buffer(size: 9, prefetch: .byRequest, whenFull: .dropOldest))
        for each in [subject, failing] { each.send(1) }
        subject.send(completion: .finished)
        failing.send(completion: .failure(.other))
        #expect(asker.news().isEmpty && failed.words == ["failed"])
        asker.ask(1)
        #expect(asker.news() == ["1", "finished"])
    }

    @Test func `values of a stretch of time come together`() {
        let subject = PassthroughSubject<Int, Fault>(), scheduler = VirtualScheduler()
        let asker = Asker(subject.collect(.byTime(scheduler, .seconds(2))), first: .unlimited)
        subject.send(1)
        scheduler.pass(1)
        subject.send(2)
        scheduler.pass(1)
        #expect(asker.news() == ["[1, 2]"])
        scheduler.pass(4)
        #expect(asker.news().isEmpty, "a stretch without values has no group")
        subject.send(3)
        subject.send(completion: .finished)
        #expect(asker.news() == ["[3]", "finished"])
        scheduler.pass(2)
        #expect(scheduler.isIdle)
    }

    @Test func `so many values come before their stretch of time is over`() {
        let subject = PassthroughSubject<Int, Fault>(), scheduler = VirtualScheduler()
        let asker = Asker(subject.collect(.byTimeOrCount(scheduler, .seconds(2), 2)), first: .unlimited)
        for value in 1...3 { subject.send(value) }
        #expect(asker.news() == ["[1, 2]"])
        scheduler.pass(2)
        #expect(asker.news() == ["[3]"])
        subject.send(4)
        subject.send(completion: .failure(.other))
        #expect(asker.news() == ["failed"])
        let left = Asker(subject.collect(.byTime(scheduler, 1)))
        left.cancel()
        scheduler.pass(2)
        #expect(scheduler.isIdle, "nothing ticks for nobody")
    }

    @Test func `the time between values is measured`() {
        let subject = PassthroughSubject<Int, Never>(), scheduler = VirtualScheduler()
        var intervals: [Double] = []
        let held = subject.measureInterval(using: scheduler).sink { intervals.append($0.timeInterval) }
        for seconds in [2.0, 0.5] {
            scheduler.pass(seconds)
            subject.send(0)
        }
        #expect(intervals == [2, 0.5])
        held.cancel()
    }

    @Test func `a subscription is made where the scheduler says`() {
        let scheduler = VirtualScheduler()
        var made = 0, cancelled = 0
        let numbers = Deferred { () -> Publishers.Sequence<ClosedRange<Int>, Never> in
            made += 1
            return (1...9).publisher
        }.handleEvents(receiveCancel: { cancelled += 1 })
        let asker = Asker(numbers.subscribe(on: scheduler), first: .max(1))
        #expect(made == 0)
        scheduler.pass(0)
        #expect(made == 1 && asker.words == ["1"])
        asker.cancel()
        #expect(cancelled == 0)
        scheduler.pass(0)
        #expect(cancelled == 1)
    }
}
