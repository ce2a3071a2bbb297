import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Runtime

@Suite struct PatientQueueTests {
    @Test func `work is done in its order, behind all other threads`() throws {
        let queue = try PatientQueue(name: "patient"), seen = Mutex<[Int]>([]), priority = Mutex(Int32(0))
        for number in 0..<1_000 { queue.async { seen.withLock { $0.append(number) } } }
        queue.async { priority.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) } }
        queue.wait()
        #expect(seen.withLock { $0 } == Array(0..<1_000))
        #expect(priority.withLock { $0 } == 19 && getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) < 19)
    }

    @Test func `what is left when nobody holds it is not done, and its thread ends`() throws {
        final class Witness: Sendable {
            let gone: DispatchSemaphore
            init(_ gone: DispatchSemaphore) { self.gone = gone }
            deinit { gone.signal() }
        }
        let begun = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), gone = DispatchSemaphore(value: 0), ran = Atomic(0)
        var queue: PatientQueue? = try PatientQueue(name: "patient")
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
