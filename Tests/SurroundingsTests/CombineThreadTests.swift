import Dispatch
import Foundation
import HookswitchCombine
import Testing

extension RealTime {
    /// Threads that send at the same time, and a timer of a run loop.
    @Suite struct CombineThreadTests {
        /// The number of visits, and of those that met another thread.
        private final class Place: @unchecked Sendable {
            private let lock = NSLock()
            private var isTaken = false
            private(set) var count = 0, collisions = 0

            func visit() {
                let isOther = lock.withLock {
                    defer { isTaken = true }
                    return isTaken
                }
                sched_yield()
                lock.withLock {
                    count += 1
                    if isOther { collisions += 1 }
                    isTaken = false
                }
            }
        }

        private typealias Source = PassthroughSubject<Int, Never>

        private static let chains: [(name: String, make: (Source, Source) -> AnyPublisher<Int, Never>)] = [
            ("subject", { a, _ in a.eraseToAnyPublisher() }),
            ("merge", { a, b in a.merge(with: b) }),
            ("latest", { a, b in a.combineLatest(b).map(\.0) }),
            ("zip", { a, b in a.zip(b).map(\.0) }),
            ("flat map", { a, b in [a, b].publisher.flatMap { $0 } }),
            ("buffer", { a, _ in a.buffer(size: 9, prefetch: .byRequest, whenFull: .dropOldest) }),
        ]

        @Test(arguments: chains.map(\.name)) func `values of several threads come one after the other`(name: String) throws {
            let make = try #require(Self.chains.first { $0.name == name }).make
            let sources = [Source(), Source()], place = Place()
            let held = make(sources[0], sources[1]).sink { _ in place.visit() }
            DispatchQueue.concurrentPerform(iterations: 4) { thread in for _ in 0..<100 { sources[thread % 2].send(thread) } }
            #expect(place.count >= 200 && place.collisions == 0)
            held.cancel()
        }

        @Test func `several threads get no more than was requested`() {
            let subject = PassthroughSubject<Int, Never>(), asker = Asker(subject, first: .max(5))
            DispatchQueue.concurrentPerform(iterations: 4) { _ in for value in 0..<100 { subject.send(value) } }
            #expect(asker.words.count == 5)
        }

        @Test func `a value that is sent within another comes within`() {
            let subject = PassthroughSubject<Int, Never>()
            var heard: [String] = []
            let held = subject.sink { value in
                heard.append("begin \(value)")
                if value == 1 { subject.send(2) }
                heard.append("end \(value)")
            }
            subject.send(1)
            #expect(heard == ["begin 1", "begin 2", "end 2", "end 1"])
            held.cancel()
        }

        @Test func `a timer runs while it is connected`() {
            let timer = Timer.publish(every: 0.001, on: .current, in: .default), asker = Asker(timer, first: .max(2))
            let auto = Timer.publish(every: 0.001, on: .current, in: .default).autoconnect(),
                other = Asker(auto.map { _ in 1 }, first: .max(1))
            while other.words.isEmpty { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.002)) }
            #expect(asker.words.isEmpty)
            let connection = timer.connect()
            while asker.words.count < 2 { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.002)) }
            connection.cancel()
            other.cancel()
            #expect(asker.words.count == 2 && other.words == ["1"])
        }
    }
}
