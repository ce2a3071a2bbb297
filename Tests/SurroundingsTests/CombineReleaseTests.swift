import Foundation
import HookswitchCombine
import Testing

/// A subscription that is over holds nothing any more.
@Suite struct CombineReleaseTests {
    private final class Token {}
    private typealias Numbers = AnyPublisher<Int, Never>

    private static let chains: [(name: String, make: (Numbers, VirtualScheduler) -> Numbers)] = [
        ("map", { numbers, _ in numbers.map { $0 + 1 } }),
        ("prefix", { numbers, _ in numbers.prefix(9) }),
        ("collect", { numbers, _ in numbers.collect().map(\.count) }),
        ("groups", { numbers, _ in numbers.collect(2).map(\.count) }),
        ("merge", { numbers, _ in numbers.merge(with: numbers) }),
        ("zip", { numbers, _ in numbers.zip(numbers).map(\.0) }),
        ("latest", { numbers, _ in numbers.combineLatest(numbers).map(\.1) }),
        ("flat map", { numbers, _ in numbers.flatMap(maxPublishers: .max(1)) { _ in numbers } }),
        ("append", { numbers, _ in numbers.append(numbers) }),
        ("prepend", { numbers, _ in numbers.prepend(1, 2) }),
        ("switch", { numbers, _ in numbers.map { _ in numbers }.switchToLatest() }),
        ("retry", { numbers, _ in numbers.tryMap { $0 }.retry(2).catch { _ in numbers } }),
        ("drop until", { numbers, _ in numbers.drop(untilOutputFrom: numbers) }),
        ("prefix until", { numbers, _ in numbers.prefix(untilOutputFrom: numbers.dropFirst(3)) }),
        ("share", { numbers, _ in numbers.share().eraseToAnyPublisher() }),
        ("buffer", { numbers, _ in numbers.buffer(size: 2, prefetch: .keepFull, whenFull: .dropOldest) }),
        ("watched", { numbers, _ in numbers.handleEvents(receiveOutput: { _ in }) }),
        ("delay", { numbers, scheduler in numbers.delay(for: 1, scheduler: scheduler) }),
        ("debounce", { numbers, scheduler in numbers.debounce(for: 1, scheduler: scheduler) }),
        ("throttle", { numbers, scheduler in numbers.throttle(for: 1, scheduler: scheduler, latest: true) }),
        ("timeout", { numbers, scheduler in numbers.timeout(1, scheduler: scheduler) }),
        ("stretches", { numbers, scheduler in numbers.collect(.byTime(scheduler, 1)).map(\.count) }),
        ("place", { numbers, scheduler in numbers.subscribe(on: scheduler).receive(on: scheduler).eraseToAnyPublisher() }),
    ]

    @Test(arguments: chains.map(\.name), [true, false]) func `a chain is released`(name: String, byEnd: Bool) throws {
        let make = try #require(Self.chains.first { $0.name == name }).make
        let subject = PassthroughSubject<Int, Never>(), scheduler = VirtualScheduler()
        weak var token: Token?
        try {
            let held = Token()
            token = held
            let noted = make(subject.map { [held] value in withExtendedLifetime(held) { value } }.eraseToAnyPublisher(), scheduler)
            let tie = noted.sink { [held] _ in withExtendedLifetime(held) {} }
            scheduler.pass(0)
            for value in 1...3 { subject.send(value) }
            try #require(token != nil)
            if byEnd { subject.send(completion: .finished) } else { tie.cancel() }
        }()
        scheduler.pass(9)
        #expect(token == nil && scheduler.isIdle)
    }

    @Test func `a listener to notifications is released`() throws {
        let center = NotificationCenter(), name = Notification.Name("CombineReleaseTests")
        weak var token: Token?
        try {
            let held = Token()
            token = held
            let tie = center.publisher(for: name).sink { [held] _ in withExtendedLifetime(held) {} }
            center.post(name: name, object: nil)
            try #require(token != nil)
            tie.cancel()
        }()
        #expect(token == nil)
    }
}
