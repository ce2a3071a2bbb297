import Foundation
import HookswitchCombine
import Testing

@Suite struct CombineTests {
    private struct Failed: Error, Equatable {}

    private final class Phone: ObservableObject {
        @Published var calls = 0
        @Published var name = "a"
    }

    @Test func `a subject gives each value to who listens, until it ends`() {
        let subject = PassthroughSubject<Int, Failed>()
        var heard: [Int] = [], ends: [Subscribers.Completion<Failed>] = []
        subject.send(0)
        let listening = subject.sink {
            ends.append($0)
        } receiveValue: {
            heard.append($0)
        }
        subject.send(1)
        subject.send(completion: .failure(Failed()))
        subject.send(2)
        #expect(heard == [1] && ends == [.failure(Failed())])
        _ = subject.sink {
            ends.append($0)
        } receiveValue: {
            heard.append($0)
        }
        #expect(ends.count == 2, "who comes late hears of the end")
        listening.cancel()
    }

    @Test func `a listener hears nothing after it is cancelled or released`() {
        let subject = CurrentValueSubject<Int, Never>(1)
        var heard: [Int] = [], set = Set<AnyCancellable>()
        subject.sink { heard.append($0) }.store(in: &set)
        subject.value = 2
        set.removeAll()
        subject.send(3)
        #expect(heard == [1, 2] && subject.value == 3)
    }

    @Test func `operators change, choose and join values`() {
        let subject = PassthroughSubject<Int, Never>(), other = CurrentValueSubject<String, Never>("a")
        var heard: [String] = [], set = [AnyCancellable]()
        subject.map { $0 * 2 }.filter { $0 > 2 }.removeDuplicates().dropFirst().compactMap { $0 == 8 ? nil : "\($0)" }
            .sink { heard.append($0) }.store(in: &set)
        for value in [1, 2, 3, 3, 4, 5] { subject.send(value) }
        #expect(heard == ["6", "10"])
        heard = []
        Publishers.CombineLatest(subject, other).map { "\($0.0)\($0.1)" }.sink { heard.append($0) }.store(in: &set)
        subject.send(1)
        other.send("b")
        #expect(heard == ["1a", "1b"])
        set = []
        heard = []
        Publishers.Merge(subject.map { "\($0)" }, other).first().sink { heard.append($0) }.store(in: &set)
        subject.send(7)
        #expect(heard == ["b"])
    }

    @Test func `a property is published before it is set`() {
        let phone = Phone()
        var heard: [String] = [], set = Set<AnyCancellable>()
        phone.objectWillChange.sink { heard.append("will change \(phone.calls)") }.store(in: &set)
        phone.$calls.sink { heard.append("\($0) was \(phone.calls)") }.store(in: &set)
        phone.calls = 1
        phone.name = "b"
        #expect(heard == ["0 was 0", "will change 0", "1 was 0", "will change 1"] && phone.calls == 1)
    }

    @Test func `values are assigned to a property`() {
        let phone = Phone(), subject = PassthroughSubject<String, Never>()
        let listening = subject.assign(to: \.name, on: phone)
        subject.send("c")
        #expect(phone.name == "c")
        subject.assign(to: &phone.$name)
        listening.cancel()
        subject.send("d")
        #expect(phone.name == "d")
    }

    @Test func `notifications are published`() {
        let center = NotificationCenter(), name = Notification.Name("CombineTests")
        var heard = 0
        let listening = center.publisher(for: name).sink { _ in heard += 1 }
        center.post(name: name, object: nil)
        listening.cancel()
        center.post(name: name, object: nil)
        #expect(heard == 1)
    }

    @Test func `futures, single values and errors`() {
        var heard: [String] = [], set = Set<AnyCancellable>(), promise: ((Result<Int, Failed>) -> Void)?
        let future = Future<Int, Failed> { promise = $0 }
        future.replaceError(with: 0).sink { heard.append("future \($0)") }.store(in: &set)
        promise?(.success(5))
        future.sink { _ in
            heard.append("end")
        } receiveValue: {
            heard.append("again \($0)")
        }.store(in: &set)
        Just(1).sink { heard.append("just \($0)") }.store(in: &set)
        Fail<Int, Failed>(error: Failed()).mapError { _ in Failed() }.sink {
            heard.append("\($0)")
        } receiveValue: { _ in
        }.store(in: &set)
        Fail<Int, Failed>(error: Failed()).replaceError(with: 9).sink { heard.append("replaced \($0)") }.store(in: &set)
        #expect(heard.filter { !$0.hasPrefix("failure(") } == ["future 5", "again 5", "end", "just 1", "replaced 9"] && heard.count == 6)
    }

