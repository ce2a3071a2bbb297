import HookswitchCombine
import Testing

/// Operators that choose values by their place or size, or take them in groups.
@Suite struct CombineChoiceTests {
    private enum Fault: Error { case wanted }

    /// The news of a publisher to one who listens: each value, and how it ends.
    private func events<P: Publisher>(of publisher: P) -> [String] {
        var events: [String] = []
        _ = publisher.sink(receiveCompletion: { events.append("\($0)") }) { events.append("\($0)") }
        return events
    }

    @Test func `A place chooses one value, and ends there`() {
        let subject = PassthroughSubject<Int, Never>()
        var events: [String] = []
        let held = subject.output(at: 1).sink(receiveCompletion: { events.append("\($0)") }) { events.append("\($0)") }
        for value in [7, 8] { subject.send(value) }
        #expect(events == ["8", "finished"])
        held.cancel()
        #expect(self.events(of: [7].publisher.output(at: 1)) == ["finished"])
    }

    @Test func `Places choose values by any range`() {
        let values = [5, 6, 7, 8].publisher
        #expect(events(of: values.output(in: 1..<3)) == ["6", "7", "finished"])
        #expect(events(of: values.output(in: 2...)) == ["7", "8", "finished"])
        #expect(events(of: values.output(in: ...0)) == ["5", "finished"])
        #expect(events(of: values.output(in: 2..<2)) == ["finished"])
    }

    @Test func `Groups are full, and the last has the rest`() {
        #expect(events(of: [1, 2, 3, 4, 5].publisher.collect(2)) == ["[1, 2]", "[3, 4]", "[5]", "finished"])
        #expect(events(of: [1, 2].publisher.collect(2)) == ["[1, 2]", "finished"])
    }

    @Test func `A failure drops the group that waits`() {
        let subject = PassthroughSubject<Int, Fault>()
        var events: [String] = []
        let held = subject.collect(2).sink(receiveCompletion: { events.append("\($0)") }) { events.append("\($0)") }
        for value in 1...3 { subject.send(value) }
        subject.send(completion: .failure(.wanted))
        #expect(events.count == 2 && events[0] == "[1, 2]" && events[1].hasPrefix("failure"))
        held.cancel()
    }

    @Test func `The smallest and the greatest come at the end`() {
        #expect(events(of: [3, 1, 2].publisher.min()) == ["1", "finished"])
        #expect(events(of: [3, 1, 4].publisher.max()) == ["4", "finished"])
        #expect(events(of: [3, 1, 4].publisher.min { $0 > $1 }) == ["4", "finished"])
        #expect(events(of: [3, 1, 4].publisher.max { $0 > $1 }) == ["1", "finished"])
        #expect(events(of: [Int]().publisher.max()) == ["finished"])
    }

    @Test func `Values are dropped until the other gives one`() {
        let subject = PassthroughSubject<Int, Never>(), other = PassthroughSubject<Void, Never>()
        var values: [Int] = []
        let held = subject.drop(untilOutputFrom: other).sink { values.append($0) }
        subject.send(1)
        other.send()
        other.send(completion: .finished)
        subject.send(2)
        #expect(values == [2])
        held.cancel()
    }

    @Test func `An other that ends without a value ends the publisher`() {
        #expect(events(of: PassthroughSubject<Int, Never>().drop(untilOutputFrom: Empty<Int, Never>())) == ["finished"])
    }
}
