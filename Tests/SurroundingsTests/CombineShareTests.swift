import Foundation
import HookswitchCombine
import Testing

/// One subscription for all who listen, and those that somebody connects.
@Suite struct CombineShareTests {
    private enum Fault: Error { case wanted }

    @Test func `values come from the connection on, to all who listen`() {
        let subject = PassthroughSubject<Int, Never>()
        var subscriptions = 0
        let shared = subject.handleEvents(receiveSubscription: { _ in subscriptions += 1 }).multicast { PassthroughSubject() }
        let first = Asker(shared, first: .unlimited), second = Asker(shared, first: .max(1))
        subject.send(1)
        #expect(subscriptions == 0)
        let connection = shared.connect()
        for value in [2, 3] { subject.send(value) }
        connection.cancel()
        subject.send(4)
        #expect(first.words == ["2", "3"] && second.words == ["2"] && subscriptions == 1)
        let again = shared.connect()
        subject.send(5)
        #expect(first.words == ["2", "3", "5"], "the subject stays")
        again.cancel()
    }

    @Test func `a subject of one's own gives its value too`() {
        let subject = CurrentValueSubject<Int, Never>(0), shared = [1, 2].publisher.multicast(subject: subject)
        let asker = Asker(shared, first: .unlimited)
        #expect(asker.words == ["0"])
        let connection = shared.connect()
        #expect(asker.words == ["0", "1", "2", "finished"] && subject.value == 2)
        connection.cancel()
    }

    @Test func `a publisher waits until all listen`() {
        let numbers = [1, 2].publisher.makeConnectable(), askers = [Asker(numbers, first: .unlimited), Asker(numbers, first: .unlimited)]
        #expect(askers.map(\.words) == [[], []])
        let connection = numbers.connect()
        #expect(askers.map(\.words) == [["1", "2", "finished"], ["1", "2", "finished"]])
        connection.cancel()
    }

    @Test func `the first who listens connects, and the last who leaves disconnects`() {
        let subject = PassthroughSubject<Int, Never>()
        var events: [String] = []
        let shared = subject.handleEvents(
            receiveSubscription: { _ in events.append("subscription") }, receiveCancel: { events.append("cancel") }
        ).share()
        let first = Asker(shared, first: .unlimited), second = Asker(shared, first: .unlimited)
        subject.send(1)
        first.cancel()
        first.cancel()
        subject.send(2)
        #expect(events == ["subscription"])
        second.cancel()
        subject.send(3)
        #expect(events == ["subscription", "cancel"] && first.words == ["1"] && second.words == ["1", "2"])
        let third = Asker(shared, first: .unlimited)
        subject.send(4)
        subject.send(completion: .finished)
        #expect(third.words == ["4", "finished"] && events.count == 3)
        #expect(Asker(shared, first: .unlimited).words == ["finished"] && events.count == 3, "who comes late hears of the end alone")
        #expect(shared == shared)
    }

    @Test func `what is over at once is connected once`() {
        var subscriptions = 0
        let shared = Just(1).handleEvents(receiveSubscription: { _ in subscriptions += 1 }).share()
        #expect(Asker(shared, first: .unlimited).words == ["1", "finished"])
        #expect(Asker(shared, first: .unlimited).words == ["finished"] && subscriptions == 1)
    }

    @Test func `a subject takes the values of a publisher until it ends or is cancelled`() {
        let source = PassthroughSubject<Int, Fault>(), subject = PassthroughSubject<Int, Fault>()
        var cancels = 0
        let asker = Asker(subject, first: .unlimited), tie = source.handleEvents(receiveCancel: { cancels += 1 }).subscribe(subject)
        source.send(1)
        tie.cancel()
        source.send(2)
        let again = source.subscribe(subject)
        source.send(completion: .failure(.wanted))
        again.cancel()
        #expect(asker.words == ["1", "failed"] && cancels == 1)
    }

    @Test(arguments: [false, true]) func `a breakpoint stops the process where it is wanted`(isError: Bool) async {
        _ = [1].publisher.breakpoint(receiveOutput: { $0 == 2 }).breakpointOnError().sink { #expect($0 == 1) }
        if isError {
            await #expect(processExitsWith: .signal(SIGTRAP)) {
                _ = Fail<Int, CocoaError>(error: CocoaError(.fileNoSuchFile)).breakpointOnError().sink { _ in
                } receiveValue: { _ in
                }
            }
        } else {
            await #expect(processExitsWith: .signal(SIGTRAP)) { _ = [2].publisher.breakpoint(receiveOutput: { $0 == 2 }).sink { _ in } }
        }
    }
}
