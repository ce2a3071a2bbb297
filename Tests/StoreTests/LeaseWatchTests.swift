import Primitives
import Testing

@testable import Store

/// One gateway that reads the leases of the others, and a database whose clock is the test's.
@Suite struct LeaseWatchTests {
    /// Milliseconds since the test began, of the gateway and of the database.
    private final class World {
        var watch = LeaseWatch(grace: .seconds(28))
        var time = 0
        /// When each lease was renewed last.
        var renewed: [String: Int] = [:]

        /// - Parameter alive: runs that renew their leases each second, to the millisecond.
        @discardableResult func read(after milliseconds: Int, alive: [String] = []) -> [String] {
            time += milliseconds
            for run in alive { renewed[run] = time / 1_000 * 1_000 }
            let leases = renewed.sorted { $0.key < $1.key }.map { run, at in
                NodeLease(run: run, node: run, renewed: Double(at) / 1_000, age: .milliseconds(time - at))
            }
            return watch.read(leases, at: now).map(\.run)
        }

        var now: Instant { Instant(nanoseconds: UInt64(time + 1_000_000) * 1_000_000) }
        /// Milliseconds until the next reading.
        var next: Int { Int((watch.due - now).wholeMilliseconds) }
    }

    @Test func `who renews its lease is alive, and who stops is dead when the lease has run out, and no later`() {
        let world = World()
        for _ in 0..<20 { #expect(world.read(after: 1_000, alive: ["a", "b"]).isEmpty) }
        let death = world.time
        var dead: [String] = []
        while dead.isEmpty, world.time < death + 10_000 { dead = world.read(after: world.next, alive: ["b"]) }
        #expect(dead == ["a"] && (3_000...3_100).contains(world.time - death), "\(world.time - death) ms after its last renewal")
        #expect(world.read(after: 1_000, alive: ["b"]) == ["a"], "until its lease is gone")
    }

    @Test func `a run that came while the gateway looked on is judged as the others are`() {
        let world = World()
        world.read(after: 1_000)
        world.read(after: 1_000, alive: ["a"])
        #expect(world.read(after: 1_000).isEmpty && world.read(after: 1_000).isEmpty && world.read(after: 1_000) == ["a"])
    }

    @Test func `after an outage of the database nobody is dead who may be on the way back`() {
        let world = World()
        for _ in 0..<10 { world.read(after: 1_000, alive: ["a", "b"]) }
        world.watch.lost()
        world.time += 60_000
        for second in 0..<27 {
            #expect(world.read(after: 1_000, alive: second < 5 ? [] : ["a"]).isEmpty, "\(second) s after it is back")
        }
        #expect(world.read(after: 1_000, alive: ["a"]).isEmpty)
        #expect(world.read(after: 1_000, alive: ["a"]) == ["b"], "the time of grace is over")
    }

    @Test func `a gateway that has not looked on for a while begins anew`() {
        let world = World()
        for _ in 0..<10 { world.read(after: 1_000, alive: ["a"]) }
        #expect(world.read(after: 20_000).isEmpty, "as after a stop of its process: both may have stopped")
        #expect(world.read(after: 1_000).isEmpty && world.read(after: 1_000, alive: ["a"]).isEmpty)
    }

    @Test func `a clock of the database that is set kills nobody`() {
        let world = World()
        for _ in 0..<10 { world.read(after: 1_000, alive: ["a"]) }
        // As the gateway reads it: the lease of a moment ago is an hour old.
        world.renewed["a"] = world.time - 3_600_000
        #expect(world.read(after: 1_000).isEmpty)
        #expect(world.read(after: 1_000, alive: ["a"]).isEmpty)
    }

    @Test func `the next reading is when the soonest lease runs out, a second later at the latest`() {
        let world = World()
        world.read(after: 1_000, alive: ["a"])
        world.read(after: 1_000, alive: ["a"])
        #expect(world.next == 1_000)
        world.read(after: 2_600)
        #expect(world.next == 400)
        world.watch.hurry()
        #expect(world.watch.due <= world.now)
    }
}
