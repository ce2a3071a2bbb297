import Foundation
import Primitives
import Runtime
import Synchronization

/// How much of one kind a part did.
typealias Figure = (what: String, count: Int)

/// Several threads on the same objects.
struct Part {
    let name: String
    /// How many times as long as the others it goes on.
    var share = 1
    /// Returns when the run is over, with what was done of each kind. None of a kind is a failure.
    let run: (Run) throws -> [Figure]
}

/// How long a part goes on, and its random numbers.
struct Run: Sendable {
    let end: Instant
    let seed: UInt64

    var isOver: Bool { MonotonicClock.now >= end }

    /// The numbers of one thread.
    func random(_ thread: Int) -> SeededRandom { SeededRandom(seed: seed &* 1_000 &+ UInt64(thread)) }
}

/// A count that any thread adds to. Relaxed: it orders nothing, and so hides no race.
final class Tally: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }
    func add(_ more: Int = 1) { number.add(more, ordering: .relaxed) }
}

/// Does `body` on so many threads at once, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    group.wait()
}

/// A folder of its own, deleted afterwards.
func withFolder<Value>(_ body: (_ path: String) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "race-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}
