import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Runtime

extension RealTime {
    @Suite struct BackgroundQueueTests {
        @Test func `work is done in its order, behind all other threads`() throws {
            let queue = try BackgroundQueue(name: "patient"), seen = Mutex<[Int]>([]), priority = Mutex(Int32(0)),
                done = DispatchSemaphore(value: 0)
            for number in 0..<1_000 { queue.async { seen.withLock { $0.append(number) } } }
            queue.async {
                priority.withLock { $0 = Self.priority }
                done.signal()
            }
            done.wait()
            #expect(seen.withLock { $0 } == Array(0..<1_000))
            #expect(priority.withLock { $0 } == 19 && Self.priority < 19)
        }

        @Test func `who waits for the work does it, in its order, and leaves the next to the patient thread`() throws {
            let queue = try BackgroundQueue(name: "patient"), seen = Mutex<[Int]>([]), priorities = Mutex<[Int32]>([]),
                begun = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
            @Sendable func note(_ number: Int) {
                seen.withLock { $0.append(number) }
                priorities.withLock { $0.append(Self.priority) }
            }
            queue.async {
                begun.signal()
                while !queue.isWaitedFor {}
                note(0)
            }
            begun.wait()
            for number in 1..<100 { queue.async { note(number) } }
            queue.wait()
            #expect(seen.withLock { $0 } == Array(0..<100))
            #expect(priorities.withLock { $0 } == [19] + Array(repeating: Self.priority, count: 99))
            queue.async {
                note(100)
                done.signal()
            }
            done.wait()
            #expect(priorities.withLock { $0.last } == 19)
        }

        /// Of the thread that asks.
        private static var priority: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

        @Test func `what is left when nobody holds it is not done, and its thread ends`() throws {
            final class Witness: Sendable {
                let gone: DispatchSemaphore
                init(_ gone: DispatchSemaphore) { self.gone = gone }
                deinit { gone.signal() }
            }
            let begun = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), gone = DispatchSemaphore(value: 0), ran = Atomic(0)
            var queue: BackgroundQueue? = try BackgroundQueue(name: "patient")
            queue?.async { [witness = Witness(gone)] in
                withExtendedLifetime(witness) {
                    begun.signal()
                    goOn.wait()
                }
            }
            begun.wait()
            queue?.async { [witness = Witness(gone)] in withExtendedLifetime(witness) { _ = ran.add(1, ordering: .relaxed) } }
            queue = nil
            goOn.signal()
            gone.wait()
            gone.wait()
            #expect(ran.load(ordering: .relaxed) == 0)
        }
    }
}