    @Test func `operators look at the values that came before`() {
        let subject = PassthroughSubject<Int, Never>()
        var heard: [String] = [], set = Set<AnyCancellable>()
        subject.drop { $0 < 2 }.sink { heard.append("drop \($0)") }.store(in: &set)
        subject.prefix { $0 < 3 }.sink { heard.append("prefix \($0)") }.store(in: &set)
        subject.scan(10, +).sink { heard.append("scan \($0)") }.store(in: &set)
        for value in [1, 3, 1] { subject.send(value) }
        #expect(heard.count == 6 && Set(heard) == ["prefix 1", "scan 11", "drop 3", "scan 14", "drop 1", "scan 15"])
        (heard, set) = ([], [])
        subject.collect().sink { heard.append("all \($0)") }.store(in: &set)
        subject.map { Optional($0) }.replaceNil(with: 0).prepend(8, 9).last().sink { heard.append("last \($0)") }.store(in: &set)
        subject.send(4)
        subject.send(completion: .finished)
        #expect(Set(heard) == ["all [4]", "last 4"])
    }

    @Test func `publishers are joined by pairs, by the newest values and as they come`() {
        let number = PassthroughSubject<Int, Failed>(), name = PassthroughSubject<String, Failed>(),
            isUp = PassthroughSubject<Bool, Failed>()
        var heard: [String] = [], set = [AnyCancellable]()
        let end = { (completion: Subscribers.Completion<Failed>) in if case .failure = completion { heard.append("failed") } }
        number.zip(name).sink(receiveCompletion: end) { heard.append("pair \($0)\($1)") }.store(in: &set)
        number.combineLatest(name, isUp).sink(receiveCompletion: end) { heard.append("newest \($0)\($1)\($2)") }.store(in: &set)
        number.send(1)
        number.send(2)
        isUp.send(true)
        #expect(heard.isEmpty)
        name.send("a")
        #expect(Set(heard) == ["pair 1a", "newest 2atrue"])
        heard = []
        Publishers.MergeMany([number, number]).sink(receiveCompletion: end) { heard.append("\($0)") }.store(in: &set)
        number.send(completion: .failure(Failed()))
        #expect(heard == ["failed", "failed", "failed"], "one that fails ends what it is joined to")
    }

    @Test func `a value or an error becomes a publisher`() {
        let subject = PassthroughSubject<Int, Failed>()
        var heard: [String] = [], set = Set<AnyCancellable>()
        subject.flatMap { value in Just(value * 10).setFailureType(to: Failed.self) }.catch { _ in Just(-1) }
            .sink(receiveCompletion: { heard.append("\($0)") }) { heard.append("\($0)") }.store(in: &set)
        subject.tryMap { value in if value == 2 { throw Failed() } else { value } }.replaceError(with: -2)
            .sink { heard.append("try \($0)") }.store(in: &set)
        subject.send(1)
        subject.send(2)
        #expect(Set(heard) == ["10", "try 1", "20", "try -2"])
        heard = []
        subject.send(completion: .failure(Failed()))
        #expect(heard == ["-1", "finished"])
    }

    @Test func `one subscription is shared, and values can be awaited`() async {
        var heard: [Int] = []
        let subject = PassthroughSubject<Int, Never>(), shared = subject.prepend(9).share()
        let listening = [shared.sink { heard.append($0) }, shared.sink { heard.append($0) }]
        subject.send(5)
        #expect(heard == [9, 5, 5], "who comes second hears nothing of before")
        for each in listening { each.cancel() }
        var awaited: [Int] = []
        for await value in Just(3).prepend(1, 2).values { awaited.append(value) }
        #expect(awaited == [1, 2, 3])
    }

    @Test(arguments: [true, false]) func `of a stretch of time one value comes through`(latest: Bool) {
        let subject = PassthroughSubject<Int, Never>(), scheduler = ManualScheduler()
        var heard: [Int] = []
        let listening = subject.throttle(for: .seconds(1), scheduler: scheduler, latest: latest).sink { heard.append($0) }
        for value in [1, 2, 3] { subject.send(value) }
        #expect(heard == [1])
        scheduler.pass()
        #expect(heard == [1, latest ? 3 : 2])
        scheduler.pass()
        subject.send(4)
        #expect(heard.last == 4, "a stretch without values opens the way again")
        listening.cancel()
    }
}
