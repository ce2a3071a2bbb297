import Dispatch
import Synchronization
import Testing

@testable import Console

extension RealTime {
    @Suite(.timeLimit(.minutes(5))) struct JobQueueTests {
        private let queue = JobQueue(label: "jobs"), gate = DispatchSemaphore(value: 0), done = DispatchGroup()

        private struct Count {
            var running = 0, most = 0, finished: [Int] = []
        }

        @Test func `two jobs run at a time, the others wait in order, and then there is no room`() {
            let count = Mutex(Count()), jobs = JobQueue.mostRunning + JobQueue.mostWaiting
            for number in 0..<jobs {
                #expect(queue.hasRoom, "\(number)")
                done.enter()
                queue.perform { [gate, done] in
                    count.withLock {
                        $0.running += 1
                        $0.most = max($0.most, $0.running)
                    }
                    gate.wait()
                    count.withLock {
                        $0.running -= 1
                        $0.finished.append(number)
                    }
                    done.leave()
                }
            }
            #expect(!queue.hasRoom)
            for _ in 0..<jobs { gate.signal() }
            done.wait()
            let all = count.withLock(\.self)
            #expect(all.most <= JobQueue.mostRunning && all.finished.count == jobs)
            // Two that run side by side may end in either order: none ends before one that began two places earlier.
            for (place, number) in all.finished.enumerated() { #expect(abs(place - number) < JobQueue.mostRunning, "\(all.finished)") }
            #expect(queue.hasRoom)
        }
    }
}
